"""Where an Instance runs: by its type, and by the one node that its user may name."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import Resource
from tests.integration.devices.fleet import ONLY, Own, blocked, limits_of
from tests.integration.world import Operator, World

PRIORITY = Resource(
    group="scheduling.k8s.io", version="v1", kind="PriorityClass", plural="priorityclasses",
    namespaced=False,
)  # fmt: skip
TAINT = {"key": "test/reserved", "value": "gpu", "effect": "NoSchedule"}


def taint(cluster: Cluster, node: str) -> None:
    """Keep Pods off *node* that do not tolerate it."""
    cluster.api().patch(f"/api/v1/nodes/{node}", {"spec": {"taints": [TAINT]}})


async def placed(world: World, own: Own, **spec: Any) -> str:
    """The node of an Instance of the type, once it is Ready."""
    await world.instance(type=own.name, **spec)
    return str((await world.is_in_phase("Ready"))["status"]["nodeName"])


@pytest.mark.usefixtures("operator")
async def test_a_pin_goes_by_the_hostname_of_the_node_and_passes_the_scheduler(
    world: World, own: Own
) -> None:
    own.add_node("a")
    host = f"host-{own.name}"
    pinned = own.add_node("b", labels={names.HOSTNAME: host})

    assert pinned == await placed(world, own, nodeName=pinned)
    pod = await world.get(names.POD, "box")
    assert {ONLY: own.name, names.HOSTNAME: host} == pod["spec"]["nodeSelector"]
    assert {"nvidia.com/gpu": "1"} == limits_of(pod)


@pytest.mark.usefixtures("operator")
async def test_t3_a_pin_to_a_node_that_is_not_there_is_told_and_its_coming_helps(
    world: World, own: Own
) -> None:
    own.add_node("a")
    await world.instance(type=own.name, nodeName=f"{own.name}-b")
    told = await blocked(world, "scheduling", "Unschedulable")

    assert "didn't match Pod's node affinity/selector" in told["message"]

    own.add_node("b")

    assert f"{own.name}-b" == (await world.is_in_phase("Ready"))["status"]["nodeName"]


@pytest.mark.usefixtures("operator")
async def test_tolerations_of_the_type_let_its_instances_onto_tainted_nodes(
    world: World, own: Own, cluster: Cluster
) -> None:
    node = own.add_node()
    taint(cluster, node)
    await world.instance(type=own.name)
    told = await blocked(world, "scheduling", "Unschedulable")

    assert "untolerated taint" in told["message"]
    assert "1 nvidia.com/gpu are asked for and at most 2 free on one node" in told["message"]

    await own.edit(tolerations=[{"key": "test/reserved", "operator": "Exists"}])
    await own.told(observedGeneration=2)
    await world.edit(stop=True)
    await world.is_in_phase("Stopped")
    await world.edit(stop=False)

    assert node == (await world.is_in_phase("Ready"))["status"]["nodeName"]


@pytest.mark.usefixtures("operator")
async def test_os_and_architecture_of_the_type_choose_the_node(world: World, own: Own) -> None:
    own.add_node("a")
    arm = own.add_node("b", labels={"kubernetes.io/arch": "arm64"})
    await own.edit(os="linux", arch="arm64")
    await own.told(nodes=1)

    assert arm == await placed(world, own)
    selector = (await world.get(names.POD, "box"))["spec"]["nodeSelector"]
    assert ("linux", "arm64") == (selector["kubernetes.io/os"], selector["kubernetes.io/arch"])


@pytest_asyncio.fixture
async def runtime_class(world: World) -> AsyncIterator[str]:
    """The RuntimeClass that cards of NVIDIA's usually want."""
    body = {"metadata": {"name": "nvidia"}, "handler": "nvidia"}
    await world.create(names.RUNTIME_CLASS, body)
    yield "nvidia"
    await world.delete(names.RUNTIME_CLASS, "nvidia")


async def test_a_runtime_class_that_exists_is_used_where_there_is_a_card(
    world: World, own: Own, runtime_class: str, operator: Operator
) -> None:
    own.add_node()
    await placed(world, own)
    await world.instance("plain", type=own.name, resources={"accelerator": "0"})
    await world.is_in_phase("Ready", "plain")

    assert runtime_class == (await world.get(names.POD, "box"))["spec"]["runtimeClassName"]
    assert "runtimeClassName" not in (await world.get(names.POD, "plain"))["spec"]


@pytest.mark.usefixtures("operator")
async def test_a_runtime_class_that_does_not_exist_is_not_asked_for(world: World, own: Own) -> None:
    own.add_node()
    await own.edit(runtimeClassName="absent")
    await own.told(observedGeneration=2)
    await placed(world, own)

    assert "runtimeClassName" not in (await world.get(names.POD, "box"))["spec"]


@pytest.mark.usefixtures("operator")
async def test_a_priority_class_is_passed_on_and_one_that_is_missing_is_told(
    world: World, own: Own
) -> None:
    own.add_node()
    name = f"{own.name}-first"
    await own.edit(priorityClassName=name)
    await own.told(observedGeneration=2)
    await world.instance(type=own.name)
    told = await blocked(world, "admission", "PodRefused")

    assert f"no PriorityClass with name {name} was found" in told["message"]

    await world.create(PRIORITY, {"metadata": {"name": name}, "value": 1000})
    await world.is_in_phase("Ready")

    assert 1000 == (await world.get(names.POD, "box"))["spec"]["priority"]
    await world.delete(PRIORITY, name)


@pytest.mark.usefixtures("operator")
async def test_annotations_of_the_type_reach_the_pod_and_overrule_ours(
    world: World, own: Own
) -> None:
    own.add_node()
    asked = {names.SAFE_TO_EVICT: "true", "test/shape": "a100"}
    await own.edit(podAnnotations=asked)
    await own.told(observedGeneration=2)
    await placed(world, own)
    annotations = (await world.get(names.POD, "box"))["metadata"]["annotations"]

    assert asked.items() <= annotations.items()
    assert "true" == annotations[names.DO_NOT_DISRUPT]
    assert names.MAIN == annotations[names.DEFAULT_CONTAINER]
