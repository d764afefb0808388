"""The layers a process is built of, each as a context: up on entry, down on exit.

Nested in one `async with`, they come up in the order written and go down in reverse.
A part that fails cancels the block it surrounds, and with it all inner layers.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Protocol

import structlog

from gpustack_ctrl.runtime.clock import Clock
from gpustack_ctrl.runtime.deadline import deadline

log = structlog.get_logger(__name__)


class EndedError(Exception):
    """A part that has to run for ever returned."""


class NotSyncedError(Exception):
    """A cache did not fill in time; the message says which, and why."""


class Runnable(Protocol):
    """Whatever runs until it is cancelled."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    async def run(self) -> None:
        """Do the work, for ever."""
        ...


class Informer(Runnable, Protocol):
    """A cache that follows the API server."""

    @property
    def synced(self) -> bool:
        """Whether the cache holds a complete picture."""
        ...

    @property
    def trouble(self) -> str:
        """Why it does not fill: the last error, or nothing."""
        ...

    async def wait_synced(self) -> None:
        """Return once the cache holds a complete picture, and its handlers know it."""
        ...


class Stoppable(Runnable, Protocol):
    """Whatever can end its work in an orderly manner."""

    def stop(self) -> None:
        """Begin nothing new; `run` returns when what was begun has ended."""
        ...


class Server(Protocol):
    """Whatever listens on a port."""

    async def start(self) -> None:
        """Return once it accepts connections."""
        ...

    async def stop(self) -> None:
        """Return once the port is closed."""
        ...


@asynccontextmanager
async def served(servers: Sequence[Server]) -> AsyncIterator[None]:
    """All *servers* answer within the block."""
    async with AsyncExitStack() as stack:
        for server in servers:
            await server.start()
            stack.push_async_callback(server.stop)
        yield


@asynccontextmanager
async def running(parts: Sequence[Runnable]) -> AsyncIterator[None]:
    """All *parts* run within the block; they are cancelled at its end."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_endless(part), name=part.name) for part in parts]
        try:
            yield
        finally:
            cancel(tasks)


async def synced(informers: Sequence[Informer], clock: Clock, seconds: float) -> None:
    """Return once all *informers* are synced.

    Raises NotSyncedError when *seconds* have passed.
    """
    try:
        async with deadline(clock, seconds):
            for informer in informers:
                await informer.wait_synced()
    except TimeoutError:
        late = "; ".join(_lateness(informer) for informer in informers if not informer.synced)
        raise NotSyncedError(f"not synced after {seconds:g} s: {late}") from None


@asynccontextmanager
async def draining(
    parts: Sequence[Stoppable], clock: Clock, *, grace: Callable[[], float]
) -> AsyncIterator[None]:
    """All *parts* run within the block.

    At its end each may finish what it has begun; *grace* is asked then for how many
    seconds. What still runs after them is cancelled.
    """
    async with asyncio.TaskGroup() as group:
        tasks = {group.create_task(part.run(), name=part.name) for part in parts}
        try:
            yield
        finally:
            for part in parts:
                part.stop()
            await _finish(tasks, clock, grace())


def cancel(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Ask all *tasks* to end."""
    for task in tasks:
        task.cancel()


async def _finish(tasks: set[asyncio.Task[None]], clock: Clock, seconds: float) -> None:
    """Give *tasks* so many seconds to end by themselves, then cancel them."""
    if not tasks or seconds <= 0:
        cancel(tuple(tasks))
        return
    timer = clock.call_later(seconds, lambda: _cut_short(tasks))
    try:
        await asyncio.wait(tasks)
    finally:
        timer.cancel()


def _cut_short(tasks: set[asyncio.Task[None]]) -> None:
    slow = [task for task in tasks if not task.done()]
    log.warning("grace period is over", still_running=sorted(task.get_name() for task in slow))
    cancel(slow)


async def _endless(part: Runnable) -> None:
    await part.run()
    raise EndedError(f"{part.name} ended, though it has to run as long as the process")


def _lateness(informer: Informer) -> str:
    return f"informer {informer.name}: {informer.trouble or 'no answer to its list yet'}"
