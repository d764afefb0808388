"""Time as a parameter: the only module that touches the real one.

Durations are in seconds. Intervals are measured with `monotonic`, which no operator
and no time server can set back; `now` is only for what people read.
"""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol


class TimerHandle(Protocol):
    """A callback that is due later, unless it is cancelled before."""

    def cancel(self) -> None:
        """Forget the callback; harmless after it ran."""
        ...


class Clock(Protocol):
    """What the runtime knows of time."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment; they never go back."""
        ...

    def now(self) -> datetime:
        """The time of day in UTC, with its zone; it may jump either way."""
        ...

    def call_later(self, seconds: float, callback: Callable[[], None]) -> TimerHandle:
        """Run *callback* on the event loop once *seconds* have passed."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after *seconds*; other tasks get their turn even for 0."""
        ...


class SystemClock:
    """The clock of this machine and of the running event loop."""

    def monotonic(self) -> float:
        """Seconds of the machine's monotonic clock."""
        return time.monotonic()

    def now(self) -> datetime:
        """The machine's time of day, in UTC."""
        return datetime.now(UTC)

    def call_later(self, seconds: float, callback: Callable[[], None]) -> TimerHandle:
        """Run *callback* on the running event loop once *seconds* have passed."""
        return asyncio.get_running_loop().call_later(seconds, callback)

    async def sleep(self, seconds: float) -> None:
        """Return after *seconds* of real time."""
        await asyncio.sleep(seconds)
