"""T3, T4: Events for what people want to know of an Instance, few of them, each told once."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime

import pytest
import pytest_asyncio

from e2e.cluster import Cluster, Fault
from gpustack_ctrl.api import names
from gpustack_ctrl.api.names import PRODUCT
from tests.integration.observer import History, observed
from tests.integration.test_failures import blocked, fail
from tests.integration.world import Operator, Wire, World, until

MOST_IN_A_LIFE = 20
CRASHES = 3


@pytest_asyncio.fixture
async def history(cluster: Cluster, world: World) -> AsyncIterator[History]:
    """All that becomes of the Events in the namespace of this test, anybody's."""
    async with observed(cluster, names.EVENT, world.namespace) as held:
        yield held


@pytest.fixture
def node(cluster: Cluster, namespace: str) -> Iterator[str]:
    """A node that only the Pods of this test use, called as its namespace."""
    cluster.add_node(namespace, labels={"only": namespace})
    yield namespace
    cluster.remove_node(namespace)


@pytest_asyncio.fixture
async def type_of_node(world: World, node: str) -> AsyncIterator[str]:
    """An InstanceType without cards, on that node alone, once it takes Pods."""

    async def takes_pods() -> bool:
        return "taints" not in (await world.get(names.NODE, node))["spec"]

    await until(takes_pods)
    spec = {"nodeSelector": {"only": node}}
    await world.create(names.INSTANCE_TYPE, {"metadata": {"name": node}, "spec": spec})
    yield node
    await world.delete(names.INSTANCE_TYPE, node)


async def writes(history: History) -> list[Wire]:
    """Each state of an Event that the operator wrote, up to now."""
    held = await history.caught_up()
    return [state for state in held.states if state["reportingController"] == PRODUCT]


async def told(history: History, reason: str) -> Wire:
    """The latest Event with that *reason*, once there is one."""

    async def read() -> Wire | None:
        found = [state for state in await writes(history) if state["reason"] == reason]
        return found[-1] if found else None

    return await until(read)


async def crashed(world: World, times: int) -> None:
    """Return once the status tells of that many restarts."""

    async def read() -> bool:
        held = await world.get(names.INSTANCE, "box")
        return int(held.get("status", {}).get("restarts", 0)) >= times

    await until(read)


async def restart(world: World) -> None:
    """Ask for another Pod, and return once the first one is gone."""
    before = (await world.get(names.POD, "box"))["metadata"]["uid"]
    await world.edit(restartedAt=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))  # noqa: TID251 -- what a user's client sends.

    async def read() -> bool:
        held = await world.find(names.POD, "box")
        return held is not None and held["metadata"]["uid"] != before

    await until(read)


async def stopped_under(world: World, cluster: Cluster, fault: Fault | None) -> None:
    """Stop the Instance, and start it again on a node with that *fault*."""
    await world.edit(stop=True)
    await world.is_in_phase("Stopped")
    cluster.set_fault(world.namespace, fault)
    await world.edit(stop=False)


async def troubled_life(world: World, cluster: Cluster, history: History) -> None:
    """What goes wrong with an Instance that is Ready, until it is deleted."""
    await stopped_under(world, cluster, Fault.CRASH_LOOP_BACK_OFF)
    await crashed(world, CRASHES)
    await stopped_under(world, cluster, Fault.IMAGE_PULL_BACK_OFF)
    await blocked(world, "ImagePullBackOff")
    await stopped_under(world, cluster, None)
    await world.is_in_phase("Ready")
    await fail(world, reason="Evicted", message="The node was low on resource: memory.")
    await told(history, "Replaced")
    await world.is_in_phase("Ready")
    await world.delete(names.INSTANCE, "box")
    await world.gone(names.INSTANCE, "box")
    await world.gone(names.POD, "box")


@pytest.mark.timeout(180)
async def test_t3_a_full_life_has_under_twenty_events_and_a_good_one_none(
    cluster: Cluster, world: World, operator: Operator, history: History, type_of_node: str
) -> None:
    await world.instance(type=type_of_node, ports=[{"port": 8080}])
    await world.is_in_phase("Ready")
    await restart(world)
    await told(history, "Restarted")

    assert {"Restarted"} == {state["reason"] for state in await writes(history)}

    await world.is_in_phase("Ready")
    await troubled_life(world, cluster, history)
    await operator.kill()  # Which writes what is left.
    wrote = await writes(history)

    assert {
        "Restarted": "Normal",
        "Stopped": "Normal",
        "Exited": "Warning",
        "CrashLoopBackOff": "Warning",
        "ImagePullBackOff": "Warning",
        "Evicted": "Warning",
        "Replaced": "Normal",
    } == {state["reason"]: state["type"] for state in wrote}
    assert len(wrote) < MOST_IN_A_LIFE
    assert 7 == len({state["metadata"]["uid"] for state in wrote})


async def test_t3_a_crash_loop_is_one_event_with_a_count(
    cluster: Cluster, world: World, operator: Operator, history: History, type_of_node: str
) -> None:
    cluster.set_fault(type_of_node, Fault.CRASH_LOOP_BACK_OFF)
    await world.instance(type=type_of_node)
    await crashed(world, CRASHES)
    await operator.kill()
    crashes = [state for state in await writes(history) if state["reason"] == "Exited"]

    assert 1 == len({state["metadata"]["uid"] for state in crashes})
    assert len(crashes) <= CRASHES  # Made, told of its first repetition, told of the last.
    assert crashes[-1]["series"]["count"] > 1  # Times are in seconds: some coincide.
    assert "the workload ended: Error, exit code 1" == crashes[-1]["note"]


async def test_t3_neither_repeated_passes_nor_another_operator_tell_it_again(
    world: World, operator: Operator, history: History
) -> None:
    await world.instance(type=f"{world.namespace}-missing")
    await told(history, "TypeNotFound")
    for turn in ("one", "two", "three"):
        await world.edit(displayName=turn)
        await world.is_in_phase("Pending")
    await operator.kill()
    await operator.start()
    await world.edit(displayName="four")
    await world.is_in_phase("Pending")
    await operator.kill()
    [only] = await writes(history)

    assert "TypeNotFound" == only["reason"]
    assert "series" not in only


async def test_t3_kubectl_describe_shows_what_holds_an_instance_back(
    cluster: Cluster, world: World, operator: Operator, history: History
) -> None:
    made = await world.instance(type=f"{world.namespace}-missing")
    event = await told(history, "TypeNotFound")

    assert {
        "apiVersion": names.INSTANCE.api_version,
        "kind": names.INSTANCE.kind,
        "namespace": world.namespace,
        "name": "box",
        "uid": made["metadata"]["uid"],
    } == event["regarding"]
    assert "Start" == event["action"]

    printed = await asyncio.to_thread(
        cluster.kubectl, "describe", "instance", "box", "--namespace", world.namespace
    )
    shown = printed.partition("\nEvents:")[2]

    assert ["Warning", "TypeNotFound"] == shown.splitlines()[3].split()[:2]
    assert PRODUCT in shown
    assert f"InstanceType {world.namespace}-missing does not exist" in shown


async def test_i5_an_instance_that_was_made_stopped_did_not_stop(
    world: World, operator: Operator, history: History
) -> None:
    await world.instance(stop=True)
    await world.is_in_phase("Stopped")
    await operator.kill()

    assert [] == await writes(history)
