"""Lists and watches on the wire, and watches that go wrong."""

import asyncio
from urllib.parse import parse_qsl

import pytest

from gpustack_ctrl.api.errors import GoneError, ThrottledError, UnreachableError
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.api.names import POD
from gpustack_ctrl.client.exchange import Call
from gpustack_ctrl.client.list_watch import ListWatch
from gpustack_ctrl.runtime.watch import ListRequest, WatchRequest
from tests.client.conftest import Serving
from tests.client.scripted import Answer, Cut, Hang, Stream, in_turn

PODS = "/api/v1/namespaces/team/pods"
WATCH = WatchRequest(resource_version="7", timeout_seconds=300)
SECONDS = 10.0


@pytest.mark.parametrize(
    ("request_", "query"),
    [
        (
            ListRequest(resource_version="0"),
            {"resourceVersion": "0", "resourceVersionMatch": "NotOlderThan"},
        ),
        (ListRequest(resource_version=""), {}),
        (ListRequest(resource_version="", limit=500), {"limit": "500"}),
        (
            ListRequest(resource_version="", limit=500, continue_="a+/="),
            {"limit": "500", "continue": "a+/="},
        ),
    ],
)
async def test_a_list_asks_for_what_the_reflector_wants(
    serving: Serving, request_: ListRequest, query: dict[str, str]
) -> None:
    async with serving(in_turn(Answer(body=b"list"))) as served:
        list_watch = served.client.list_watch(POD, namespace="team", label_selector="a=b,c")
        assert b"list" == await list_watch.list(request_)

    received = served.server.received[0]
    assert PODS == received.path
    assert {"labelSelector": "a=b,c", **query} == dict(parse_qsl(received.query))


async def test_a_watch_gives_chunks_as_they_arrive_until_the_server_ends_it(
    serving: Serving,
) -> None:
    chunks = (b'{"type":"A', b'DDED"}\n')
    async with serving(in_turn(Stream(chunks, then="end"))) as served:
        list_watch = served.client.list_watch(POD, namespace="team", field_selector="spec.x=1")
        async with list_watch.watch(WATCH) as body:
            assert b"".join(chunks) == b"".join([chunk async for chunk in body])

    expected = {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": "7",
        "timeoutSeconds": "300",
        "fieldSelector": "spec.x=1",
    }
    assert expected == dict(parse_qsl(served.server.received[0].query))


async def test_a_watch_that_ended_leaves_its_connection_for_the_next(serving: Serving) -> None:
    async with serving(lambda _: Stream((b"x\n",), then="end")) as served:
        list_watch = served.client.list_watch(POD)
        for _ in range(2):
            async with list_watch.watch(WATCH) as body:
                assert [b"x\n"] == [chunk async for chunk in body]

    assert {1} == {request.connection for request in served.server.received}


async def test_a_watch_that_is_cut_tells_so(serving: Serving) -> None:
    async def follow(list_watch: ListWatch) -> None:
        async with list_watch.watch(WATCH) as body:
            async for chunk in body:
                assert b"one\n" == chunk

    async with serving(in_turn(Stream((b"one\n",), then="cut"))) as served:
        with pytest.raises(UnreachableError, match="closed the connection"):
            await follow(served.client.list_watch(POD))


async def test_a_watch_that_is_never_answered_is_given_up(serving: Serving) -> None:
    call = Call(method="GET", path=PODS, seconds=0.2)
    async with serving(in_turn(Hang())) as served:
        with pytest.raises(UnreachableError, match="did not answer in time"):
            async with served.client.list_watch(POD).watches.stream(call):
                raise AssertionError("a body was given")


async def test_leaving_a_watch_closes_its_connection(serving: Serving) -> None:
    async with serving(in_turn(Stream((b"one\n",)))) as served:
        async with served.client.list_watch(POD).watch(WATCH) as body:
            assert b"one\n" == await anext(aiter(body))
            assert not served.server.closed.is_set()
        async with asyncio.timeout(SECONDS):
            await served.server.closed.wait()


async def test_cancelling_a_watch_closes_its_connection(serving: Serving) -> None:
    async def follow() -> None:
        async with served.client.list_watch(POD).watch(WATCH) as body:
            async for _ in body:
                started.set()

    started = asyncio.Event()
    async with serving(in_turn(Stream((b"one\n",)))) as served, asyncio.timeout(SECONDS):
        task = asyncio.create_task(follow())
        await started.wait()
        task.cancel()
        await served.server.closed.wait()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_watch_that_is_refused_raises_before_its_body(serving: Serving) -> None:
    gone = Answer.of(410, {"kind": "Status", "reason": "Expired", "message": "too old"})
    full = Answer.of(429, {"kind": "Status"}, Retry_After="1")
    async with serving(in_turn(gone, full, Cut())) as served:
        list_watch = served.client.list_watch(POD)
        for kind in (GoneError, ThrottledError, UnreachableError):
            with pytest.raises(kind):
                async with list_watch.watch(WATCH):
                    raise AssertionError("the body of a refused watch was given")


async def test_watches_do_not_take_connections_from_requests(serving: Serving) -> None:
    """More watches than there may be requests, and still a request gets through."""
    waiting = "watch=true"
    async with serving(
        lambda request: Stream(()) if waiting in request.query else Answer(body=b"list")
    ) as served:
        list_watch = served.client.list_watch(POD)
        watches = [list_watch.watch(WATCH) for _ in range(40)]
        for watch in watches:
            await watch.__aenter__()
        assert b"list" == await list_watch.list(ListRequest(resource_version="0"))
        for watch in watches:
            await watch.__aexit__(None, None, None)


async def test_requests_that_hang_do_not_delay_a_lease(serving: Serving) -> None:
    async with (
        serving(lambda request: Answer() if "leases" in request.path else Hang()) as served,
        asyncio.timeout(SECONDS),
    ):
        requests = served.client.rest
        tasks = [asyncio.create_task(requests.get("/version")) for _ in range(40)]
        assert {} == await served.client.leases.get(ObjectKey("team", "lease"))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
