"""T2, T3, I5: an Instance that a queue admits, lets wait, and preempts."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from tests.integration.devices import kueue
from tests.integration.devices.fleet import Own, blocked, own_type
from tests.integration.observer import History
from tests.integration.world import World

END_SECONDS = 90.0
"""Until a Pod should be gone: its grace period, if nobody cuts it short, and ten seconds."""

pytestmark = pytest.mark.usefixtures("queueing", "operator")


@pytest.fixture(scope="module")
def queueing(cluster: Cluster) -> None:
    """The simulated Kueue, which minds its own Pods alone."""
    kueue.start(cluster)


@pytest_asyncio.fixture
async def own(cluster: Cluster, world: World) -> AsyncIterator[Own]:
    """A type whose Instances are queued."""
    async with own_type(cluster, world, queueName=kueue.QUEUE) as held:
        held.add_node()
        yield held


@pytest.fixture(autouse=True)
def emptied(cluster: Cluster, namespace: str) -> Iterator[None]:
    """No Pod may be left that only a finalizer keeps, and with it its namespace."""
    yield
    path = f"/api/v1/namespaces/{namespace}/pods"
    for pod in cluster.api().get(path)["items"]:
        cluster.api().patch(f"{path}/{pod['metadata']['name']}", {"metadata": {"finalizers": []}})


async def queued(world: World, own: Own) -> None:
    """Ask for an Instance, and see it wait for its queue."""
    await world.instance(type=own.name)
    await world.is_in_phase("Queued")


async def test_t3_a_queued_instance_names_its_queue_and_is_ready_once_admitted(
    world: World, own: Own
) -> None:
    await queued(world, own)
    told = await blocked(world, "queue", "SchedulingGated")

    assert f"by LocalQueue {kueue.QUEUE}: {kueue.GATE}" in told["message"]
    assert "the queue lifts them when there is room" in told["message"]
    assert "admin" == told["owner"]
    pod = await world.get(names.POD, "box")
    assert kueue.QUEUE == pod["metadata"]["labels"][names.QUEUE_NAME]

    await kueue.admit(world)
    instance = await world.is_in_phase("Ready")

    assert "blocker" not in instance["status"]


async def test_l6_a_queued_instance_can_be_stopped(world: World, own: Own) -> None:
    await queued(world, own)
    await world.edit(stop=True)
    await world.is_in_phase("Stopping")
    await kueue.let_go(world)
    await world.is_in_phase("Stopped")


async def test_i5_a_preempted_pod_that_lingers_is_named_and_never_doubled(
    world: World, own: Own, pods: History
) -> None:
    await queued(world, own)
    await kueue.admit(world)
    first = (await world.is_in_phase("Ready"))["status"]["podUID"]
    await world.delete(names.POD, "box")
    told = await blocked(world, "finalizer", "FinalizersLinger", seconds=END_SECONDS)
    seen = await world.is_in_phase("Pending")

    assert kueue.FINALIZER in told["message"]
    assert "Kueue removes its own when the Workload of the Pod has ended" in told["message"]
    assert told["message"] == seen["status"]["message"]
    assert first == seen["status"]["podUID"]

    await kueue.let_go(world)
    again = await world.is_in_phase("Queued")
    await pods.caught_up()

    assert 1 == pods.most_at_once
    assert (first, again["status"]["podUID"]) == pods.uids
    assert "failures" not in again["status"]


async def test_l2_an_instance_made_anew_waits_for_the_pod_of_its_namesake_and_names_who_keeps_it(
    world: World, own: Own, pods: History
) -> None:
    await queued(world, own)
    old = (await world.get(names.POD, "box"))["metadata"]["uid"]
    await world.delete(names.POD, "box")
    await world.delete(names.INSTANCE, "box")
    await world.gone(names.INSTANCE, "box")
    made = await world.instance(type=own.name)
    told = await blocked(world, "finalizer", "FinalizersLinger", seconds=END_SECONDS)

    assert kueue.FINALIZER in told["message"]
    assert "podUID" not in (await world.get(names.INSTANCE, "box"))["status"]

    await kueue.let_go(world)
    await world.is_in_phase("Queued")
    pod = await world.get(names.POD, "box")
    await pods.caught_up()

    assert old != pod["metadata"]["uid"]
    assert made["metadata"]["uid"] == pod["metadata"]["ownerReferences"][0]["uid"]
    assert 1 == pods.most_at_once
