"""The ways in which a process may end, and how long each takes at most."""

import asyncio
from collections.abc import Awaitable, Callable

from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from gpustack_ctrl.runtime.manager import LOSS_SECONDS, UNWIND_SECONDS, Ending
from tests.runtime.manager_world import (
    LONG,
    Process,
    endless,
    living,
    quick,
    stubborn,
)


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
