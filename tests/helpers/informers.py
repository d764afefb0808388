"""Informers over a `FakeListWatch`, run for the length of a block."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import attrs

from gpustack_ctrl.runtime.informer import Event, Informer
from gpustack_ctrl.runtime.informer_metrics import InformerMetrics
from tests.helpers.clock import FakeClock, settle
from tests.helpers.list_watch import THINGS, FakeListWatch, Thing, decode_thing


@attrs.define
class Counted(InformerMetrics):
    """Counts in plain numbers."""

    lists: int = 0
    watches: int = 0
    events: int = 0
    undecodables: int = 0
    faults: int = 0

    def listed(self) -> None:
        self.lists += 1

    def watched(self) -> None:
        self.watches += 1

    def received(self, events: int) -> None:
        self.events += events

    def undecodable(self) -> None:
        self.undecodables += 1

    def faulted(self) -> None:
        self.faults += 1


@attrs.define(kw_only=True)
class Scene:
    """A clock, a server, an informer of it, and what its handler was told."""

    clock: FakeClock
    server: FakeListWatch
    informer: Informer[Thing]
    metrics: Counted
    events: list[Event[Thing]] = attrs.field(factory=list)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the informer until the end of the block."""
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.informer.run())
            await settle()
            try:
                yield
            finally:
                task.cancel()

    def told(self) -> list[tuple[str, str]]:
        """What became of which object, in the order of the events."""
        return [_verb(event) for event in self.events]


def scene(*, random: Callable[[], float] = lambda: 0.5) -> Scene:
    """An empty server and an informer that has not been started."""
    clock = FakeClock()
    server, metrics = FakeListWatch(clock=clock), Counted()
    informer = Informer(
        resource=THINGS,
        list_watch=server,
        decode=decode_thing,
        clock=clock,
        random=random,
        metrics=metrics,
    )
    made = Scene(clock=clock, server=server, informer=informer, metrics=metrics)
    informer.add_handler(made.events.append)
    return made


def _verb(event: Event[Thing]) -> tuple[str, str]:
    obj = event.new or event.old
    assert obj is not None
    if event.new is None:
        return ("deleted", obj.metadata.name)
    if event.old is None:
        return ("created", obj.metadata.name)
    same = event.old.metadata.uid == event.new.metadata.uid
    return ("updated" if same else "recreated", obj.metadata.name)
