"""What the queue promises to the workers that wait for it."""

import asyncio

import pytest

from gpustack_ctrl.runtime.workqueue import HIGH, LOW, ShutDownError, WorkQueue
from tests.helpers.clock import FakeClock, settle
from tests.runtime.workqueue_metrics import RecordedQueueMetrics


async def test_q9_shut_down_wakes_every_getter_and_hands_out_nothing_more() -> None:
    clock = FakeClock()
    queue: WorkQueue[str] = WorkQueue("demo", clock=clock)
    queue.add("held")
    held = await queue.get()
    getters = [asyncio.create_task(queue.get()) for _ in range(5)]
    await settle()
    queue.add_after("later", 5)

    queue.shut_down()
    queue.shut_down()
    outcomes = await asyncio.gather(*getters, return_exceptions=True)

    assert [ShutDownError] * 5 == [type(outcome) for outcome in outcomes]
    queue.add("ignored")
    queue.done(held)
    assert 0 == clock.pending
    with pytest.raises(ShutDownError, match="demo"):
        await queue.get()


@pytest.mark.parametrize("turns", range(4))
async def test_q10_a_getter_cancelled_at_any_moment_loses_no_key(turns: int) -> None:
    queue: WorkQueue[str] = WorkQueue("demo", clock=FakeClock())
    getter = asyncio.create_task(queue.get())
    await settle()
    queue.add("a")
    for _ in range(turns):
        await FakeClock().sleep(0)

    if not getter.done():
        getter.cancel()
        await asyncio.wait({getter})

    took = not getter.cancelled()
    assert int(not took) == len(queue)
    assert int(took) == len(queue.running_seconds())


async def test_q10_letting_go_of_a_key_nobody_holds_is_an_error_that_names_it() -> None:
    queue: WorkQueue[str] = WorkQueue("demo", clock=FakeClock())
    queue.add("team/a")

    with pytest.raises(ValueError, match=r"^team/a is not held by any worker"):
        queue.done("team/a")

    assert 1 == len(queue)


async def test_q11_the_metrics_count_what_became_ready_and_how_long_all_took() -> None:
    clock = FakeClock()
    metrics = RecordedQueueMetrics()
    queue: WorkQueue[str] = WorkQueue("demo", clock=clock, metrics=metrics)
    queue.add("a")
    queue.add("a")
    queue.add_after("b", 2)

    assert {HIGH: 1, LOW: 0} == metrics.depths
    assert (1, 1) == (metrics.adds, metrics.retries)

    await clock.advance(5)
    assert ["a", "b"] == [await queue.get() for _ in range(2)]
    await clock.advance(1)
    assert (1.0, 1.0) == queue.running_seconds()
    queue.done("a")

    assert {HIGH: 0, LOW: 0} == metrics.depths
    assert [5.0, 3.0] == metrics.waits
    assert [1.0] == metrics.works
    assert 2 == metrics.adds


async def test_a_worker_that_never_waits_lets_other_tasks_run() -> None:
    queue: WorkQueue[int] = WorkQueue("demo", clock=FakeClock())
    for key in range(100):
        queue.add(key)
    seen_by_other = []

    async def work() -> None:
        for _ in range(100):
            queue.done(await queue.get())

    async def other() -> None:
        while len(queue):
            seen_by_other.append(len(queue))
            await FakeClock().sleep(0)

    await asyncio.gather(work(), other())

    assert 100 >= len(seen_by_other) >= 99
