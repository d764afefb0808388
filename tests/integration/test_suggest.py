"""`gpustack-ctrl types suggest` for a cluster whose nodes have cards of several makers."""

import secrets
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from e2e.cluster import Cluster
from e2e.cluster.nodes import accelerators
from gpustack_ctrl.api import names
from tests.cli.command import run
from tests.integration.world import Operator, World

NVIDIA = {"nvidia.com/gpu.memory": "81920"}
AMD = {"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM", "amd.com/gpu.vram": "192G"}


@pytest.fixture
def product(cluster: Cluster) -> Iterator[str]:
    """A product that only this test's nodes have: one of NVIDIA, beside nodes of others."""
    name = f"Test-{secrets.token_hex(4)}"
    fleet: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
        f"{name}-n".lower(): (
            accelerators(2, "nvidia"),
            {**NVIDIA, "nvidia.com/gpu.product": name},
        ),
        f"{name}-a".lower(): ({"amd.com/gpu": "8", "amd.com/gpumem": "9"}, AMD),
        f"{name}-m".lower(): ({"metax-tech.com/gpu": "8"}, {"metax-tech.com/gpu.product": name}),
    }
    for node, (capacity, labels) in fleet.items():
        cluster.add_node(node, capacity=capacity, labels=labels)
    yield name
    for node in fleet:
        cluster.remove_node(node)


def suggested(cluster: Cluster, *arguments: str) -> tuple[str, dict[str, dict[str, Any]]]:
    """What the command prints, and the documents in it by name."""
    ended = run("types", "suggest", "--kubeconfig", str(cluster.kubeconfig), *arguments)

    assert (0, "") == (ended.code, ended.error)
    found = list(yaml.safe_load_all(ended.out))
    return ended.out, {made["metadata"]["name"]: made for made in found}


async def test_what_is_suggested_can_be_applied_and_used(
    cluster: Cluster, world: World, operator: Operator, product: str
) -> None:
    _, found = suggested(cluster)
    name = f"nvidia-{product}".lower()
    spec = found[name]["spec"]

    assert {"cpu": 12, "ram": "128Gi"} == spec["unitResources"]
    assert ["Whole", "Shared", "Sliced", "Partitioned"] == spec["families"]
    assert "hami" == found["amd-instinct-mi300x-oam"]["spec"]["dialect"]
    assert "metax-tech.com/gpu" == found[f"metax-{product}".lower()]["spec"]["resourceName"]

    cluster.kubectl("apply", "-f", "-", input=yaml.safe_dump(found[name]))
    await world.instance(type=name, resources={"acceleratorSlicedMemoryPercentage": 50})
    ready = await world.is_in_phase("Ready")

    assert f"{product}-n".lower() == ready["status"]["nodeName"]

    await world.delete(names.INSTANCE_TYPE, name)


async def test_the_api_server_takes_all_that_is_suggested(
    cluster: Cluster, world: World, product: str
) -> None:
    printed, found = suggested(cluster)
    applied = cluster.kubectl("apply", "--dry-run=server", "-f", "-", input=printed)

    assert len(found) == len(applied.splitlines())


@pytest.fixture
def acme(cluster: Cluster) -> Iterator[str]:
    """The resource of a maker that no table has, on a node of its own."""
    name = f"acme-{secrets.token_hex(4)}"
    cluster.add_node(name, capacity={"acme.example/card": "4"})
    yield "acme.example/card"
    cluster.remove_node(name)


async def test_rows_of_the_setting_count(
    cluster: Cluster, world: World, operator_namespace: str, acme: str
) -> None:
    settings = World(world.rest, operator_namespace)
    value = f'{{"acme": {{"resource": "{acme}"}}}}'
    await settings.create(
        names.SETTING,
        {"metadata": {"name": "accelerator-manufacturers"}, "spec": {"value": value}},
    )
    _, without = suggested(cluster)
    _, found = suggested(cluster, "--namespace", operator_namespace)

    assert "acme" not in without
    assert acme == found["acme"]["spec"]["resourceName"]


def test_a_tenant_is_told_what_is_missing(cluster: Cluster) -> None:
    ended = run("types", "suggest", "--kubeconfig", str(cluster.kubeconfig_for("tenant-b")))

    assert 1 == ended.code
    assert "nodes is forbidden" in ended.only_line
