"""I1: caches that lag behind make nobody write twice. A proxy keeps back what watches tell."""

from collections.abc import AsyncIterator

import attrs
import pytest
import pytest_asyncio

from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import Resource
from tests.integration.conftest import Log
from tests.integration.observer import History
from tests.integration.proxy import Proxy
from tests.integration.world import Operator, World, until

WEB = [{"port": 8080}]


@pytest_asyncio.fixture
async def lagging(
    proxy: Proxy, world: World, operator_namespace: str, logs: list[Log]
) -> AsyncIterator[Operator]:
    """The operator behind the proxy; it may log no error."""
    held = Operator(str(proxy.kubeconfig), operator_namespace)
    await held.start()
    yield held
    await held.kill()


@attrs.frozen
class Written:
    """What the operator asked to be written in the namespace of this test."""

    proxy: Proxy
    namespace: str

    def count(self, method: str, resource: Resource) -> int:
        return self.proxy.count(method, resource, namespace=self.namespace)

    async def at_least(self, number: int, method: str, resource: Resource) -> None:
        async def came() -> bool:
            return self.count(method, resource) >= number

        await until(came)


@pytest.fixture
def written(proxy: Proxy, world: World) -> Written:
    return Written(proxy, world.namespace)


async def put_off(logs: list[Log], world: World, times: int) -> None:
    """Wake the Instance again and again, until that many passes were put off."""

    async def was() -> bool:
        await world.edit(displayName=f"after {len(logs)} lines")
        passes = [
            line
            for line in logs
            if line.get("namespace") == world.namespace and line.get("outcome") == "requeue_after"
        ]
        return len(passes) >= times

    await until(was)


@pytest.mark.usefixtures("lagging")
async def test_i1_a_pod_that_the_cache_does_not_show_yet_is_not_made_again(
    world: World, proxy: Proxy, written: Written, pods: History, logs: list[Log]
) -> None:
    proxy.hold(names.POD)
    await world.instance(ports=WEB)
    await written.at_least(1, "POST", names.POD)
    await put_off(logs, world, times=3)
    proxy.release(names.POD)
    await world.is_in_phase("Ready")

    assert 1 == written.count("POST", names.POD)
    assert 1 == written.count("POST", names.SERVICE)
    assert 1 == len((await pods.caught_up()).made)


@pytest.mark.usefixtures("lagging")
async def test_i1_a_pod_that_the_cache_still_shows_is_not_deleted_again(
    world: World, proxy: Proxy, written: Written, pods: History, logs: list[Log]
) -> None:
    await world.instance(ports=WEB)
    await world.is_in_phase("Ready")
    proxy.hold(names.POD)
    await world.edit(stop=True)
    await written.at_least(1, "DELETE", names.POD)
    await world.gone(names.POD, "box")
    await world.edit(stop=False)
    await put_off(logs, world, times=3)

    assert [] == await world.list(names.POD)

    proxy.release(names.POD)
    await world.is_in_phase("Ready")

    assert 1 == written.count("DELETE", names.POD)
    assert 2 == written.count("POST", names.POD)
    assert 2 == len((await pods.caught_up()).made)
    assert 1 == pods.most_at_once


@pytest.mark.usefixtures("lagging")
async def test_i1_a_cache_that_lags_for_longer_than_anyone_waits_still_makes_no_second_pod(
    world: World, proxy: Proxy, written: Written, pods: History
) -> None:
    """The operator does not wait for ever; then the API server is who says no."""
    proxy.hold(names.POD)
    await world.instance(ports=WEB)
    await written.at_least(2, "POST", names.POD)
    proxy.release(names.POD)
    await world.is_in_phase("Ready")

    assert 1 == len((await pods.caught_up()).made)
    assert 1 == written.count("POST", names.SERVICE)
