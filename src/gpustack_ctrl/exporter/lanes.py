"""How many requests may be on their way at once.

Nodes that do not answer hold their place until the deadline. So those that failed last
have a lane of their own, and never more of them wait than fit into it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_SLOW_SHARE = 4


class Lanes:
    """So many requests *in_flight*, a quarter of which are for nodes that failed last."""

    def __init__(self, in_flight: int) -> None:
        slow = max(1, in_flight // _SLOW_SHARE)
        self._slow = asyncio.Semaphore(slow)
        self._fast = asyncio.Semaphore(max(1, in_flight - slow))

    @property
    def slow_is_full(self) -> bool:
        """Whether one would have to wait in the lane of those that failed last."""
        return self._slow.locked()

    @asynccontextmanager
    async def entered(self, *, failed_before: bool) -> AsyncIterator[None]:
        """Have a place for the length of the block."""
        async with self._slow if failed_before else self._fast:
            yield
