"""The fake clock is what every simulation rests on, so it is tested too."""

import asyncio
from datetime import timedelta

from gpustack_ctrl.runtime.clock import Clock, SystemClock
from tests.helpers.clock import EPOCH, FakeClock, settle


async def test_timers_fire_in_order_of_their_due_time() -> None:
    clock, fired = FakeClock(), list[str]()
    clock.call_later(2, lambda: fired.append("second"))
    clock.call_later(1, lambda: fired.append("first"))
    clock.call_later(9, lambda: fired.append("never"))
    clock.call_later(1.5, lambda: fired.append("cancelled")).cancel()

    await clock.advance(3)

    assert ["first", "second"] == fired
    assert 1 == clock.pending


async def test_a_sleeper_sees_the_moment_it_asked_for() -> None:
    clock, seen = FakeClock(), list[float]()

    async def tick() -> None:
        for _ in range(3):
            await clock.sleep(1)
            seen.append(clock.monotonic())

    async with asyncio.TaskGroup() as group:
        group.create_task(tick())
        await clock.advance(10)

    assert [1001.0, 1002.0, 1003.0] == seen


async def test_a_jump_of_the_time_of_day_leaves_intervals_alone() -> None:
    clock = FakeClock()

    clock.jump(-3600)
    await clock.advance(5)

    assert 1005.0 == clock.monotonic()
    assert EPOCH + timedelta(seconds=5 - 3600) == clock.now()


async def test_timers_fire_at_the_end_of_a_stall_and_before_any_task() -> None:
    clock, seen = FakeClock(), list[tuple[str, float]]()
    clock.call_later(1, lambda: seen.append(("timer", clock.monotonic())))

    async def task() -> None:
        seen.append(("task", clock.monotonic()))

    async with asyncio.TaskGroup() as group:
        group.create_task(task())
        clock.stall(5)

    assert [("timer", 1005.0), ("task", 1005.0)] == seen


async def test_settle_waits_for_chains_of_tasks() -> None:
    hops = list[int]()

    async def hop(left: int) -> None:
        hops.append(left)
        if left:
            await asyncio.gather(hop(left - 1))

    async with asyncio.TaskGroup() as group:
        group.create_task(hop(20))
        await settle()
        assert 21 == len(hops)


async def test_the_system_clock_is_a_clock() -> None:
    clock: Clock = SystemClock()
    fired = asyncio.Event()

    clock.call_later(0, fired.set)
    await asyncio.wait_for(fired.wait(), 5)
    await clock.sleep(0)

    assert clock.monotonic() <= clock.monotonic()
    assert timedelta(0) == clock.now().utcoffset()
