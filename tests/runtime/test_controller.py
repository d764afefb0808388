"""What a controller makes of the ways in which a pass can end."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import attrs
import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs
from structlog.typing import EventDict

from gpustack_ctrl.api.errors import ConflictError, ForbiddenError, ThrottledError
from gpustack_ctrl.runtime.controller import Controller
from gpustack_ctrl.runtime.metrics import Metrics
from gpustack_ctrl.runtime.ratelimit import Backoff, ItemBackoff
from gpustack_ctrl.runtime.reconcile import DONE, Request, Result, TerminalError
from gpustack_ctrl.runtime.workqueue import WorkQueue
from tests.helpers.clock import FakeClock, settle

A = Request("team", "a")
B = Request("team", "b")

Pass = Callable[[Request], Awaitable[Result]]


@attrs.frozen
class Scripted:
    """A reconciler that does what the test says."""

    script: Pass

    async def reconcile(self, request: Request) -> Result:
        return await self.script(request)


@attrs.define
class World:
    """A running controller and all that surrounds it."""

    clock: FakeClock
    queue: WorkQueue[Request]
    limiter: ItemBackoff[Request]
    controller: Controller
    metrics: Metrics

    def count(self, series: str, **labels: str) -> float | None:
        labels = {"controller": "demo", **labels}
        return self.metrics.registry.get_sample_value(f"controller_{series}", labels)


@asynccontextmanager
async def controlled(script: Pass, *, workers: int = 2) -> AsyncIterator[World]:
    """A controller runs *script* within the block, and is stopped after it."""
    clock = FakeClock()
    limiter: ItemBackoff[Request] = ItemBackoff(Backoff(base=1, jitter=0))
    queue: WorkQueue[Request] = WorkQueue("demo", clock=clock, limiter=limiter)
    metrics = Metrics(CollectorRegistry())
    controller = Controller(
        name="demo",
        reconciler=Scripted(script),
        queue=queue,
        clock=clock,
        workers=workers,
        metrics=metrics.controller("demo", workers=workers),
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(controller.run())
        yield World(clock, queue, limiter, controller, metrics)
        controller.stop()


@attrs.define
class Ends:
    """Ends its passes in the given ways, then well; remembers when each began."""

    clock: list[FakeClock] = attrs.field(factory=list)
    ways: list[Result | BaseException] = attrs.field(factory=list)
    begun: list[float] = attrs.field(factory=list)

    async def __call__(self, _: Request) -> Result:
        self.begun.append(self.clock[0].monotonic() - 1000)
        way = self.ways.pop(0) if self.ways else DONE
        if isinstance(way, BaseException):
            raise way
        return way


async def passes_begun(*ways: Result | BaseException) -> tuple[list[float], World]:
    """When passes began that ended in *ways*, and the world two minutes later."""
    script = Ends(ways=list(ways))
    with capture_logs():
        async with controlled(script) as world:
            script.clock.append(world.clock)
            world.queue.add(A)
            await world.clock.advance(120)
    return script.begun, world


@pytest.mark.parametrize(
    ("ways", "begun"),
    [
        ([DONE], [0]),
        ([Result(after=30)], [0, 30]),
        ([Result(after=0)], [0, 0]),
        ([OSError("no"), OSError("no"), OSError("no")], [0, 1, 3, 7]),
        ([ConflictError("changed"), ConflictError("changed")], [0, 1, 3]),
        ([ThrottledError("later", retry_after=20)], [0, 20]),
        ([ThrottledError("later", retry_after=0.5)], [0, 1]),
        ([ExceptionGroup("two", [OSError("no"), ThrottledError("later", retry_after=9)])], [0, 9]),
        ([TerminalError("never")], [0]),
        ([ExceptionGroup("two", [TerminalError("a"), TerminalError("b")])], [0]),
        ([ExceptionGroup("two", [TerminalError("a"), OSError("b")])], [0, 1]),
        ([OSError("no"), Result(after=10), OSError("no")], [0, 1, 11, 12]),
    ],
    ids=repr,
)
async def test_l3_what_follows_a_pass_is_what_the_contract_says_and_nothing_is_remembered(
    ways: list[Result | BaseException], begun: list[float]
) -> None:
    actual, world = await passes_begun(*ways)

    assert begun == actual
    assert 0 == len(world.limiter)


@given(
    st.lists(
        st.sampled_from(
            [DONE, Result(after=1), OSError("no"), ConflictError("x"), TerminalError("never")]
        )
    )
)
def test_c10_results_add_up_to_the_passes_and_no_worker_stays_active(
    ways: list[Result | BaseException],
) -> None:
    begun, world = asyncio.run(passes_begun(*ways))

    results = ("error", "requeue_after", "requeue", "success")
    assert len(begun) == sum(
        world.count("runtime_reconcile_total", result=result) or 0 for result in results
    )
    assert 0 == world.count("runtime_active_workers")
    assert len(begun) == world.count("runtime_reconcile_time_seconds_count")


async def test_c2_no_more_passes_run_at_once_than_there_are_workers() -> None:
    running: list[int] = []
    now = 0

    async def script(request: Request) -> Result:
        nonlocal now
        now += 1
        running.append(now)
        await world.clock.sleep(1)
        now -= 1
        return DONE

    async with controlled(script, workers=3) as world:
        await settle()
        tasks = len(asyncio.all_tasks())
        for number in range(50):
            world.queue.add(Request("team", str(number)))
        await settle()
        assert tasks == len(asyncio.all_tasks())
        await world.clock.advance(60)

    assert 50 == len(running)
    assert 3 == max(running)


async def test_c3_a_defect_is_counted_and_backed_off_and_its_worker_goes_on() -> None:
    seen: list[Request] = []

    async def script(request: Request) -> Result:
        seen.append(request)
        if request == A:
            raise KeyError("defect")
        return DONE

    async with controlled(script, workers=1) as world:
        world.queue.add(A)
        world.queue.add(B)
        await settle()

    assert [A, B] == seen
    assert 1 == len(world.limiter)
    assert 1 == world.count("runtime_reconcile_panics_total")
    assert 1 == world.count("runtime_reconcile_errors_total")


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


async def test_g2_stopping_lets_the_running_pass_finish_and_begins_no_other() -> None:
    ended: list[Request] = []

    async def script(request: Request) -> Result:
        await world.clock.sleep(5)
        ended.append(request)
        return DONE

    async with controlled(script, workers=1) as world:
        world.queue.add(A)
        world.queue.add(B)
        await settle()
        world.controller.stop()
        await world.clock.advance(60)

    assert [A] == ended


async def line_of(way: Result | BaseException) -> EventDict:
    """The one line that a pass which ended in that way wrote."""
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logs:

        async def script(request: Request) -> Result:
            structlog.contextvars.bind_contextvars(actions=["create Pod"])
            await world.clock.sleep(0.25)
            if isinstance(way, BaseException):
                raise way
            return way

        async with controlled(script) as world:
            world.queue.add(A)
            await world.clock.advance(0.5)
    assert 1 == len(logs)
    return logs[0]


@pytest.mark.parametrize(
    ("way", "level", "outcome", "words"),
    [
        (DONE, "info", "success", {}),
        (Result(after=60), "info", "requeue_after", {}),
        (ConflictError("it changed"), "info", "requeue", {"why": "it changed"}),
        (TerminalError("no image"), "warning", "terminal", {"error": "no image"}),
        (ForbiddenError("quota"), "warning", "error", {"error": "quota"}),
        (
            ExceptionGroup("both", [ForbiddenError("quota"), ConflictError("it changed")]),
            "warning",
            "error",
            {"error": "quota; it changed"},
        ),
    ],
    ids=repr,
)
async def test_a_pass_writes_one_line_as_loud_as_its_outcome(
    way: Result | BaseException, level: str, outcome: str, words: dict[str, str]
) -> None:
    line = await line_of(way)

    assert len(line.pop("reconcile_id")) == 36
    assert {
        "event": "reconciled",
        "log_level": level,
        "controller": "demo",
        "namespace": "team",
        "name": "a",
        "outcome": outcome,
        "seconds": 0.25,
        "actions": ["create Pod"],
        **words,
    } == line


async def test_a_defect_is_logged_with_its_traceback() -> None:
    defect = KeyError("defect")

    line = await line_of(defect)

    assert ("error", defect) == (line["log_level"], line["exc_info"])


async def test_what_one_pass_bound_to_its_lines_is_not_on_the_next_ones() -> None:
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logs:

        async def script(request: Request) -> Result:
            if request == A:
                structlog.contextvars.bind_contextvars(actions=["create Pod"])
            return DONE

        async with controlled(script, workers=1) as world:
            world.queue.add(A)
            world.queue.add(B)
            await settle()

    assert [True, False] == ["actions" in line for line in logs]
    assert logs[0]["reconcile_id"] != logs[1]["reconcile_id"]
