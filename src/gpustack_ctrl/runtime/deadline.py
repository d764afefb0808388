"""A time limit measured by a `Clock`, so that tests can let it pass."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from gpustack_ctrl.runtime.clock import Clock


@asynccontextmanager
async def deadline(
    clock: Clock, seconds: float, *, on_expiry: Callable[[], None] = lambda: None
) -> AsyncIterator[None]:
    """Cancel the block once *seconds* have passed, after calling *on_expiry*.

    The cancellation leaves the block as a `TimeoutError` that names the limit.
    """
    scope = asyncio.timeout(None)

    def expire() -> None:
        on_expiry()
        scope.reschedule(asyncio.get_running_loop().time())

    try:
        async with scope:
            timer = clock.call_later(seconds, expire)
            try:
                yield
            finally:
                timer.cancel()
    except TimeoutError as error:
        if scope.expired():
            raise TimeoutError(f"took more than {seconds:g} s") from error
        raise
