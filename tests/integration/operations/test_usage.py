"""Usage: how an Instance passed its time is in its status, and costs no write of its own."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from itertools import pairwise

import attrs
import pytest_asyncio

from e2e.cluster import Cluster
from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.usage import Usage, UsageFamily, UsageState
from gpustack_ctrl.reconcilers.usage.ledger import Held, metered, moment
from tests.integration.observer import History, observed
from tests.integration.operations.conftest import Maker
from tests.integration.world import CLOCK, TYPE, Operator, Wire, World, until

A_WHILE = 2.0
A_SECOND = timedelta(seconds=1)
"""What is lost where the API server tells whole seconds."""


@pytest_asyncio.fixture
async def instances(cluster: Cluster, world: World) -> AsyncIterator[History]:
    """All states that the Instance of this test is ever in."""
    async with observed(cluster, names.INSTANCE, world.namespace) as history:
        yield history


def usage_of(instance: Wire) -> Usage:
    return codec.from_wire(instance["status"]["usage"], Usage)


def made_at(instance: Wire) -> datetime:
    return moment(instance["metadata"]["creationTimestamp"])


def seconds(usage: Usage, kind: str, family: UsageFamily) -> tuple[float, float]:
    """The time held in that way, and that times the accelerators, at the last change."""
    held = metered(usage, moment(usage.since)).allocated.get((kind, family), Held())
    return held.seconds, held.accelerator_seconds


def whole_of(usage: Usage) -> timedelta:
    """All time that the ledger tells of, up to the last change."""
    totals = metered(usage, moment(usage.since))
    held = sum(time.seconds for time in totals.allocated.values())
    return timedelta(seconds=totals.pending_seconds + totals.stopped_seconds + held)


def bare(instance: Wire) -> Wire:
    """*instance* without what only a ledger would be written for."""
    metadata = {**instance["metadata"], "resourceVersion": "", "managedFields": []}
    return {**instance, "metadata": metadata, "status": {**instance["status"], "usage": {}}}


@attrs.frozen
class Run:
    """When a Pod was scheduled, and between which moments it went."""

    scheduled: datetime
    went_after: datetime
    went_before: datetime

    def bears_out(self, held: float) -> bool:
        """Whether it may have held its place for so many seconds."""
        least, most = self.went_after - self.scheduled, self.went_before - self.scheduled
        return least - A_SECOND <= timedelta(seconds=held) <= most + A_SECOND


async def run_and_stop(world: World, usage: Usage) -> tuple[Run, Wire]:
    """Stop the Instance, whose Pod holds its place since *usage* says, after a while."""
    await CLOCK.sleep(A_WHILE)
    before = CLOCK.now()
    await world.edit(stop=True)
    stopped = await world.is_in_phase("Stopped")
    return Run(moment(usage.since), before, CLOCK.now()), stopped


async def holds_again(world: World, before: str) -> Wire:
    """The Instance, once another Pod than the one *before* is Ready."""

    async def read() -> Wire | None:
        held = await world.is_in_phase("Ready")
        return held if held["status"]["podUID"] != before else None

    return await until(read)


async def scheduled_at(world: World) -> datetime:
    pod = await world.get(names.POD, "box")
    told = [one for one in pod["status"]["conditions"] if one["type"] == "PodScheduled"]
    return moment(told[0]["lastTransitionTime"])


async def test_a_life_with_a_stop_another_type_and_a_restart_of_the_operator(
    world: World, operator: Operator, instances: History, offer: Maker
) -> None:
    await world.instance(resources={"accelerator": 2})
    ready = await world.is_in_phase("Ready")
    first = usage_of(ready)

    assert (UsageState.ALLOCATED, await scheduled_at(world)) == (first.state, moment(first.since))
    assert ready["status"]["podUID"] == first.podUID

    run, stopped = await run_and_stop(world, first)
    idle = usage_of(stopped)

    held, times_cards = seconds(idle, TYPE, UsageFamily.WHOLE)
    assert UsageState.STOPPED is idle.state
    assert run.bears_out(held)
    assert 2 * held == times_cards

    await CLOCK.sleep(A_WHILE)
    other = await offer()
    await world.edit(type=other, resources=None)
    await world.edit(stop=False)
    second = usage_of(await world.is_in_phase("Ready"))

    assert A_WHILE - 1 <= second.stoppedSeconds

    await operator.kill()
    await CLOCK.sleep(A_WHILE)
    await operator.start()
    run, stopped = await run_and_stop(world, second)
    last = usage_of(stopped)

    assert run.bears_out(seconds(last, other, UsageFamily.NONE)[0])
    assert (held, times_cards) == seconds(last, TYPE, UsageFamily.WHOLE)
    assert moment(last.since) - made_at(stopped) == whole_of(last)
    await instances.caught_up()
    told = [bare(state) for state in instances.states if "status" in state]
    assert all(before != after for before, after in pairwise(told))


async def test_a_pod_that_vanishes_while_the_operator_is_away_counts_until_it_is_missed(
    world: World, operator: Operator
) -> None:
    await world.instance()
    first = usage_of(await world.is_in_phase("Ready"))
    await operator.kill()
    await world.rest.delete(
        names.POD, world.key("box", names.POD), uid=first.podUID, propagation="Background"
    )
    await world.gone(names.POD, "box")
    await CLOCK.sleep(A_WHILE)
    missed = CLOCK.now()
    await operator.start()
    ready = await holds_again(world, first.podUID)
    second = usage_of(ready)

    run = Run(moment(first.since), missed, CLOCK.now())
    assert run.bears_out(seconds(second, TYPE, UsageFamily.WHOLE)[0])
    assert moment(second.since) - made_at(ready) == whole_of(second)
