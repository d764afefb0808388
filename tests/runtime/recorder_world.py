"""A recorder on a clock that the test advances, over an API server that does as it is told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import attrs

from gpustack_ctrl.api.codec import Json
from gpustack_ctrl.api.errors import AlreadyExistsError, NotFoundError, UnreachableError
from gpustack_ctrl.api.meta import ObjectKey, Resource
from gpustack_ctrl.runtime.event_series import ObjectReference, Occurrence
from gpustack_ctrl.runtime.recorder import Fate, Recorder
from tests.helpers.clock import FakeClock, settle

BOX = ObjectReference(api_version="v1", kind="Box", namespace="team", name="box", uid="uid-of-box")


def occurrence(reason: str = "Broken", **rest: Any) -> Occurrence:
    """Something that happened to a box."""
    plain = {"regarding": BOX, "type": "Warning", "action": "Run", "note": "it broke"}
    return Occurrence(reason=reason, **{**plain, **rest})


@attrs.define
class Server:
    """Keeps Events as an API server does.

    It raises *errors* first, does as it is told without an answer for *lost_answers*, and
    is silent while *deaf*.
    """

    errors: list[Exception] = attrs.field(factory=list)
    lost_answers: int = 0
    deaf: bool = False
    held: dict[ObjectKey, dict[str, Any]] = attrs.field(factory=dict)
    asked: list[str] = attrs.field(factory=list)
    at_once: int = 0
    most_at_once: int = 0

    async def create(self, resource: Resource, body: Json) -> bytes:
        key = ObjectKey(body["metadata"]["namespace"], body["metadata"]["name"])
        await self._arrives(f"create {body['reason']}")
        if key in self.held:
            raise AlreadyExistsError(f"{resource.plural} {key} already exists")
        self.held[key] = dict(body)
        if self.lost_answers:
            self.lost_answers -= 1
            raise UnreachableError("the answer was lost")
        return b"{}"

    async def merge_patch(self, resource: Resource, key: ObjectKey, patch: Json) -> bytes:
        await self._arrives(f"patch {patch['series']['count']}")
        if key not in self.held:
            raise NotFoundError(f"{resource.plural} {key} not found")
        self.held[key] |= patch
        return b"{}"

    async def _arrives(self, what: str) -> None:
        self.asked.append(what)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await settled_or_never(deaf=self.deaf)
        finally:
            self.at_once -= 1
        if self.errors:
            raise self.errors.pop(0)

    @property
    def events(self) -> list[dict[str, Any]]:
        return list(self.held.values())


async def settled_or_never(*, deaf: bool) -> None:
    """Answer after everybody else had a turn, or do not."""
    if deaf:
        await asyncio.Event().wait()
    await asyncio.sleep(0)  # noqa: TID251 -- takes no time, only lets others run.


@attrs.define
class Fates:
    """A `RecorderMetrics` that remembers."""

    seen: list[Fate] = attrs.field(factory=list)

    def came_to(self, fate: Fate) -> None:
        self.seen.append(fate)

    def count(self, fate: Fate) -> int:
        return self.seen.count(fate)


@attrs.define
class World:
    """A recorder and all that surrounds it."""

    clock: FakeClock
    server: Server
    fates: Fates
    recorder: Recorder
    task: "asyncio.Task[None] | None" = None

    async def hears(self, *occurrences: Occurrence) -> None:
        """Record them, and let the senders work."""
        for held in occurrences:
            self.recorder.record(held)
        await settle()

    async def start(self) -> None:
        self.task = asyncio.create_task(self.recorder.run())
        await settle()

    async def stop(self) -> None:
        """Ask for the end, and let everybody work who needs no time."""
        if self.task is not None:
            self.task.cancel()
            await settle()


@asynccontextmanager
async def recording(*, started: bool = True) -> AsyncIterator[World]:
    """A recorder runs within the block, and is ended after it."""
    clock, server, fates = FakeClock(), Server(), Fates()
    recorder = Recorder(
        writer=server,
        clock=clock,
        controller="demo",
        instance="demo-0",
        metrics=fates,
        chance=lambda: 0.5,
    )
    world = World(clock, server, fates, recorder)
    if started:
        await world.start()
    try:
        yield world
    finally:
        await world.stop()
        await clock.advance(10)
        assert world.task is None or world.task.done()
