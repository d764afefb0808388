"""A deadline for hearing something, as a half-open connection never fails by itself."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gpustack_ctrl.runtime.clock import Clock, TimerHandle

LAST_CHANCE_SECONDS = 0.5


class Silence:
    """How long nothing was heard, with one timer however often something is."""

    def __init__(self, clock: Clock, timeout: asyncio.Timeout, *, allowed: float) -> None:
        self._clock = clock
        self._timeout = timeout
        self._allowed = allowed
        self._heard = clock.monotonic()
        self._timer: TimerHandle = clock.call_later(allowed, self._check)

    def heard(self) -> float:
        """Something came: count from now, which is returned."""
        self._heard = self._clock.monotonic()
        return self._heard

    def allow(self, seconds: float) -> None:
        """From now on, let silence last for *seconds*."""
        self.stop()
        self._allowed = seconds
        self._wait_on()

    def stop(self) -> None:
        """Let silence last for ever."""
        self._timer.cancel()

    def _wait_on(self) -> None:
        left = self._heard + self._allowed - self._clock.monotonic()
        self._timer = self._clock.call_later(max(left, 0.0), self._check)

    def _check(self) -> None:
        """Wait on if something was heard; else give bytes that already wait their chance.

        After a stall of the event loop this runs before the reader gets its turn.
        """
        if self._heard + self._allowed > self._clock.monotonic():
            self._wait_on()
            return
        self._timer = self._clock.call_later(LAST_CHANCE_SECONDS, self._give_up)

    def _give_up(self) -> None:
        if self._heard + self._allowed > self._clock.monotonic():
            self._wait_on()
            return
        self._timeout.reschedule(0.0)  # Long past on the event loop's own clock: now.


@asynccontextmanager
async def silence_limit(clock: Clock, *, allowed: float) -> AsyncIterator[Silence]:
    """Raise `TimeoutError` in the block once nothing was `heard` for *allowed* seconds."""
    async with asyncio.timeout(None) as timeout:
        silence = Silence(clock, timeout, allowed=allowed)
        try:
            yield silence
        finally:
            silence.stop()
