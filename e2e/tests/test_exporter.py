"""The exporter from its own image, as deploy/ installs it: confined and protected."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.node import RealNode
from e2e.tests.shop import NAMESPACE

NAME = "gpustack-ctrl-exporter"
PER_NODE = "gpustack-exporter"
MANIFESTS = Path(__file__).parents[2] / "deploy" / "exporter-per-node"
CONFINED = ("sh", "-c", "id -u; touch /x 2>&1; grep CapEff /proc/self/status")
SCRAPE = """
import ssl, urllib.error, urllib.request
anybody = ssl._create_unverified_context()
try:
    urllib.request.urlopen("https://127.0.0.1:8080/metrics", context=anybody)
except urllib.error.HTTPError as refused:
    print(refused.code, refused.read().decode())
"""
CONNECT = """
import socket
socket.socket(socket.AF_UNIX).connect("/var/lib/kubelet/pod-resources/kubelet.sock")
print("connected")
"""


@pytest.fixture
def per_node(shop: RealNode) -> Iterator[RealNode]:
    """The node with an exporter of its own, from the image that was imported."""
    manifests = shop.kubectl("kustomize", str(MANIFESTS))
    local = re.sub(r"image: gpustack/\S+", "image: localhost/gpustack-ctrl:1", manifests)
    shop.kubectl("apply", "--server-side", "-f", "-", input=local)
    yield shop
    shop.kubectl("delete", "-f", "-", input=local)


def rolled_out(node: RealNode, workload: str, namespace: str) -> str:
    return node.kubectl("rollout", "status", workload, "--timeout=90s", "--namespace", namespace)


def test_the_exporter_is_as_confined_as_its_namespace_demands(shop: RealNode) -> None:
    rolled_out(shop, f"deployment/{NAME}", NAMESPACE)
    said = shop.kubectl("exec", f"deployment/{NAME}", "--namespace", NAMESPACE, "--", *CONFINED)

    assert said.startswith("65532\n")
    assert "Read-only file system" in said
    assert "CapEff:\t0000000000000000" in said


def test_r20_its_page_is_refused_without_a_token(shop: RealNode) -> None:
    rolled_out(shop, f"deployment/{NAME}", NAMESPACE)
    where = ("exec", f"deployment/{NAME}", "--namespace", NAMESPACE, "--")

    assert shop.kubectl(*where, "python3", "-c", SCRAPE).startswith("401 there is no bearer token")


def test_an_exporter_of_this_node_reaches_the_kubelets_socket_without_capabilities(
    per_node: RealNode,
) -> None:
    rolled_out(per_node, f"daemonset/{NAME}", PER_NODE)
    where = ("exec", f"daemonset/{NAME}", "--namespace", PER_NODE, "--")
    said = per_node.kubectl(*where, *CONFINED)

    assert said.startswith("0\n")
    assert "Read-only file system" in said
    assert "CapEff:\t0000000000000000" in said
    assert "connected\n" == per_node.kubectl(*where, "python3", "-c", CONNECT)
