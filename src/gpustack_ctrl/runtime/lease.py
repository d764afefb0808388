"""Takes part in a leader election: does what `election` decides, on time."""

import asyncio
import random
import uuid
from collections.abc import Callable
from typing import Protocol

import attrs
import structlog

from gpustack_ctrl.api.errors import ApiError, ConflictError, NotFoundError
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.runtime.clock import Clock
from gpustack_ctrl.runtime.deadline import deadline
from gpustack_ctrl.runtime.election import (
    JITTER_FACTOR,
    Create,
    Election,
    LeadershipLostError,
    Lease,
    Update,
    Wait,
)

log = structlog.get_logger(__name__)


class LeaseClient(Protocol):
    """What an elector needs of a client; it should not share connections with watches."""

    async def get(self, key: ObjectKey) -> Lease:
        """The Lease as it is; raise NotFoundError, or another `ApiError`."""
        ...

    async def create(self, lease: Lease) -> Lease:
        """Write a Lease that is not there; raise AlreadyExistsError, or another `ApiError`."""
        ...

    async def update(self, lease: Lease) -> Lease:
        """Replace the Lease; raise ConflictError if its `resourceVersion` is not current."""
        ...


class ElectorMetrics(Protocol):
    """Who wants to know who leads."""

    def leads(self) -> None:
        """The process leads from now on."""
        ...

    def follows(self) -> None:
        """The process does not lead, or no more."""
        ...

    def slow_path(self) -> None:
        """The lease had to be read again, because somebody else wrote to it."""
        ...


class NoElectorMetrics:
    """Nobody wants to know."""

    def leads(self) -> None:
        """Ignored."""

    def follows(self) -> None:
        """Ignored."""

    def slow_path(self) -> None:
        """Ignored."""


@attrs.define(kw_only=True, eq=False)
class LeaseElector:
    """Wins the lease of *election*, keeps it, and gives it back.

    Guarantees: at most one attempt is under way, and it takes at most
    `Timing.attempt` seconds; after `release` nothing is written any more.
    """

    client: LeaseClient
    election: Election
    clock: Clock
    metrics: ElectorMetrics = attrs.field(factory=NoElectorMetrics)
    chance: Callable[[], float] = random.random
    _won: asyncio.Event = attrs.field(factory=asyncio.Event, init=False)
    _tried_at: float | None = attrs.field(default=None, init=False)
    _trouble: str = attrs.field(default="", init=False)
    _released: bool = attrs.field(default=False, init=False)

    @property
    def leading(self) -> bool:
        """Whether this process may act, right now."""
        return self.election.leading(self.clock.monotonic())

    async def run(self) -> None:
        """Win the lease and keep it, for ever.

        Raises LeadershipLostError when it could not be kept.
        """
        await self._win()
        self.metrics.leads()
        self._won.set()
        try:
            await self._keep()
        finally:
            self.metrics.follows()

    async def won(self) -> None:
        """Return once this process leads for the first time."""
        await self._won.wait()

    async def release(self) -> None:
        """Let another process lead at once, if this one does; call it after `run` has ended.

        A failure is harmless: the lease then expires.
        """
        self._released = True
        if not self.leading:
            return
        try:
            async with deadline(self.clock, self.election.timing.attempt):
                await self._resign()
        except (ApiError, TimeoutError) as error:
            log.warning("lease not released", lease=str(self.election.key), error=str(error))
        self.election = self.election.lost()

    def check(self) -> str | None:
        """Why the elector is stuck, for the liveness probe; an absent API server is no reason."""
        if self._tried_at is None or self._released:
            return None
        idle = self.clock.monotonic() - self._tried_at
        if idle <= self.election.timing.lease:
            return None
        return f"no attempt on lease {self.election.key} for {idle:.0f} s"

    async def _win(self) -> None:
        timing = self.election.timing
        while not self.leading:
            await self._attempt(timing.attempt)
            if not self.leading:
                await self.clock.sleep(timing.retry * (1 + self.chance() * JITTER_FACTOR))

    async def _keep(self) -> None:
        """Renew each retry period, counted from the begin of an attempt: slow ones cost no try."""
        timing = self.election.timing
        pause = timing.retry
        while True:
            await self.clock.sleep(min(pause, self._left()))
            begun = self.clock.monotonic()
            if not self.leading:
                self._lose(f"not renewed for {timing.renew_deadline:g} s: {self._trouble}")
            await self._attempt(min(timing.attempt, self._left()))
            if self.election.held_by_other():
                self._lose(f"{self.election.holder()} holds it")
            pause = max(0.0, begun + timing.retry - self.clock.monotonic())

    def _left(self) -> float:
        """Seconds until leadership ends by itself."""
        return max(0.0, self.election.leads_until() - self.clock.monotonic())

    def _lose(self, why: str) -> None:
        self.election = self.election.lost()
        raise LeadershipLostError(f"lost lease {self.election.key}: {why}")

    async def _attempt(self, seconds: float) -> None:
        """Try once to win or keep the lease; a failure is remembered, and no more."""
        self._tried_at = self.clock.monotonic()
        try:
            async with deadline(self.clock, seconds):
                await self._claim()
            self._trouble = ""
        except (ApiError, TimeoutError) as error:
            self._trouble = str(error)
            log.warning("lease attempt failed", lease=str(self.election.key), error=str(error))

    async def _claim(self) -> None:
        """Write first when leading, since the lease is known; read first otherwise."""
        if not self.leading:
            await self._look()
            await self._write()
            return
        try:
            await self._write()
        except (ConflictError, NotFoundError):
            self.metrics.slow_path()
            await self._look()
            await self._write()

    async def _look(self) -> None:
        lease: Lease | None
        try:
            lease = await self.client.get(self.election.key)
        except NotFoundError:
            lease = None
        self.election = self.election.observed(lease, self.clock.monotonic())

    async def _write(self) -> None:
        begun = self.clock.monotonic()
        step = self.election.claim(begun, self.clock.now())
        if not isinstance(step, Wait):
            answer = await self._send(step)
            self.election = self.election.renewed(answer, begun=begun)

    async def _send(self, step: Create | Update) -> Lease:
        if isinstance(step, Create):
            return await self.client.create(step.lease)
        return await self.client.update(step.lease)

    async def _resign(self) -> None:
        """Write that nobody holds the lease, unless somebody else already does."""
        while (step := self.election.resignation(self.clock.now())) is not None:
            try:
                await self.client.update(step.lease)
            except ConflictError:
                await self._look()
            else:
                return


def identity(pod: str) -> str:
    """A name for this run of the process that no other run shares; *pod* is for people."""
    return f"{pod}_{uuid.uuid4()}"
