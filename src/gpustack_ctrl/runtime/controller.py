"""The workers of one queue: they turn requests into passes, and passes into what is next."""

import asyncio
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, assert_never

import attrs
import structlog

from gpustack_ctrl.runtime.clock import Clock
from gpustack_ctrl.runtime.deadline import deadline
from gpustack_ctrl.runtime.outcome import (
    Again,
    BackOff,
    Forget,
    Outcome,
    of_error,
    of_result,
    one_line,
)
from gpustack_ctrl.runtime.reconcile import Reconciler, Request
from gpustack_ctrl.runtime.workqueue import ShutDownError, WorkQueue

log = structlog.get_logger(__name__)


class ControllerMetrics(Protocol):
    """Who wants to know how a controller is doing."""

    def started(self) -> None:
        """A worker began a pass."""
        ...

    def finished(self, outcome: Outcome, seconds: float) -> None:
        """A pass came to *outcome* after so many seconds."""
        ...

    def interrupted(self) -> None:
        """A pass was cancelled because the controller stops."""
        ...

    def timed_out(self) -> None:
        """A pass reached its time limit and was cancelled."""
        ...

    def overdue(self, passes: int) -> None:
        """So many passes have been cancelled at their time limit, and still run."""
        ...


class NoControllerMetrics:
    """Nobody wants to know."""

    def started(self) -> None:
        """Ignored."""

    def finished(self, outcome: Outcome, seconds: float) -> None:
        """Ignored."""

    def interrupted(self) -> None:
        """Ignored."""

    def timed_out(self) -> None:
        """Ignored."""

    def overdue(self, passes: int) -> None:
        """Ignored."""


@attrs.define(kw_only=True, eq=False)
class Controller:
    """Runs *reconciler* for the keys of *queue*, with at most *workers* passes at once.

    Guarantees: a failing pass ends neither its worker nor another pass; a pass that runs
    for *timeout* seconds is cancelled, and its key stays held until it really ends.
    """

    name: str
    reconciler: Reconciler
    queue: WorkQueue[Request]
    clock: Clock
    workers: int = 4
    timeout: float = 300.0
    metrics: ControllerMetrics = attrs.field(factory=NoControllerMetrics)
    _overdue: set[Request] = attrs.field(factory=set, init=False)

    async def run(self) -> None:
        """Work until `stop`; cancelling it cancels the passes that are under way."""
        async with asyncio.TaskGroup() as group:
            for number in range(self.workers):
                group.create_task(self._work(), name=f"{self.name}-{number}")

    def stop(self) -> None:
        """Begin no further pass; `run` returns when the last one ends."""
        self.queue.shut_down()

    def check(self) -> str | None:
        """Why no work gets done, for the liveness probe; None as long as some does."""
        if len(self._overdue) < self.workers:
            return None
        return f"all {self.workers} workers of {self.name} ignore that their time limit is over"

    async def _work(self) -> None:
        while True:
            try:
                request = await self.queue.get()
            except ShutDownError:
                return
            try:
                await self._pass(request)
            finally:
                self.queue.done(request)

    async def _pass(self, request: Request) -> None:
        with _logging(
            controller=self.name,
            namespace=request.namespace,
            name=request.name,
            reconcile_id=str(uuid.uuid4()),
        ):
            started = self.clock.monotonic()
            outcome = await self._observed(request)
            seconds = self.clock.monotonic() - started
            self.metrics.finished(outcome, seconds)
            self._enqueue(request, outcome)
            _report(outcome, seconds)

    async def _observed(self, request: Request) -> Outcome:
        """Run a pass and tell the metrics of it, also when it is cut short."""
        self.metrics.started()
        try:
            return await self._attempt(request)
        except BaseException:
            self.metrics.interrupted()
            raise

    async def _attempt(self, request: Request) -> Outcome:
        """Run one pass. Only the cancellation of the worker itself leaves this method."""
        try:
            async with deadline(self.clock, self.timeout, on_expiry=lambda: self._expired(request)):
                return of_result(await self.reconciler.reconcile(request))
        except Exception as error:  # noqa: BLE001 -- the boundary: whatever it is becomes an outcome.
            return of_error(error)
        except asyncio.CancelledError as error:
            if _being_cancelled():
                raise
            return of_error(RuntimeError(f"a task the pass waited for was cancelled: {error!r}"))
        finally:
            self._overdue.discard(request)
            self.metrics.overdue(len(self._overdue))

    def _expired(self, request: Request) -> None:
        self._overdue.add(request)
        self.metrics.timed_out()
        self.metrics.overdue(len(self._overdue))

    def _enqueue(self, request: Request, outcome: Outcome) -> None:
        match outcome.then:
            case Forget():
                self.queue.forget(request)
            case Again(after=seconds):
                self.queue.forget(request)
                self.queue.add_after(request, seconds)
            case BackOff(at_least=seconds):
                self.queue.add_rate_limited(request, at_least=seconds)
            case _:
                assert_never(outcome.then)


def _report(outcome: Outcome, seconds: float) -> None:
    """Write the one line about a pass, as loud as its outcome deserves."""
    took = round(seconds, 6)
    if outcome.error is None:
        log.info("reconciled", outcome=outcome.label, seconds=took)
        return
    word = "terminal" if outcome.terminal else outcome.label
    why = one_line(outcome.error)
    if outcome.label == "requeue":
        log.info("reconciled", outcome=word, seconds=took, why=why)
    elif outcome.foreseen:
        log.warning("reconciled", outcome=word, seconds=took, error=why)
    else:
        log.error("reconciled", outcome=word, seconds=took, error=why, exc_info=outcome.error)


def _being_cancelled() -> bool:
    """Whether somebody asked for the end of the running task."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


@contextmanager
def _logging(**fields: str) -> Iterator[None]:
    """Give *fields* to each log line of the block, then drop whatever the block bound."""
    before = structlog.contextvars.get_contextvars()
    structlog.contextvars.bind_contextvars(**fields)
    try:
        yield
    finally:
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(**before)
