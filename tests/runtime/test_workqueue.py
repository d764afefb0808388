"""What the queue promises of its order, one promise at a time."""

import asyncio
import random
from collections import Counter

from gpustack_ctrl.runtime.schedule import SLACK, Schedule
from gpustack_ctrl.runtime.workqueue import HIGH, LOW, WorkQueue
from tests.helpers.clock import FakeClock, settle


async def test_q1_no_two_of_many_workers_hold_the_same_key() -> None:
    clock = FakeClock()
    queue: WorkQueue[int] = WorkQueue("sim", clock=clock)
    chance = random.Random(1)  # noqa: S311 -- a simulation, repeatable by its seed.
    holding: Counter[int] = Counter()
    passes: Counter[int] = Counter()

    async def work() -> None:
        while True:
            key = await queue.get()
            holding[key] += 1
            assert 1 == holding[key]
            await clock.sleep(chance.choice([0, 1, 3]))
            holding[key] -= 1
            passes[key] += 1
            queue.done(key)

    async with asyncio.TaskGroup() as group:
        workers = [group.create_task(work()) for _ in range(5)]
        for _ in range(500):
            queue.add(chance.randrange(8))
            await clock.advance(chance.choice([0, 0.5, 1]))
        await clock.advance(100)
        for worker in workers:
            worker.cancel()

    assert set(range(8)) == set(passes)
    assert 0 == len(queue)


async def test_q2_a_change_during_a_pass_makes_exactly_one_more() -> None:
    queue: WorkQueue[str] = WorkQueue("demo", clock=FakeClock())
    queue.add("team/a")
    held = await queue.get()
    queue.add(held)
    queue.add(held)

    assert 0 == len(queue)

    queue.done(held)

    assert held == await queue.get()
    queue.done(held)
    assert 0 == len(queue)


async def test_q3_adds_before_the_hand_out_make_one_pass() -> None:
    queue: WorkQueue[str] = WorkQueue("demo", clock=FakeClock())
    for _ in range(100):
        queue.add("a")

    await queue.get()
    queue.done("a")

    assert 0 == len(queue)


async def test_q5_the_earliest_time_wins_and_an_immediate_add_leaves_no_ghost() -> None:
    clock = FakeClock()
    queue: WorkQueue[str] = WorkQueue("demo", clock=clock)
    queue.add_after("a", 10)
    queue.add_after("a", 60)
    queue.add_after("b", 10)
    queue.add("b")

    assert "b" == await queue.get()
    queue.done("b")
    await clock.advance(10)
    assert "a" == await queue.get()
    queue.done("a")
    await clock.advance(100)

    assert 0 == len(queue)
    assert 0 == clock.pending


async def test_q5_far_due_times_that_were_replaced_take_no_memory() -> None:
    schedule: Schedule[str] = Schedule()
    for now in range(10_000):
        schedule.want("a", now=now, due=now + 36_000.0)
        schedule.want("a", now=now, due=now)
        schedule.take(now)
        schedule.release("a", now=now)

    assert schedule.footprint <= SLACK + 2


async def test_q6_a_waiting_worker_gets_a_key_when_it_is_due_and_not_before() -> None:
    clock = FakeClock()
    queue: WorkQueue[str] = WorkQueue("demo", clock=clock)
    begin = clock.monotonic()
    got: dict[str, float] = {}

    async def work() -> None:
        while True:
            key = await queue.get()
            got[key] = clock.monotonic() - begin
            queue.done(key)

    async with asyncio.TaskGroup() as group:
        worker = group.create_task(work())
        await settle()
        for key, seconds in {"c": 3.0, "a": 1.0, "b": 2.0, "soon": 0.25}.items():
            queue.add_after(key, seconds)
        await clock.advance(10)
        worker.cancel()

    assert {"soon": 0.25, "a": 1.0, "b": 2.0, "c": 3.0} == got


async def test_q6_a_stalled_loop_hands_out_in_the_order_of_due_times() -> None:
    clock = FakeClock()
    queue: WorkQueue[str] = WorkQueue("demo", clock=clock)
    queue.add_after("second", 2)
    queue.add_after("first", 1)
    clock.stall(3)
    queue.add("third")

    assert ["first", "second", "third"] == [await queue.get() for _ in range(3)]


async def test_q7_live_changes_pass_the_first_list_but_do_not_starve_it() -> None:
    queue: WorkQueue[str] = WorkQueue("demo", clock=FakeClock())
    for number in range(3):
        queue.add(f"low-{number}", priority=LOW)
    order = []
    for turn in range(36):
        queue.add(f"high-{turn}")
        key = await queue.get()
        queue.done(key)
        order.append(key)

    assert [10, 21, 32] == [n for n, key in enumerate(order) if key.startswith("low")]
    assert ["low-0", "low-1", "low-2"] == [key for key in order if key.startswith("low")]


async def test_q8_raising_goes_to_the_end_of_the_higher_class_and_nothing_lowers() -> None:
    queue: WorkQueue[str] = WorkQueue("demo", clock=FakeClock())
    queue.add("raised", priority=LOW)
    queue.add("high")
    queue.add("raised", priority=HIGH)
    queue.add("high", priority=LOW)
    queue.add("low", priority=LOW)

    assert ["high", "raised", "low"] == [await queue.get() for _ in range(3)]


async def test_q8_a_retry_keeps_the_priority_of_its_pass() -> None:
    clock = FakeClock()
    queue: WorkQueue[str] = WorkQueue("demo", clock=clock)
    queue.add("flood", priority=LOW)
    held = await queue.get()
    queue.add_rate_limited(held)
    queue.done(held)
    await clock.advance(1)
    queue.add("live")

    assert ["live", "flood"] == [await queue.get() for _ in range(2)]
