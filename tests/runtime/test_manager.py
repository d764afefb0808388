"""The life of a process: in what order it comes up and goes down."""

import asyncio

import attrs
import pytest
from structlog.testing import capture_logs

from gpustack_ctrl.runtime.layers import running
from gpustack_ctrl.runtime.manager import Ending, Manager
from gpustack_ctrl.runtime.outcome import leaves
from tests.helpers.clock import FakeClock, settle
from tests.runtime.manager_world import (
    LONG,
    Cache,
    Diary,
    Port,
    Process,
    living,
    quick,
)


async def test_g1_parts_come_up_in_order_and_go_down_in_reverse() -> None:
    process = Process(quick)
    async with living(process) as task:
        process.manager.stop()
        await process.clock.advance(2)

        assert Ending.STOPPED == task.result()
    assert [
        "server up",
        "pods runs",
        "pods synced",
        "pass begins",
        "pass ends, lease of 'me'",
        "pods ends",
        "server down",
    ] == process.diary.entries
    assert ["me", ""] == process.leases.writes
    assert 0 == process.clock.pending


async def test_c1_no_pass_begins_before_the_caches_are_filled_and_leadership_is_won() -> None:
    process = Process(quick, sync_after=60)
    process.leases.create(
        {"metadata": {}, "spec": {"holderIdentity": "other", "leaseDurationSeconds": 15}}
    )
    async with living(process):
        await process.clock.advance(59)
        assert ["other"] == process.leases.writes
        assert "informers not synced: pods" == process.manager.ready()

        await process.clock.advance(10)
        assert None is process.manager.ready()
        assert ["server up", "pods runs", "pods synced"] == process.diary.entries

        await process.clock.advance(30)
        assert "pass begins" in process.diary.entries


async def test_a_cache_that_does_not_fill_ends_the_process_with_its_reason() -> None:
    process = Process(quick, sync_after=LONG)
    process.cache.trouble = "pods is forbidden"
    with capture_logs() as logs:
        async with living(process) as task:
            await process.clock.advance(120)

            assert Ending.NOT_SYNCED == task.result()
    assert [
        {
            "event": "ended",
            "log_level": "error",
            "ending": "not_synced",
            "error": "not synced after 120 s: informer pods: pods is forbidden",
        }
    ] == logs
    assert "server down" == process.diary.entries[-1]


async def test_e6_the_lease_is_kept_while_passes_finish_and_released_after_the_last() -> None:
    async def slow(process: Process) -> None:
        await process.clock.sleep(20)

    process = Process(slow)
    async with living(process) as task:
        process.manager.stop()
        await process.clock.advance(19)
        assert process.elector.leading
        assert "me" == process.leases.spec["holderIdentity"]

        await process.clock.advance(1)
        assert Ending.STOPPED == task.result()
    assert "" == process.leases.spec["holderIdentity"]


@attrs.define(eq=False)
class Slow:
    """An elector whose campaign takes a while to end."""

    diary: Diary
    clock: FakeClock

    async def run(self) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await self.clock.sleep(1)
            self.diary.note("campaign over")

    async def won(self) -> None:
        self.diary.note("won")

    async def release(self) -> None:
        self.diary.note("released")


async def test_e6_the_lease_is_released_after_the_campaign_for_it_has_ended() -> None:
    clock, diary = FakeClock(), Diary()
    manager = Manager(clock=clock, elector=Slow(diary, clock))
    task = asyncio.create_task(manager.run())
    await settle()
    manager.stop()
    await clock.advance(2)

    assert Ending.STOPPED == task.result()
    assert ["won", "campaign over", "released"] == diary.entries


async def test_parts_that_run_for_a_block_end_with_it() -> None:
    clock, diary = FakeClock(), Diary()
    async with running([Cache(diary, clock)]):
        await settle()

    assert ["pods runs", "pods ends"] == diary.entries


async def test_a_part_that_breaks_takes_the_process_down_in_order_and_is_named() -> None:
    process = Process(quick)
    async with living(process) as task:
        process.cache.fail.set()
        await process.clock.advance(2)

        error = task.exception()
    assert error is not None
    assert ["RuntimeError('pods broke')"] == [repr(leaf) for leaf in leaves(error)]
    assert ["pass ends, lease of 'me'", "server down"] == process.diary.entries[-2:]
    assert "" == process.leases.spec["holderIdentity"]


async def test_a_part_that_returns_counts_as_broken() -> None:
    class Short(Cache):
        async def run(self) -> None:
            self.full.set()

    clock = FakeClock()
    manager = Manager(clock=clock, informers=[Short(Diary(), clock, name="short")])
    task = asyncio.create_task(manager.run())
    await settle()

    assert "short ended, though it has to run as long as the process" in str(
        [str(leaf) for leaf in leaves(task.exception() or RuntimeError())]
    )


async def test_a_server_that_cannot_start_stops_the_ones_before_it() -> None:
    class Taken(Port):
        async def start(self) -> None:
            raise OSError("cannot listen on :80: taken")

    diary = Diary()
    manager = Manager(clock=FakeClock(), servers=[Port(diary), Taken(diary)])

    with pytest.raises(OSError, match="cannot listen on :80"):
        await manager.run()

    assert ["server up", "server down"] == diary.entries
