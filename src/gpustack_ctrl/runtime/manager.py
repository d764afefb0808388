"""The life of the process: what starts after what, and ends before what.

Servers answer first, so that probes tell the truth from the start. Then the caches
fill, also on a standby; then leadership is won; only then do controllers work. The end
is the same in reverse: the lease is given back after the last pass, never before.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from enum import IntEnum
from typing import Protocol

import attrs
import structlog

from gpustack_ctrl.runtime.clock import Clock, TimerHandle
from gpustack_ctrl.runtime.election import LeadershipLostError
from gpustack_ctrl.runtime.layers import (
    Informer,
    NotSyncedError,
    Runnable,
    Server,
    Stoppable,
    draining,
    running,
    served,
    synced,
)
from gpustack_ctrl.runtime.outcome import leaves, one_line

log = structlog.get_logger(__name__)

UNWIND_SECONDS = 5.0
"""What an orderly end may take beyond the grace period of the controllers."""

LOSS_SECONDS = 1.0
"""What the end may take when leadership is lost."""


class Elector(Protocol):
    """Who decides whether this process may act."""

    async def run(self) -> None:
        """Win leadership and keep it; raise LeadershipLostError when that fails."""
        ...

    async def won(self) -> None:
        """Return once this process leads."""
        ...

    async def release(self) -> None:
        """Let another process lead, if this one does; called after `run` has ended."""
        ...


class Ending(IntEnum):
    """Why the process ended: its exit code."""

    STOPPED = 0
    NOT_SYNCED = 3
    LEADERSHIP_LOST = 4
    FORCED = 5


@attrs.define(kw_only=True, eq=False)
class Manager:
    """Runs all parts of a process in order, and ends them in reverse.

    Guarantees: no pass begins before every informer is synced and, with an *elector*,
    leadership is won; the lease is released after the last pass; a stop takes at most
    *grace* seconds and `UNWIND_SECONDS`; a lost leadership at most `LOSS_SECONDS`, and
    a second `stop` no time at all.

    Assumptions: *exit* ends the process without unwinding, as `os._exit` does.
    """

    clock: Clock
    servers: Sequence[Server] = ()
    background: Sequence[Runnable] = ()
    informers: Sequence[Informer] = ()
    elector: Elector | None = None
    controllers: Sequence[Stoppable] = ()
    grace: float = 30.0
    sync_timeout: float = 120.0
    exit: Callable[[int], object] = os._exit
    _scope: asyncio.Timeout | None = attrs.field(default=None, init=False)
    _last_resort: TimerHandle | None = attrs.field(default=None, init=False)
    _synced: bool = attrs.field(default=False, init=False)
    _stopping: bool = attrs.field(default=False, init=False)
    _lost: bool = attrs.field(default=False, init=False)

    async def run(self) -> Ending:
        """Run until `stop`, or until the process cannot do its work any more.

        An error that no `Ending` stands for is raised.
        """
        try:
            await self._until_stopped()
        except Exception as error:  # noqa: BLE001 -- what is not foreseen is raised again.
            return _foreseen(error)
        finally:
            self._disarm()
        log.info("ended", ending="stopped")
        return Ending.STOPPED

    def stop(self) -> None:
        """End in an orderly manner; a second call ends the process at once."""
        if self._stopping:
            log.warning("stopped for the second time: ending at once")
            self.exit(Ending.FORCED)
            return
        self._stopping = True
        if self._scope is not None:
            log.info("stopping")
            self._scope.reschedule(asyncio.get_running_loop().time())

    def ready(self) -> str | None:
        """Why the process is not ready, for the readiness probe; a standby is ready."""
        if self._stopping:
            return "the process is stopping"
        if self._synced:
            return None
        late = ", ".join(informer.name for informer in self.informers if not informer.synced)
        return f"informers not synced: {late}" if late else "the process is starting"

    async def _until_stopped(self) -> None:
        """Live; `stop` is a cancellation that ends here."""
        if self._stopping:
            return
        self._scope = asyncio.timeout(None)
        try:
            async with self._scope:
                await self._live()
        except TimeoutError:
            if not self._scope.expired():
                raise
        finally:
            self._scope = None

    async def _live(self) -> None:
        async with served(self.servers), running(self.background), running(self.informers):
            await synced(self.informers, self.clock, self.sync_timeout)
            self._synced = True
            log.info("caches are filled")
            async with self._leading(), self._working():
                await asyncio.Event().wait()

    @asynccontextmanager
    async def _leading(self) -> AsyncIterator[None]:
        """Lead within the block, and release the lease after it."""
        if self.elector is None:
            yield
            return
        async with asyncio.TaskGroup() as group:
            campaign = group.create_task(self._campaign(self.elector), name="elector")
            try:
                await self.elector.won()
                log.info("leading")
                yield
            finally:
                campaign.cancel()
                await asyncio.wait({campaign})
                await self.elector.release()

    async def _campaign(self, elector: Elector) -> None:
        try:
            await elector.run()
        except LeadershipLostError:
            self._lost = True
            self._end_within(LOSS_SECONDS, Ending.LEADERSHIP_LOST)
            raise

    @asynccontextmanager
    async def _working(self) -> AsyncIterator[None]:
        """The controllers work within the block, and finish their passes at its end."""
        async with draining(self.controllers, self.clock, grace=self._grace_left):
            try:
                yield
            finally:
                if not self._lost:
                    self._end_within(self.grace + UNWIND_SECONDS, Ending.FORCED)

    def _grace_left(self) -> float:
        return 0.0 if self._lost else self.grace

    def _end_within(self, seconds: float, ending: Ending) -> None:
        """End the process after *seconds*, whatever still runs then."""
        self._disarm()
        self._last_resort = self.clock.call_later(seconds, lambda: self._give_up(ending))

    def _give_up(self, ending: Ending) -> None:
        log.error("parts do not end: ending the process", ending=ending.name.lower())
        self.exit(ending)

    def _disarm(self) -> None:
        if self._last_resort is not None:
            self._last_resort.cancel()
            self._last_resort = None


def _foreseen(error: Exception) -> Ending:
    """The ending that *error* stands for; raises *error* when there is none."""
    ending = _ending(error)
    if ending is None:
        raise error
    log.error("ended", ending=ending.name.lower(), error=one_line(error))
    return ending


def _ending(error: Exception) -> Ending | None:
    """The foreseen reason to end that *error* is, or contains."""
    causes = tuple(leaves(error))
    if any(isinstance(cause, LeadershipLostError) for cause in causes):
        return Ending.LEADERSHIP_LOST
    if any(isinstance(cause, NotSyncedError) for cause in causes):
        return Ending.NOT_SYNCED
    return None
