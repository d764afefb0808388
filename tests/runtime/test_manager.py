"""The life of a process: in what order it comes up and goes down, and how it may end."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from gpustack_ctrl.runtime.layers import running
from gpustack_ctrl.runtime.manager import LOSS_SECONDS, UNWIND_SECONDS, Ending, Manager
from gpustack_ctrl.runtime.outcome import leaves
from tests.helpers.clock import FakeClock, settle
from tests.runtime.manager_world import A, Cache, Diary, Port, Process

LONG = 10_000.0


async def quick(process: Process) -> None:
    await process.clock.sleep(1)


async def endless(process: Process) -> None:
    await process.clock.sleep(LONG)


async def stubborn(process: Process) -> None:
    while not process.exits:
        try:
            await process.clock.sleep(0.25)
        except asyncio.CancelledError:
            continue


@asynccontextmanager
async def living(process: Process) -> AsyncIterator["asyncio.Task[Ending]"]:
    """The process runs; it must have left no task behind when the block ends."""
    process.queue.add(A)
    task = asyncio.create_task(process.manager.run())
    await settle()
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait({task})
    assert {asyncio.current_task()} == asyncio.all_tasks()


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


@settings(deadline=None)
@given(
    eighths=st.integers(0, 160),
    script=st.sampled_from([quick, endless]),
    sync_after=st.sampled_from([0.0, 3.0, LONG]),
)
def test_g2_a_stop_at_any_instant_ends_in_order_within_the_grace_period(
    eighths: int, script: Callable[[Process], Awaitable[object]], sync_after: float
) -> None:
    async def scenario() -> None:
        process = Process(script, sync_after=sync_after)
        async with living(process) as task:
            await process.clock.advance(eighths / 8)
            process.manager.stop()
            assert "the process is stopping" == process.manager.ready()
            await process.clock.advance(30)

            assert Ending.STOPPED == task.result()
        assert [] == process.exits
        assert 0 == process.clock.pending
        assert process.diary.entries.count("pass begins") == sum(
            entry.startswith("pass ends") for entry in process.diary.entries
        )
        assert "pass ends, lease of ''" not in process.diary.entries
        if process.leases.writes:
            assert "" == process.leases.writes[-1]

    with capture_logs():
        asyncio.run(scenario())


async def test_g2_a_pass_that_outlives_the_grace_period_is_cancelled() -> None:
    process = Process(endless)
    with capture_logs() as logs:
        async with living(process) as task:
            process.manager.stop()
            await process.clock.advance(29)
            assert not task.done()

            await process.clock.advance(1)
            assert Ending.STOPPED == task.result()
    assert [["demo"]] == [log["still_running"] for log in logs if "still_running" in log]


async def test_g2_a_pass_that_ignores_cancellation_does_not_keep_the_process() -> None:
    process = Process(stubborn)
    async with living(process):
        begun = process.clock.monotonic()
        process.manager.stop()
        await process.clock.advance(60)

    assert [(begun + 30 + UNWIND_SECONDS, Ending.FORCED)] == process.exits


async def test_g2_a_second_stop_ends_the_process_at_once() -> None:
    process = Process(endless)
    async with living(process):
        process.manager.stop()
        await process.clock.advance(1)
        assert [] == process.exits

        process.manager.stop()
        assert [(process.clock.monotonic(), Ending.FORCED)] == process.exits


async def test_g2_a_stop_before_the_start_ends_it() -> None:
    process = Process(quick)
    process.manager.stop()

    assert Ending.STOPPED == await process.manager.run()
    assert [] == process.diary.entries


async def test_e4_losing_the_lease_cancels_passes_at_once_and_writes_nothing_more() -> None:
    process = Process(endless)
    async with living(process) as task:
        process.line.down = True
        await process.clock.advance(10)

        assert Ending.LEADERSHIP_LOST == task.result()
    assert ["me"] == process.leases.writes
    assert [] == process.exits
    assert "pass ends, lease of 'me'" in process.diary.entries
    assert 0 == process.clock.pending


async def test_e4_a_pass_that_ignores_the_loss_does_not_keep_the_process() -> None:
    process = Process(stubborn)
    async with living(process):
        begun = process.clock.monotonic()
        process.line.down = True
        await process.clock.advance(20)

    assert [(begun + 10 + LOSS_SECONDS, Ending.LEADERSHIP_LOST)] == process.exits


async def test_e4_losing_the_lease_while_stopping_ends_the_grace_period() -> None:
    process = Process(endless)
    async with living(process) as task:
        process.manager.stop()
        process.line.down = True
        await process.clock.advance(11)

        assert Ending.LEADERSHIP_LOST == task.result()


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


PROGRAM = """
import asyncio, signal, sys
from gpustack_ctrl.runtime.clock import SystemClock
from gpustack_ctrl.runtime.manager import Manager

class Busy:
    name = "busy"
    async def run(self):
        print("working", flush=True)
        await asyncio.Event().wait()
    def stop(self):
        print("asked to stop", flush=True)
        if "idle" in sys.argv:
            for task in asyncio.all_tasks():
                if task.get_name() == "busy":
                    task.cancel()

async def main():
    manager = Manager(clock=SystemClock(), controllers=[Busy()])
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, manager.stop)
    return await manager.run()

sys.exit(asyncio.run(main()))
"""


@pytest.mark.parametrize(
    ("work", "signals", "code"), [("idle", 1, Ending.STOPPED), ("busy", 2, Ending.FORCED)]
)
def test_g2_a_real_process_ends_on_sigterm_and_its_exit_code_tells_why(
    work: str, signals: int, code: Ending
) -> None:
    source = Path(__file__).parents[2] / "src"
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, work],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(source)},
    ) as process:
        assert process.stdout is not None
        try:
            wait_for_line(process.stdout, "working")
            process.send_signal(signal.SIGTERM)
            wait_for_line(process.stdout, "asked to stop")
            for _ in range(signals - 1):
                process.send_signal(signal.SIGTERM)

            assert code == process.wait(timeout=20)
        finally:
            process.kill()


def wait_for_line(lines: Iterable[str], expected: str) -> None:
    """Read *lines* until one is *expected*; the test's own time limit bounds it."""
    assert any(line.strip() == expected for line in lines), f"{expected!r} never came"
