"""Records Events beside the work: whoever tells of one never waits for it.

Events are for people. None is worth a failing pass: what the API server does not take
is counted and dropped.
"""

import asyncio
import random
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Protocol

import attrs
import structlog

from gpustack_ctrl.api import names
from gpustack_ctrl.api.codec import Json
from gpustack_ctrl.api.errors import (
    AlreadyExistsError,
    ApiError,
    NotFoundError,
    ServerError,
    ThrottledError,
    UnreachableError,
)
from gpustack_ctrl.api.meta import ObjectKey, Resource
from gpustack_ctrl.runtime.clock import Clock
from gpustack_ctrl.runtime.deadline import deadline
from gpustack_ctrl.runtime.event_series import Correlator, Occurrence, Series, Verdict
from gpustack_ctrl.runtime.event_wire import event, event_key, repetition
from gpustack_ctrl.runtime.outcome import one_line
from gpustack_ctrl.runtime.workqueue import WorkQueue

MOST_TRIES = 12
FLUSH_SECONDS = 2.0
RETRY_SECONDS = 10.0
_SPREAD = 0.25
_PASSING = (UnreachableError, ServerError, ThrottledError)

log = structlog.get_logger(__name__)


class Fate(StrEnum):
    """What became of an occurrence, or of an attempt to write it."""

    CREATED = "created"
    UPDATED = "updated"
    COUNTED = "counted"
    SPAM = "spam"
    OVERFLOW = "overflow"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"


_AT_ONCE = {
    Verdict.COUNT: Fate.COUNTED,
    Verdict.SPAM: Fate.SPAM,
    Verdict.OVERFLOW: Fate.OVERFLOW,
}


class EventWriter(Protocol):
    """What a recorder needs of a client."""

    async def create(self, resource: Resource, body: Json) -> bytes:
        """POST *body*."""
        ...

    async def merge_patch(self, resource: Resource, key: ObjectKey, patch: Json) -> bytes:
        """PATCH the object called *key*."""
        ...


class RecorderMetrics(Protocol):
    """Who wants to know what became of Events."""

    def came_to(self, fate: Fate) -> None:
        """One occurrence, or one write, came to *fate*."""
        ...


class NoRecorderMetrics:
    """Nobody wants to know."""

    def came_to(self, fate: Fate) -> None:
        """Ignored."""


@attrs.define(kw_only=True, eq=False)
class Recorder:
    """Writes Events through *writer*, as *controller*, of which *instance* is one process.

    Guarantees: `record` neither waits nor raises; a series is written once, at its first
    repetition, at most each 30 minutes after that, and at its end; its writes never
    overtake one another; when `run` is cancelled, what is left is written within
    `FLUSH_SECONDS` or not at all.
    """

    writer: EventWriter
    clock: Clock
    controller: str
    instance: str
    metrics: RecorderMetrics = attrs.field(factory=NoRecorderMetrics)
    senders: int = 4
    chance: Callable[[], float] = random.random
    name: str = "events"
    _correlator: Correlator = attrs.field(factory=Correlator, init=False)
    _queue: WorkQueue[Occurrence] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._queue = WorkQueue(self.name, clock=self.clock)

    def __len__(self) -> int:
        """How many series are under way: all that it remembers, but for allowances."""
        return len(self._correlator)

    def record(self, occurrence: Occurrence) -> None:
        """Let *occurrence* become an Event, or count in one, some time soon."""
        now, at = self.clock.now(), self.clock.monotonic()
        verdict = self._correlator.note(occurrence, now=now, at=at)
        if verdict is Verdict.WRITE:
            self._queue.add(occurrence.key)
        else:
            self.metrics.came_to(_AT_ONCE[verdict])

    async def run(self) -> None:
        """Write until cancelled, then write what is left."""
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(self.senders):
                    group.create_task(self._send(), name=f"{self.name}-{number}")
        finally:
            self._queue.shut_down()
            await self._flush()

    async def _send(self) -> None:
        while True:
            key = await self._queue.get()
            try:
                await self._look_at(key)
            finally:
                self._queue.done(key)

    async def _look_at(self, key: Occurrence) -> None:
        """Write the series of *key* if it is due, and come back when it next may be."""
        held = self._correlator.get(key)
        if held is None:
            return
        if held.is_due(self.clock.monotonic()):
            await self._tell(held)
        self._come_back(key)

    def _come_back(self, key: Occurrence) -> None:
        held, at = self._correlator.get(key), self.clock.monotonic()
        if held is None:
            return
        if held.tries:
            spread = _SPREAD * (2 * self.chance() - 1)
            self._queue.add_after(key, RETRY_SECONDS * (1 + spread))
        elif held.is_due(at):
            self._queue.add(key)
        elif held.is_over(at):
            self._correlator.forget(held)
        else:
            self._queue.add_after(key, held.wait(at))

    async def _tell(self, held: Series) -> None:
        """Write the series as it is now. No Event is worth the process: errors stay here."""
        count, creates = held.count, held.told == 0
        try:
            await self._write(held)
        except AlreadyExistsError:
            count = 1  # The answer to an earlier attempt was lost, and it may have told of less.
        except ApiError as error:
            self._failed(held, error)
            return
        except Exception:
            log.exception("an Event cannot be written", reason=held.first.reason)
            self._drop(held, Fate.REFUSED)
            return
        self._correlator.told(held, count, at=self.clock.monotonic())
        self.metrics.came_to(Fate.CREATED if creates else Fate.UPDATED)

    async def _write(self, held: Series) -> None:
        if held.told:
            await self.writer.merge_patch(names.EVENT, event_key(held), repetition(held))
            return
        body = event(held, controller=self.controller, instance=self.instance)
        await self.writer.create(names.EVENT, body)

    def _failed(self, held: Series, error: ApiError) -> None:
        log.debug("an Event was not taken", reason=held.first.reason, error=one_line(error))
        if isinstance(error, NotFoundError) and held.told:
            self._correlator.gone(held, now=self.clock.now())
        elif not isinstance(error, _PASSING):
            self._drop(held, Fate.REFUSED)
        elif held.tries + 1 >= MOST_TRIES:
            self._drop(held, Fate.UNREACHABLE)
        else:
            held.tries += 1

    def _drop(self, held: Series, fate: Fate) -> None:
        self._correlator.forget(held)
        self.metrics.came_to(fate)

    async def _flush(self) -> None:
        left = self._correlator.unfinished()
        try:
            async with deadline(self.clock, FLUSH_SECONDS), asyncio.TaskGroup() as group:
                for _ in range(self.senders):
                    group.create_task(self._drain(left))
        except TimeoutError:
            log.debug("Events are left unwritten", count=len(tuple(self._correlator.unfinished())))

    async def _drain(self, keys: Iterator[Occurrence]) -> None:
        for key in keys:
            held = self._correlator.get(key)
            if held is not None:
                await self._tell(held)
