"""I5, S6: an Instance goes by owner references alone, and leaves its name to the next."""

from collections.abc import Awaitable, Callable

import pytest

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import Resource
from tests.integration.observer import History, observed
from tests.integration.world import Operator, Wire, World, condition, until

NAMESPACE = Resource(
    group="", version="v1", kind="Namespace", plural="namespaces", namespaced=False
)
WEB = [{"port": 8080}]
CHILDREN = (names.POD, names.SERVICE)
NOT_READY = [
    {"type": "PodScheduled", "status": "True"},
    {"type": "Ready", "status": "False"},
]


async def ready(world: World) -> None:
    """Ready, and something keeps the Pod from ending until `let_go`."""
    await world.instance(ports=WEB)
    await world.is_in_phase("Ready")
    await world.patch(names.POD, "box", {"metadata": {"finalizers": ["test.example/hold"]}})


async def starting(world: World) -> None:
    await ready(world)
    status = {"status": {"conditions": NOT_READY}}
    await world.rest.merge_patch(names.POD, world.key("box", names.POD), status, "status")
    await world.is_in_phase("Starting")


async def stopping(world: World) -> None:
    await ready(world)
    await world.edit(stop=True)
    await world.is_in_phase("Stopping")


async def let_go(world: World) -> None:
    await world.patch(names.POD, "box", {"metadata": {"finalizers": None}})


async def is_ending(world: World) -> None:
    """Return once the end of the Pod has begun."""

    async def read() -> bool:
        return "deletionTimestamp" in (await world.get(names.POD, "box"))["metadata"]

    await until(read)


async def all_gone(world: World) -> None:
    for resource in (names.INSTANCE, *CHILDREN):
        await world.gone(resource, "box")


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize("state", [ready, starting, stopping])
@pytest.mark.parametrize("propagation", ["Foreground", "Background"])
async def test_i5_a_delete_removes_all_in_whatever_state(
    world: World,
    pods: History,
    services: History,
    *,
    propagation: str,
    state: Callable[[World], Awaitable[None]],
) -> None:
    await state(world)
    await world.delete(names.INSTANCE, "box", propagation=propagation)
    if propagation == "Foreground":
        told = await world.is_in_phase("Deleting")
        assert "Deleting" == condition(told, "Ready")["reason"]
    else:
        await world.gone(names.INSTANCE, "box")
    await is_ending(world)
    await let_go(world)
    await all_gone(world)

    assert 1 == len((await pods.caught_up()).made)
    assert 1 == len((await services.caught_up()).uids)


async def test_i5_a_namespace_goes_while_no_operator_is_at_work(
    cluster: Cluster, world: World, operator: Operator
) -> None:
    doomed = World(world.rest, f"{world.namespace}-doomed")
    cluster.add_namespace(doomed.namespace)
    await doomed.instance(ports=WEB)
    await doomed.instance("other", stop=True)
    await doomed.is_in_phase("Ready")
    await doomed.is_in_phase("Stopped", "other")
    await operator.kill()
    await doomed.delete(NAMESPACE, doomed.namespace)

    await doomed.gone(NAMESPACE, doomed.namespace)


@pytest.mark.usefixtures("operator")
async def test_s6_what_an_orphaning_delete_left_is_named_and_never_touched(world: World) -> None:
    await world.instance(ports=WEB)
    await world.is_in_phase("Ready")
    await world.delete(names.INSTANCE, "box", propagation="Orphan")
    await world.gone(names.INSTANCE, "box")
    orphans = [await world.get(kind, "box") for kind in CHILDREN]
    assert [] == [orphan for orphan in orphans if "ownerReferences" in orphan["metadata"]]

    await world.instance(ports=WEB)
    told = await world.tells("NameConflict", "True", "PodNotOurs")
    assert f"kubectl delete pod box -n {world.namespace}" in told["message"]
    assert orphans == [await world.get(kind, "box") for kind in CHILDREN]

    await world.delete(names.POD, "box")
    told = await world.tells("NameConflict", "True", "ServiceNotOurs")
    assert f"kubectl delete service box -n {world.namespace}" in told["message"]
    assert orphans[1] == await world.get(names.SERVICE, "box")

    await world.delete(names.SERVICE, "box")
    await world.is_in_phase("Ready")


@pytest.mark.usefixtures("operator")
async def test_i1_s6_a_pod_of_a_deleted_instance_of_the_same_name_is_waited_for(
    cluster: Cluster, world: World, pods: History
) -> None:
    async with observed(cluster, names.INSTANCE, world.namespace) as instances:
        await ready(world)
        await world.delete(names.INSTANCE, "box")
        await world.gone(names.INSTANCE, "box")
        await world.instance(ports=WEB)
        waiting = await world.tells("Ready", "False", "Waiting")
        await is_ending(world)

        assert "an earlier Pod of this name is ending" == waiting["message"]
        assert 1 == len((await pods.caught_up()).made)

        await let_go(world)
        await world.is_in_phase("Ready")

        assert 2 == len((await pods.caught_up()).made)
        assert 1 == pods.most_at_once
        assert [] == conflicts(await instances.caught_up())


def conflicts(instances: History) -> list[Wire]:
    """Whatever conflict was told at any time."""
    told = (condition(state, "NameConflict") for state in instances.states)
    return [one for one in told if one["status"]]
