"""Who gets in to the real API server, and what others are told."""

import base64
from pathlib import Path

import pytest
import yaml

from e2e.cluster import Cluster
from gpustack_ctrl.api.errors import ForbiddenError, UnauthorizedError
from gpustack_ctrl.api.names import POD
from gpustack_ctrl.client.client import Client
from gpustack_ctrl.client.connection import connect
from gpustack_ctrl.client.errors import UntrustedError
from gpustack_ctrl.client.location import ConnectionOptions, Surroundings
from gpustack_ctrl.runtime.clock import SystemClock
from gpustack_ctrl.runtime.watch import ListRequest

CLOCK = SystemClock()
ALL = ListRequest(resource_version="0")


async def test_what_is_forbidden_says_which_verb_on_what(cluster: Cluster, namespace: str) -> None:
    options = ConnectionOptions(kubeconfig=str(cluster.kubeconfig_for("user-00")))
    async with await connect(options, clock=CLOCK) as connection:
        client = Client(connection=connection, clock=CLOCK)
        with pytest.raises(ForbiddenError) as caught:
            await client.list_watch(POD, namespace=namespace).list(ALL)

    assert (
        'pods is forbidden: User "user-00" cannot list resource "pods" in API group "" '
        f'in the namespace "{namespace}"'
    ) == str(caught.value)


async def test_a_wrong_token_is_told(cluster: Cluster, tmp_path: Path) -> None:
    content = yaml.safe_load(cluster.kubeconfig.read_text())
    content["users"][0]["user"] = {"token": "wrong"}
    (tmp_path / "k").write_text(yaml.safe_dump(content))
    options = ConnectionOptions(kubeconfig=str(tmp_path / "k"))
    async with await connect(options, clock=CLOCK) as connection:
        with pytest.raises(UnauthorizedError):
            await Client(connection=connection, clock=CLOCK).rest.get(POD.collection())


async def test_an_api_server_of_another_authority_is_not_trusted(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Without an authority of its own a cluster is judged by the system's."""
    content = yaml.safe_load(cluster.kubeconfig.read_text())
    content["clusters"][0]["cluster"] = {"server": cluster.server}
    (tmp_path / "k").write_text(yaml.safe_dump(content))
    options = ConnectionOptions(kubeconfig=str(tmp_path / "k"))
    async with await connect(options, clock=CLOCK) as connection:
        with pytest.raises(UntrustedError, match="is not trusted"):
            await Client(connection=connection, clock=CLOCK).rest.get("/version")


async def test_a_service_account_of_the_cluster_gets_in(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    """As in a Pod: token and authority in files, the address in the environment."""
    token = cluster.kubectl("create", "token", "default", "--namespace", namespace)
    cluster_entry = yaml.safe_load(cluster.kubeconfig.read_text())["clusters"][0]["cluster"]
    (tmp_path / "token").write_text(token)
    (tmp_path / "ca.crt").write_bytes(authority_of(cluster_entry))
    host, _, port = cluster.server.removeprefix("https://").partition(":")
    environ = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
    around = Surroundings(environ=environ, home=tmp_path, service_account=tmp_path)
    async with await connect(ConnectionOptions(), clock=CLOCK, surroundings=around) as connection:
        with pytest.raises(ForbiddenError, match=f"system:serviceaccount:{namespace}:default"):
            await Client(connection=connection, clock=CLOCK).rest.get(POD.collection(namespace))


def authority_of(entry: dict[str, str]) -> bytes:
    if "certificate-authority" in entry:
        return Path(entry["certificate-authority"]).read_bytes()
    return base64.b64decode(entry["certificate-authority-data"])
