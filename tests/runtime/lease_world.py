"""A place for one lease, reached over a bad line, and clocks that disagree."""

import asyncio
import copy
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

import attrs

from gpustack_ctrl.api.errors import (
    AlreadyExistsError,
    ConflictError,
    NotFoundError,
    UnreachableError,
)
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.runtime.election import Election, Lease
from gpustack_ctrl.runtime.lease import LeaseElector
from tests.helpers.clock import FakeClock, FakeTimer, settle

KEY = ObjectKey("system", "leader")


@attrs.define
class Leases:
    """What the API server holds: at most one lease, with optimistic locking."""

    current: dict[str, Any] | None = None
    version: int = 0
    writes: list[str] = attrs.field(factory=list)

    def get(self) -> Lease:
        if self.current is None:
            raise NotFoundError("lease not found", code=404)
        return copy.deepcopy(self.current)

    def create(self, lease: Lease) -> Lease:
        if self.current is not None:
            raise AlreadyExistsError("lease exists", code=409)
        return self._store(lease, uid=f"uid-{self.version}")

    def update(self, lease: Lease) -> Lease:
        current = self.get()
        if lease["metadata"].get("resourceVersion") != current["metadata"]["resourceVersion"]:
            raise ConflictError("lease was modified", code=409)
        return self._store(lease, uid=current["metadata"]["uid"])

    def delete(self) -> None:
        self.current = None

    @property
    def spec(self) -> Lease:
        """The record, for assertions."""
        spec: Lease = self.get()["spec"]
        return spec

    def _store(self, lease: Lease, *, uid: str) -> Lease:
        self.version += 1
        metadata = {**lease["metadata"], "uid": uid, "resourceVersion": str(self.version)}
        self.current = copy.deepcopy({**lease, "metadata": metadata})
        self.writes.append(lease["spec"]["holderIdentity"])
        return self.get()


@attrs.frozen
class Fault:
    """What happens to one request: how long each way takes, and whether it gets through."""

    there: float = 0.0
    back: float = 0.0
    lost_there: bool = False
    lost_back: bool = False


FINE = Fault()


def no_faults() -> Iterator[Fault]:
    while True:
        yield FINE


@attrs.define
class Line:
    """A `LeaseClient` on a line whose requests meet *faults*.

    A request that its caller gives up on while it is under way still arrives.
    """

    leases: Leases
    clock: FakeClock
    faults: Iterator[Fault] = attrs.field(factory=no_faults)
    down: bool = False
    requests: int = 0

    async def get(self, key: ObjectKey) -> Lease:
        assert KEY == key
        return await self._carry(self.leases.get)

    async def create(self, lease: Lease) -> Lease:
        return await self._carry(lambda: self.leases.create(lease))

    async def update(self, lease: Lease) -> Lease:
        return await self._carry(lambda: self.leases.update(lease))

    async def _carry(self, request: Callable[[], Lease]) -> Lease:
        self.requests += 1
        if self.down:
            raise UnreachableError("connection refused")
        fault = next(self.faults, FINE)
        answers: list[Lease | Exception] = []
        if fault.there:
            self.clock.call_later(fault.there, lambda: _arrive(request, fault, answers))
            await self.clock.sleep(fault.there)
        else:
            _arrive(request, fault, answers)
        await self.clock.sleep(fault.back)
        if fault.lost_there or fault.lost_back or not answers:
            raise UnreachableError("connection reset")
        if isinstance(answers[0], Exception):
            raise answers[0]
        return answers[0]


def _arrive(request: Callable[[], Lease], fault: Fault, answers: list[Lease | Exception]) -> None:
    if fault.lost_there:
        return
    try:
        answers.append(request())
    except (NotFoundError, ConflictError) as error:
        answers.append(error)


@attrs.frozen
class SkewedClock:
    """A clock that runs *rate* times as fast as *true*, and *offset* seconds apart."""

    true: FakeClock
    rate: float = 1.0
    offset: float = 0.0

    def monotonic(self) -> float:
        return self.true.monotonic() * self.rate + self.offset

    def now(self) -> datetime:
        return self.true.now() + timedelta(seconds=self.offset)

    def call_later(self, seconds: float, callback: Callable[[], None]) -> FakeTimer:
        return self.true.call_later(seconds / self.rate, callback)

    async def sleep(self, seconds: float) -> None:
        await self.true.sleep(seconds / self.rate)


def elector(clock: FakeClock, line: Line, name: str = "me") -> LeaseElector:
    return LeaseElector(
        client=line,
        election=Election(key=KEY, identity=name),
        clock=clock,
        chance=lambda: 0.5,
    )


@asynccontextmanager
async def campaign(elector: LeaseElector) -> AsyncIterator["asyncio.Task[None]"]:
    """The elector runs within the block; what became of it is the test's business."""
    task = asyncio.create_task(elector.run())
    try:
        await settle()
        yield task
    finally:
        task.cancel()
        await asyncio.wait({task})
