"""A queue of keys that are each handled by one worker at a time, and never forgotten.

Adding a key twice before it is handed out makes one pass, and adding it while a worker
holds it makes exactly one more. The queue holds keys, not events: it is bounded by the
number of objects, so producers never wait.
"""

import asyncio
from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar

from gpustack_ctrl.runtime.clock import Clock, TimerHandle
from gpustack_ctrl.runtime.ratelimit import RateLimiter, retry_limiter
from gpustack_ctrl.runtime.schedule import Priority, Schedule

K = TypeVar("K", bound=Hashable)

HIGH = Priority.HIGH
LOW = Priority.LOW


class ShutDownError(Exception):
    """The queue hands out nothing any more."""


class QueueMetrics(Protocol):
    """Who wants to know how a queue is doing. All times are in seconds."""

    def depth(self, priority: Priority, ready: int) -> None:
        """So many keys of that class are ready."""
        ...

    def added(self, keys: int) -> None:
        """So many keys have become ready."""
        ...

    def handed_out(self, waited: float) -> None:
        """A worker got a key that had been ready for that long."""
        ...

    def finished(self, worked: float) -> None:
        """A worker let go of a key after that long."""
        ...

    def retried(self) -> None:
        """A key was added with a delay."""
        ...

    def observe_running(self, ages: Callable[[], tuple[float, ...]]) -> None:
        """Call *ages* at any time to learn for how long each held key has been held."""
        ...


class NoQueueMetrics:
    """Nobody wants to know."""

    def depth(self, priority: Priority, ready: int) -> None:
        """Ignored."""

    def added(self, keys: int) -> None:
        """Ignored."""

    def handed_out(self, waited: float) -> None:
        """Ignored."""

    def finished(self, worked: float) -> None:
        """Ignored."""

    def retried(self) -> None:
        """Ignored."""

    def observe_running(self, ages: Callable[[], tuple[float, ...]]) -> None:
        """Ignored."""


class WorkQueue(Generic[K]):
    """The keys that want a pass, and the workers' turns.

    Guarantees: one worker a key; no add is lost, except by `shut_down`; a key with a
    delay keeps the earliest time asked for, and an immediate add replaces it; of the
    keys that are ready the high class comes first, but the low one is not starved.

    Assumptions: all calls come from the event loop's thread.
    """

    def __init__(
        self,
        name: str,
        *,
        clock: Clock,
        limiter: RateLimiter[K] | None = None,
        metrics: QueueMetrics | None = None,
    ) -> None:
        self.name = name
        self._clock = clock
        self._limiter: RateLimiter[K] = limiter if limiter is not None else retry_limiter(clock)
        self._metrics: QueueMetrics = metrics or NoQueueMetrics()
        self._schedule: Schedule[K] = Schedule()
        self._started: dict[K, float] = {}
        self._ready = asyncio.Event()
        self._timer: TimerHandle | None = None
        self._timer_due: float | None = None
        self._reported = 0
        self._shut_down = False
        self._metrics.observe_running(self.running_seconds)

    def add(self, key: K, *, priority: Priority = HIGH) -> None:
        """Ask for a pass over *key* now."""
        now = self._clock.monotonic()
        self._want(key, now=now, due=now, priority=priority)

    def add_after(self, key: K, seconds: float, *, priority: Priority | None = None) -> None:
        """Ask for a pass over *key* in so many *seconds*.

        Without *priority*, a worker that holds the key asks at the priority of its pass.
        """
        self._metrics.retried()
        now = self._clock.monotonic()
        self._want(key, now=now, due=now + seconds, priority=priority)

    def add_rate_limited(self, key: K, *, at_least: float = 0.0) -> None:
        """Ask for a pass over *key* after its back-off, but not before *at_least* seconds."""
        self.add_after(key, max(self._limiter.when(key), at_least))

    def forget(self, key: K) -> None:
        """Take *key* for one that never failed."""
        self._limiter.forget(key)

    async def get(self) -> K:
        """Wait for the next key and hold it; `done` must follow.

        A cancelled call has taken nothing: the key is taken without waiting in between.

        Raises ShutDownError once the queue was shut down.
        """
        await self._clock.sleep(0)  # A worker that never waits must not starve the other tasks.
        while not self._shut_down:
            taken = self._schedule.take(self._clock.monotonic())
            if taken is not None:
                self._started[taken.key] = self._clock.monotonic()
                self._metrics.handed_out(taken.waited)
                self._follow_up()
                return taken.key
            self._ready.clear()
            await self._ready.wait()
        raise ShutDownError(f"workqueue {self.name} was shut down")

    def done(self, key: K) -> None:
        """Let go of *key*; if it was added meanwhile, it is ready again.

        Raises ValueError when nobody holds *key*.
        """
        now = self._clock.monotonic()
        self._schedule.release(key, now=now)
        self._metrics.finished(now - self._started.pop(key))
        self._follow_up()

    def shut_down(self) -> None:
        """Hand out nothing more and wake everybody who waits; harmless when repeated.

        Passes that are under way may still call `done`. What was queued is dropped: the
        next process lists the world anew.
        """
        self._shut_down = True
        self._disarm()
        self._ready.set()

    def running_seconds(self) -> tuple[float, ...]:
        """For how long each held key has been held."""
        now = self._clock.monotonic()
        return tuple(now - started for started in self._started.values())

    def __len__(self) -> int:
        """How many keys are ready to be handed out."""
        return len(self._schedule)

    def _want(self, key: K, *, now: float, due: float, priority: Priority | None) -> None:
        if self._shut_down:
            return
        self._schedule.want(key, now=now, due=due, priority=priority)
        self._follow_up()

    def _tick(self) -> None:
        self._disarm()
        self._schedule.promote(self._clock.monotonic())
        self._follow_up()

    def _follow_up(self) -> None:
        """After each change: tell the metrics, wake the workers, set the timer."""
        self._metrics.added(self._schedule.became_ready - self._reported)
        self._reported = self._schedule.became_ready
        for priority in Priority:
            self._metrics.depth(priority, self._schedule.depth(priority))
        if self._shut_down:
            return
        if len(self._schedule):
            self._ready.set()
        self._arm(self._schedule.next_due())

    def _arm(self, due: float | None) -> None:
        if due == self._timer_due:
            return
        self._disarm()
        if due is None:
            return
        self._timer_due = due
        self._timer = self._clock.call_later(due - self._clock.monotonic(), self._tick)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._timer_due = None
