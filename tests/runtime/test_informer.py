"""An informer against a server that changes: what the store and the handlers see."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gpustack_ctrl.runtime.informer import Event, Informer
from tests.helpers.clock import FakeClock, settle
from tests.helpers.list_watch import THINGS, FakeListWatch, Thing, colors, decode_thing


@asynccontextmanager
async def running(informer: Informer[Thing]) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(informer.run())
        await settle()
        yield
        task.cancel()


def informer_of(server: FakeListWatch, clock: FakeClock) -> Informer[Thing]:
    return Informer(
        resource=THINGS, list_watch=server, decode=decode_thing, clock=clock, random=lambda: 0.5
    )


async def test_it_lists_then_follows_the_watch() -> None:
    clock = FakeClock()
    server = FakeListWatch(clock=clock)
    server.put("a", color="red")
    informer = informer_of(server, clock)
    events = list[Event[Thing]]()
    informer.add_handler(events.append)

    async with running(informer):
        assert informer.synced
        server.put("b", color="blue")
        server.put("a", color="green")
        server.delete("b")
        await settle()

        assert {"a": "green"} == colors(informer.store.list())
        assert server.revision == informer.store.revision

    assert [True, False, False, False] == [event.initial for event in events]
    assert [] == server.connections
