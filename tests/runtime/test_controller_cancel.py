"""Passes that are cancelled: by the controller, by themselves, or by the clock."""

import asyncio

from prometheus_client import CollectorRegistry

from gpustack_ctrl.runtime.controller import Controller
from gpustack_ctrl.runtime.metrics import Metrics
from gpustack_ctrl.runtime.reconcile import DONE, Request, Result
from gpustack_ctrl.runtime.workqueue import WorkQueue
from tests.helpers.clock import FakeClock, settle
from tests.runtime.controller_world import A, B, Scripted, controlled


async def test_c3_cancelling_the_controller_cancels_the_pass_and_lets_go_of_its_key() -> None:
    ended: list[str] = []

    async def script(request: Request) -> Result:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(request.name)
        return DONE

    clock = FakeClock()
    queue: WorkQueue[Request] = WorkQueue("demo", clock=clock)
    metrics = Metrics(CollectorRegistry())
    controller = Controller(
        name="demo",
        reconciler=Scripted(script),
        queue=queue,
        clock=clock,
        metrics=metrics.controller("demo", workers=4),
    )
    running = asyncio.create_task(controller.run())
    queue.add(A)
    await settle()
    running.cancel()
    await asyncio.wait({running})

    assert running.cancelled()
    assert ["a"] == ended
    assert () == queue.running_seconds()
    assert 0 == clock.pending
    assert 0 == metrics.registry.get_sample_value(
        "controller_runtime_active_workers", {"controller": "demo"}
    )


async def test_c3_a_pass_whose_own_task_was_cancelled_fails_and_its_worker_survives() -> None:
    attempts: list[Request] = []

    async def script(request: Request) -> Result:
        attempts.append(request)
        if len(attempts) == 1:
            inner = asyncio.create_task(asyncio.Event().wait())
            inner.cancel()
            await inner
        return DONE

    async with controlled(script, workers=1) as world:
        world.queue.add(A)
        await world.clock.advance(2)

    assert [A, A] == attempts
    assert 1 == world.count("runtime_reconcile_errors_total")


async def test_c4_a_pass_at_its_time_limit_is_cancelled_counted_and_backed_off() -> None:
    begun: list[float] = []

    async def script(request: Request) -> Result:
        begun.append(world.clock.monotonic() - 1000)
        if len(begun) == 1:
            await asyncio.Event().wait()
        return DONE

    async with controlled(script) as world:
        world.queue.add(A)
        await world.clock.advance(400)

    assert [0, 301] == begun
    assert 1 == world.count("runtime_reconcile_timeouts_total")
    assert 1 == world.count("runtime_reconcile_total", result="error")
    assert 0 == world.count("runtime_reconcile_panics_total")


async def test_c4_a_pass_that_resists_keeps_its_key_while_others_get_workers() -> None:
    running: list[Request] = []
    seen: list[Request] = []
    give_in = asyncio.Event()

    async def script(request: Request) -> Result:
        seen.append(request)
        if request == B:
            return DONE
        running.append(request)
        assert [A] == running
        while not give_in.is_set():
            try:
                await give_in.wait()
            except asyncio.CancelledError:
                continue
        running.remove(request)
        return DONE

    async with controlled(script, workers=2) as world:
        world.queue.add(A)
        await world.clock.advance(301)
        assert 1 == world.count("overdue_reconciles")
        assert None is world.controller.check()

        world.queue.add(A)
        world.queue.add(B)
        await settle()
        assert [A, B] == seen

        give_in.set()
        await settle()

    assert 0 == world.count("overdue_reconciles")
    assert [A, B, A] == seen


async def test_c4_the_liveness_check_fails_when_no_worker_is_left() -> None:
    give_in = asyncio.Event()

    async def script(request: Request) -> Result:
        while not give_in.is_set():
            try:
                await give_in.wait()
            except asyncio.CancelledError:
                continue
        return DONE

    async with controlled(script, workers=1) as world:
        world.queue.add(A)
        await world.clock.advance(301)

        assert (
            "all 1 workers of demo ignore that their time limit is over" == world.controller.check()
        )

        give_in.set()
        await settle()
        assert None is world.controller.check()
