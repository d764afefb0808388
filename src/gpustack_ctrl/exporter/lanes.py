"""How many requests may be on their way at once.

Nodes that do not answer hold their place until the deadline. So a place in the fast lane is
had for a moment only, and whoever needs longer has a lane of their own: never more of them
wait for an answer than fit into it, however many nodes fail together.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from gpustack_ctrl.runtime.clock import Clock
from gpustack_ctrl.runtime.deadline import deadline

QUICK_SECONDS = 1.0
_SLOW_SHARE = 4

T = TypeVar("T")


class Lanes:
    """So many requests *in_flight*, a quarter of which are for those that take their time."""

    def __init__(self, in_flight: int, clock: Clock) -> None:
        slow = max(1, in_flight // _SLOW_SHARE)
        self._slow = asyncio.Semaphore(slow)
        self._fast = asyncio.Semaphore(max(1, in_flight - slow))
        self._clock = clock

    @property
    def slow_is_full(self) -> bool:
        """Whether one would have to wait in the lane of those that take their time."""
        return self._slow.locked()

    async def quickly(self, read: Callable[[], Awaitable[T]]) -> T | None:
        """What *read* gives in a moment; None where it is cut off."""
        async with self._fast:
            try:
                async with deadline(self._clock, QUICK_SECONDS):
                    return await read()
            except TimeoutError:
                return None

    async def patiently(self, read: Callable[[], Awaitable[T]]) -> T:
        """What *read* gives, whenever that is."""
        async with self._slow:
            return await read()
