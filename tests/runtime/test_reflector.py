"""A reflector and a server that misbehaves, one way at a time."""

import asyncio
import itertools

import pytest

from gpustack_ctrl.api.errors import (
    ApiError,
    GoneError,
    ServerError,
    ThrottledError,
    UnreachableError,
)
from gpustack_ctrl.runtime.watch import ListRequest
from tests.helpers.clock import settle
from tests.helpers.informers import Scene, scene
from tests.helpers.list_watch import (
    bookmark,
    colors,
    encode_event,
    status,
    thing,
)

GONE = GoneError("too old", code=410, reason="Expired")


def synced_with(at: Scene) -> bool:
    """Whether the store equals the server."""
    return at.server.objects == {obj.metadata.key: obj for obj in at.informer.store.list()}


async def test_it_lists_then_follows_the_watch() -> None:
    at = scene()
    at.server.put("a", color="red")

    async with at.running():
        assert at.informer.synced
        at.server.put("b", color="blue")
        at.server.put("a", color="green")
        at.server.delete("b")
        await settle()

        assert {"a": "green"} == colors(at.informer.store.list())
        assert at.server.revision == at.informer.store.revision
    assert (1, 1, 3) == (at.metrics.lists, at.metrics.watches, at.metrics.events)


async def test_the_end_of_a_watch_is_followed_by_another_without_a_list() -> None:
    at = scene()
    async with at.running():
        at.server.put("a")
        await at.clock.advance(450)
        at.server.put("b")
        await settle()

        assert synced_with(at)
    assert ["10", "11"] == [request.resource_version for request in at.server.watches]
    assert 1 == len(at.server.lists)


async def test_r5_a_version_gone_at_the_start_of_a_watch_is_never_watched_again() -> None:
    at = scene()
    at.server.put("a")
    async with at.running():
        at.server.black_hole()
        at.server.delete("a")
        at.server.elsewhere()
        at.server.compact()
        await at.clock.advance(600)

        assert synced_with(at)
    assert ["11", "11", "13"] == [request.resource_version for request in at.server.watches]
    assert ListRequest(resource_version="11") == at.server.lists[-1]


async def test_r5_a_version_gone_in_the_stream_is_never_watched_again() -> None:
    at = scene()
    at.server.put("a")
    async with at.running():
        at.server.put("a", color="red")
        at.server.elsewhere()
        at.server.send(encode_event("ERROR", status(410, "Expired")))
        await at.clock.advance(10)

        assert synced_with(at)
    assert ["11", "13"] == [request.resource_version for request in at.server.watches]
    assert ListRequest(resource_version="12") == at.server.lists[-1]


@pytest.mark.parametrize("size", [1, 7, 4096])
async def test_r6_events_arrive_whole_however_they_are_cut(size: int) -> None:
    at = scene()
    at.server.cut = lambda line: (line[i : i + size] for i in range(0, len(line), size))
    async with at.running():
        at.server.put("a", color="red\nblue")
        at.server.put("b", color="\N{SNOWMAN}" * 50)
        await settle()

        assert synced_with(at)


async def test_r6_a_line_without_its_end_is_no_event() -> None:
    at = scene()
    async with at.running():
        at.server.send(encode_event("ADDED", thing("half", 11))[:-1])
        at.server.send(None)
        await settle()

        assert 0 == len(at.informer.store)
        await at.clock.advance(5)
    assert {"10"} == {request.resource_version for request in at.server.watches}


async def test_r8_failures_are_spaced_until_two_minutes_went_well() -> None:
    at = scene()
    at.server.unreachable = UnreachableError("connection refused")
    async with at.running():
        await at.clock.advance(3600)
        assert 0 == at.metrics.watches
        assert "connection refused" == at.informer.trouble
        moments = [moment for moment, _ in at.server.requests]
        gaps = [after - before for before, after in itertools.pairwise(moments)]

        assert [1.2, 2.4, 4.8, 9.6, 19.2, 38.4, 45.0] == pytest.approx(gaps[:7])
        assert [45.0] * len(gaps[6:]) == pytest.approx(gaps[6:])

        at.server.unreachable = None
        await at.clock.advance(45 + 120)
        assert at.informer.synced
        at.server.elsewhere()
        at.server.send(GONE)
        at.server.refuse = [UnreachableError("reset")]
        before = len(at.server.requests)
        await at.clock.advance(1.2 + 2.4)
        assert before + 3 == len(at.server.requests)


@pytest.mark.parametrize(
    "error", [ThrottledError("later", code=429, retry_after=7), UnreachableError("refused")]
)
async def test_r9_a_watch_that_cannot_start_is_tried_again_without_a_list(error: ApiError) -> None:
    at = scene()
    at.server.obstruct = [error] * 12
    async with at.running():
        at.server.put("a")
        await at.clock.advance(600)

        assert synced_with(at)
    assert 1 == len(at.server.lists)
    assert {"10"} == {request.resource_version for request in at.server.watches[:13]}


@pytest.mark.parametrize("seconds", [0, 0.5, 100, 455, 460.2, 461])
async def test_r14_cancelling_leaves_no_connection_timer_or_task(seconds: float) -> None:
    at = scene()
    at.server.refuse = [ServerError("oops", code=500)] if seconds == 0.5 else []
    async with at.running():
        at.server.black_hole()
        await at.clock.advance(seconds)

    assert [] == at.server.connections
    assert 0 == at.clock.pending
    assert {asyncio.current_task()} == asyncio.all_tasks()


@pytest.mark.parametrize(
    "line",
    [
        b"garbage\n",
        b'{"type":"ADDED"}\n',
        b'{"type":"NEW","object":{}}\n',
        encode_event("ERROR", status(500, "InternalError")),
    ],
)
async def test_a_broken_stream_is_resumed_where_it_broke(line: bytes) -> None:
    at = scene()
    async with at.running():
        at.server.put("a")
        await settle()
        at.server.send(line)
        await at.clock.advance(5)
        at.server.put("b")
        await settle()

        assert synced_with(at)
    assert ["10", "11"] == [request.resource_version for request in at.server.watches]
    assert 1 == len(at.server.lists)


async def test_a_bookmark_moves_the_place_to_resume_from() -> None:
    at = scene()
    async with at.running():
        at.server.elsewhere(90)
        at.server.send(bookmark(100))
        at.server.send(None)
        await at.clock.advance(5)

        assert 100 == at.informer.store.revision
    assert "100" == at.server.watches[-1].resource_version
