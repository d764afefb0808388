"""I1, I5, S2: whatever a start, a stop or a delete is cut off at, the next operator ends it.

A proxy cuts at each write in turn: before the API server hears of it, or after it was
done. What killed the operator there is all the same: it is not told what became of it.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import attrs
import pytest

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from tests.integration.observer import History, observed
from tests.integration.proxy import Fate, Nth, Proxy, passes
from tests.integration.world import Operator, Wire, World, until

WEB = {"port": 8080}
DNS = {"port": 53, "protocol": "UDP"}


@attrs.frozen
class Scenario:
    """What a user does to an Instance in some state, and what must come of it."""

    prepare: Callable[[World], Awaitable[object]]
    begin: Callable[[World], Awaitable[object]]
    ended: Callable[[World], Awaitable[object]]
    pods: int
    """How many Pods there are in all, from the preparation to the end."""
    writes: int
    """How many writes there are to cut at, at the least."""


async def nothing(_: World) -> None:
    """Nothing is there before."""


async def created(world: World) -> None:
    await world.instance(ports=[WEB, DNS])


async def ready(world: World) -> Wire:
    await created(world)
    return await is_ready(world)


async def stopped(world: World) -> Wire:
    await ready(world)
    await world.edit(stop=True)
    return await is_stopped(world)


async def start(world: World) -> None:
    await world.edit(ports=[DNS, WEB, {"port": 1}], stop=False)


async def stop(world: World) -> None:
    await world.edit(stop=True)


async def restart(world: World) -> None:
    await world.edit(restartedAt="now")


async def delete(world: World) -> None:
    await world.delete(names.INSTANCE, "box")


async def delete_in_foreground(world: World) -> None:
    await world.delete(names.INSTANCE, "box", propagation="Foreground")


async def is_ready(world: World) -> Wire:
    return await world.is_in_phase("Ready")


async def is_stopped(world: World) -> Wire:
    held = await world.is_in_phase("Stopped")
    assert [] == await world.list(names.POD)
    return held


async def is_restarted(world: World) -> Wire:
    async def by_the_new_pod() -> bool:
        pod = await world.find(names.POD, "box")
        wanted = {"worker.gpustack.ai/restarted-at": "now"}.items()
        return pod is not None and pod["metadata"]["annotations"].items() >= wanted

    await until(by_the_new_pod)
    return await is_ready(world)


async def held_up(world: World) -> None:
    """A Pod that does not end before somebody lets it go: it shows the Instance Deleting."""
    await ready(world)
    await world.patch(names.POD, "box", {"metadata": {"finalizers": ["test.example/hold"]}})


async def is_let_go(world: World) -> None:
    if await world.find(names.INSTANCE, "box") is not None:
        await world.is_in_phase("Deleting")
        await world.patch(names.POD, "box", {"metadata": {"finalizers": None}})
    await is_gone(world)


async def is_gone(world: World) -> None:
    for resource in (names.INSTANCE, names.POD, names.SERVICE):
        await world.gone(resource, "box")


SCENARIOS: Mapping[str, Scenario] = {
    "a first start": Scenario(nothing, created, is_ready, pods=1, writes=3),
    "a start": Scenario(stopped, start, is_ready, pods=2, writes=3),
    "a restart": Scenario(ready, restart, is_restarted, pods=2, writes=3),
    "a stop": Scenario(ready, stop, is_stopped, pods=1, writes=2),
    "a delete": Scenario(held_up, delete_in_foreground, is_let_go, pods=1, writes=1),
    "a delete while stopped": Scenario(stopped, delete, is_gone, pods=1, writes=0),
}


@pytest.mark.parametrize("fate", [Fate.CUT, Fate.LAST, Fate.LOST], ids=lambda fate: fate.name)
@pytest.mark.parametrize("name", SCENARIOS)
async def test_i1_i5_s2_a_scenario_ends_well_wherever_it_is_interrupted(
    cluster: Cluster, world: World, proxy: Proxy, operator_namespace: str, *, name: str, fate: Fate
) -> None:
    scenario = SCENARIOS[name]
    operators = Operators(proxy, str(cluster.kubeconfig), operator_namespace)
    writes = 0
    while True:
        async with another_namespace(cluster, world) as fresh:
            nth = Nth(writes + 1, fresh.namespace, fate)
            await interrupted(scenario, fresh, operators, nth, cluster)
        if not nth.struck:
            break
        writes += 1

    assert scenario.writes <= writes


@attrs.frozen
class Operators:
    """The operator behind the proxy, and the next one, which comes directly."""

    proxy: Proxy
    direct: str
    namespace: str

    @asynccontextmanager
    async def first(self) -> AsyncIterator[Operator]:
        self.proxy.judge = passes
        self.proxy.up()
        async with self._running(str(self.proxy.kubeconfig)) as held:
            yield held

    def second(self) -> AbstractAsyncContextManager[Operator]:
        return self._running(self.direct)

    @asynccontextmanager
    async def _running(self, kubeconfig: str) -> AsyncIterator[Operator]:
        held = Operator(kubeconfig, self.namespace)
        await held.start()
        try:
            yield held
        finally:
            await held.kill()


@asynccontextmanager
async def another_namespace(cluster: Cluster, world: World) -> AsyncIterator[World]:
    name = f"{world.namespace}-{secrets.token_hex(2)}"
    cluster.add_namespace(name)
    yield World(world.rest, name)
    cluster.api().delete(f"/api/v1/namespaces/{name}")


async def interrupted(
    scenario: Scenario, world: World, operators: Operators, nth: Nth, cluster: Cluster
) -> None:
    """Play *scenario*, let *nth* strike if its turn comes, and judge how it ended."""
    async with (
        observed(cluster, names.POD, world.namespace) as pods,
        observed(cluster, names.SERVICE, world.namespace) as services,
    ):
        async with operators.first():
            await scenario.prepare(world)
            operators.proxy.judge = nth
            await scenario.begin(world)
            await over(scenario, world, operators.proxy)
        async with operators.second():
            await scenario.ended(world)

        assert 1 == (await pods.caught_up()).most_at_once
        assert scenario.pods == len(pods.made)
        assert 1 == len((await services.caught_up()).uids)
        assert one_node_port_each(services)


async def over(scenario: Scenario, world: World, proxy: Proxy) -> None:
    """Return when the operator is cut off, or else when the scenario is at its end."""
    ending = asyncio.ensure_future(scenario.ended(world))

    async def is_over() -> bool:
        return proxy.is_down or ending.done()

    try:
        await until(is_over)
    finally:
        ending.cancel()
        await asyncio.wait({ending})
    if not proxy.is_down:
        ending.result()


def one_node_port_each(services: History) -> bool:
    """Whether no port ever had two node ports."""
    pairs = {
        (port["port"], port["protocol"], port["nodePort"])
        for service in services.states
        for port in service["spec"]["ports"]
    }
    return len(pairs) == len({pair[:2] for pair in pairs})
