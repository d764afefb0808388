"""What reaches the API server: as few writes as there can be, and no read but list and watch.

In a cluster of its own, where nobody else writes, and nothing of another test still ends.
"""

import secrets
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from e2e.cluster import Cluster, Fault, Fleet, running
from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import ObjectKey
from tests.integration.conftest import Log
from tests.integration.counting import writes_so_far
from tests.integration.proxy import Proxy
from tests.integration.world import Operator, World, until

A_FEW = 5
MANY = 30


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running(Fleet(nodes=1, gpus=MANY + 3 * A_FEW)) as started:
        yield started


@pytest.fixture
def namespace(cluster: Cluster) -> str:
    """One that ends with the cluster: what ends earlier is still written to for a while."""
    name = f"test-{secrets.token_hex(4)}"
    cluster.add_namespace(name)
    return name


@pytest_asyncio.fixture
async def settled(proxy: Proxy, world: World, operator_namespace: str) -> AsyncIterator[Operator]:
    """The operator behind the proxy, once its own Settings are written."""
    held = Operator(str(proxy.kubeconfig), operator_namespace)
    await held.start()
    settings = World(world.rest, operator_namespace)

    async def told() -> bool:
        found = await settings.list(names.SETTING)
        return bool(found) and all("status" in setting for setting in found)

    await until(told)
    yield held
    await held.kill()


async def all_passed(logs: list[Log], world: World, since: int) -> None:
    """Return once each Instance had a pass after line *since* of the log."""
    wanted = {instance["metadata"]["name"] for instance in await world.list(names.INSTANCE)}

    async def read() -> bool:
        return wanted <= {
            line["name"]
            for line in logs[since:]
            if line["event"] == "reconciled"
            and line["controller"] == "instance"
            and line["namespace"] == world.namespace
        }

    await until(read)


async def resynced(logs: list[Log], world: World, name: str) -> None:
    """Give every Instance a pass, by a change that concerns none."""
    since = len(logs)
    await world.create(names.RUNTIME_CLASS, {"metadata": {"name": name}, "handler": "unused"})
    await all_passed(logs, world, since)


async def types_are_told(logs: list[Log]) -> None:
    """Return once what is left of each InstanceType is written: a burst of Pods is one write."""

    async def read() -> bool:
        passes = [line for line in logs if line.get("controller") == "instancetype"]
        return bool(passes) and passes[-1]["outcome"] == "success"

    await until(read)


@pytest.mark.parametrize("fault", [None, Fault.SLOW_IMAGE_PULL.lasting("2s")])
async def test_an_instance_takes_one_pod_one_service_and_two_writes_of_its_status(
    cluster: Cluster, world: World, settled: Operator, logs: list[Log], *, fault: str | None
) -> None:
    cluster.set_fault("node-0", fault)
    before = writes_so_far(cluster)
    for number in range(A_FEW):
        await world.instance(f"box-{number}", ports=[{"port": 8080}])
    for number in range(A_FEW):
        await world.is_in_phase("Ready", f"box-{number}")
    cluster.set_fault("node-0", None)
    await resynced(logs, world, f"after-{fault}".lower())
    wrote = writes_so_far(cluster) - before

    wrote.pop(("PATCH", "instancetypes/status"), None)  # As often as time allows, not for each.
    told = wrote.pop(("PATCH", "instances/status"))
    by_the_test = wrote.pop(("POST", "instances"))

    assert {("POST", "pods"): A_FEW, ("POST", "services"): A_FEW} == wrote
    assert A_FEW == by_the_test
    assert A_FEW <= told <= 2 * A_FEW


async def test_a_resync_and_a_restart_of_the_operator_write_nothing(
    cluster: Cluster, world: World, settled: Operator, proxy: Proxy, logs: list[Log]
) -> None:
    for number in range(MANY):
        await world.instance(f"box-{number}", ports=[{"port": 8080}], stop=number % 3 == 0)
    for number in range(MANY):
        phase = "Stopped" if number % 3 == 0 else "Ready"
        await world.is_in_phase(phase, f"box-{number}")
    await resynced(logs, world, "before-counting")
    await types_are_told(logs)
    before, calls = writes_so_far(cluster), len(proxy.calls)

    await resynced(logs, world, "while-counting")
    restarted = len(logs)
    await settled.kill()
    await settled.start()
    await all_passed(logs, world, restarted)
    await resynced(logs, world, "after-the-restart")

    wrote = writes_so_far(cluster) - before

    assert ([], {}) == ([call for call in proxy.calls[calls:] if call.writes], wrote)


async def test_nothing_is_read_but_by_list_and_watch(
    world: World, settled: Operator, proxy: Proxy
) -> None:
    """Except for the seed of the host keys, at the start."""
    await world.instance(ports=[{"port": 8080}])
    await world.is_in_phase("Ready")
    await world.edit(stop=True)
    await world.is_in_phase("Stopped")
    await world.edit(stop=False)
    await world.is_in_phase("Ready")

    seed = names.SECRET.path(ObjectKey(settled.namespace, names.HOST_KEY_SEED))
    read = {call.path for call in proxy.calls if not call.writes}
    watched = {call.path for call in proxy.calls if call.watches}

    assert names.INSTANCE.collection() in watched
    assert {seed} == read - watched
