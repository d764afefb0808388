"""A clock that stands still until a test advances it."""

import asyncio
import heapq
import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import attrs

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
ROUNDS_UNTIL_LIVELOCK = 100_000


@attrs.define
class FakeTimer:
    """A callback waiting in a `FakeClock`."""

    callback: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


@attrs.define
class FakeClock:
    """A `Clock` on which time passes only in `advance`.

    Between two timers every task runs until it waits for time or for the test, so a
    test sees the same interleaving in each run.
    """

    _monotonic: float = 1000.0
    _wall: datetime = EPOCH
    _timers: list[tuple[float, int, FakeTimer]] = attrs.field(factory=list, init=False)
    _order: "itertools.count[int]" = attrs.field(factory=itertools.count, init=False)

    def monotonic(self) -> float:
        return self._monotonic

    def now(self) -> datetime:
        return self._wall

    def call_later(self, seconds: float, callback: Callable[[], None]) -> FakeTimer:
        timer = FakeTimer(callback)
        heapq.heappush(self._timers, (self._monotonic + seconds, next(self._order), timer))
        return timer

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await _yield()
            return
        woken = asyncio.Event()
        timer = self.call_later(seconds, woken.set)
        try:
            await woken.wait()
        finally:
            timer.cancel()

    async def advance(self, seconds: float) -> None:
        """Let *seconds* pass, firing each timer at its time and settling after it."""
        target = self._monotonic + seconds
        await settle()
        while (due := self.next_due()) is not None and due <= target:
            self._move_to(due)
            heapq.heappop(self._timers)[2].callback()
            await settle()
        self._move_to(target)

    def stall(self, seconds: float) -> None:
        """Let *seconds* pass while the event loop is stuck.

        As on the real one, the timers that came due meanwhile fire at its end, before
        any task gets its turn.
        """
        target = self._monotonic + seconds
        self._move_to(target)
        while (due := self.next_due()) is not None and due <= target:
            heapq.heappop(self._timers)[2].callback()

    def jump(self, seconds: float) -> None:
        """Set the time of day by *seconds*, as a time server may; no interval changes."""
        self._wall += timedelta(seconds=seconds)

    def next_due(self) -> float | None:
        """When the next timer fires, on the monotonic scale; None without one."""
        while self._timers and self._timers[0][2].cancelled:
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    @property
    def pending(self) -> int:
        """How many timers wait."""
        return sum(not timer.cancelled for _, _, timer in self._timers)

    def _move_to(self, moment: float) -> None:
        passed = max(0.0, moment - self._monotonic)
        self._monotonic += passed
        self._wall += timedelta(seconds=passed)


async def settle() -> None:
    """Return once no task can go on without time, a socket or the caller."""
    ready = asyncio.get_running_loop()._ready  # type: ignore[attr-defined] # noqa: SLF001 -- nothing public tells a quiet loop.
    for _ in range(ROUNDS_UNTIL_LIVELOCK):
        await _yield()
        if not ready:
            return
    raise AssertionError("tasks keep waking one another without any time passing")


async def _yield() -> None:
    await asyncio.sleep(0)  # noqa: TID251 -- takes no time, only lets others run.
