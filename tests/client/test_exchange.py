"""Requests and their answers, the faulty ones too, against a scripted server."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import attrs
import pytest

from gpustack_ctrl.api.errors import (
    ApiError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    ServerError,
    ThrottledError,
    UnauthorizedError,
    UnreachableError,
)
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.api.names import POD
from gpustack_ctrl.client.client import Client
from gpustack_ctrl.client.exchange import Call, Exchange
from gpustack_ctrl.client.sessions import Pool
from gpustack_ctrl.runtime.clock import SystemClock
from tests.client.kubeconfigs import connected, kubeconfig, write
from tests.client.scripted import (
    Answer,
    Cut,
    Hang,
    Received,
    Script,
    ScriptedServer,
    in_turn,
    scripted,
)

GET = Call(method="GET", path="/api/v1/pods")
POST = Call(method="POST", path="/api/v1/namespaces/team/pods", body=b"{}")


@attrs.define
class Recorded:
    """Remembers what was measured and warned of."""

    requests: list[tuple[str, str, str]] = attrs.field(factory=list)
    warnings: list[str] = attrs.field(factory=list)

    def requested(self, *, method: str, host: str, code: str, seconds: float) -> None:
        assert seconds >= 0
        self.requests.append((method, host, code))


@attrs.frozen
class Rig:
    """A scripted server and an exchange with it."""

    server: ScriptedServer
    exchange: Exchange
    recorded: Recorded
    token: Path


Rigged = Callable[[Script], AbstractAsyncContextManager[Rig]]


@pytest.fixture
def rigged(tmp_path: Path) -> Rigged:
    @asynccontextmanager
    async def rig(script: Script) -> AsyncIterator[Rig]:
        token = tmp_path / "token"
        token.write_text("first\n")
        async with scripted(script) as server:
            path = write(tmp_path / "kubeconfig", kubeconfig(server.url, {"tokenFile": "token"}))
            recorded = Recorded()
            async with await connected(path) as connection:
                client = Client(
                    connection=connection,
                    clock=SystemClock(),
                    metrics=recorded,
                    on_warning=recorded.warnings.append,
                )
                yield Rig(server, client.rest.exchange, recorded, token)

    return rig


def status(code: int, reason: str, message: str, **details: object) -> Answer:
    body = {"kind": "Status", "code": code, "reason": reason, "message": message}
    return Answer.of(code, {**body, "details": details})


async def test_a_request_says_who_we_are_and_asks_for_plain_json(rigged: Rigged) -> None:
    async with rigged(in_turn(Answer(body=b'{"kind":"PodList"}'))) as rig:
        assert b'{"kind":"PodList"}' == await rig.exchange.send(GET)

    headers = rig.server.received[0].headers
    assert "Bearer first" == headers["authorization"]
    assert "gpustack-ctrl" == headers["user-agent"]
    assert "application/json" == headers["accept"]
    assert "identity" == headers["accept-encoding"]


async def test_an_error_status_is_raised_although_the_answer_was_read(rigged: Rigged) -> None:
    """The library returns a 404 like any answer when it is asked not to decode it."""
    answer = status(404, "NotFound", 'pods "a" not found')
    async with rigged(in_turn(answer)) as rig:
        with pytest.raises(NotFoundError, match='pods "a" not found'):
            await rig.exchange.send(GET)


async def test_what_is_forbidden_is_told_in_the_servers_sentence(rigged: Rigged) -> None:
    sentence = 'pods is forbidden: User "u" cannot list resource "pods" in API group ""'
    async with rigged(in_turn(status(403, "Forbidden", sentence))) as rig:
        with pytest.raises(ForbiddenError) as caught:
            await rig.exchange.send(GET)

    assert sentence == str(caught.value)


async def test_a_conflict_carries_its_details(rigged: Rigged) -> None:
    answer = status(409, "Conflict", "changed", causes=[{"reason": "UID"}])
    async with rigged(in_turn(answer)) as rig:
        with pytest.raises(ConflictError) as caught:
            await rig.exchange.send(GET)

    assert ("UID",) == caught.value.causes


async def test_a_patch_of_another_uid_is_a_conflict(rigged: Rigged) -> None:
    """The API server calls the UID an immutable field, and the patch invalid for good."""
    sentence = 'metadata.uid: Invalid value: "another": field is immutable'
    answer = status(422, "Invalid", sentence, causes=[{"field": "metadata.uid"}])
    async with rigged(in_turn(answer)) as rig:
        with pytest.raises(ConflictError, match=r"metadata\.uid"):
            await rig.exchange.send(POST)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>\n bad gateway</html>", "<html> bad gateway</html>"),
        (b"", "the API server answered 502"),
        (b'"text"', '"text"'),
        (b"\xff\xfe", "\ufffd\ufffd"),
    ],
)
async def test_an_error_with_a_garbage_body_is_still_an_api_error(
    rigged: Rigged, body: bytes, said: str
) -> None:
    async with rigged(in_turn(Answer(502, body))) as rig:
        with pytest.raises(ServerError) as caught:
            await rig.exchange.send(POST)

    assert said == str(caught.value)


async def test_a_429_says_for_how_long_and_which_level_was_full(rigged: Rigged) -> None:
    answer = Answer.of(
        429,
        {"kind": "Status", "message": "too many requests"},
        Retry_After="7",
        X_Kubernetes_PF_FlowSchema_UID="flow",
        X_Kubernetes_PF_PriorityLevel_UID="level",
    )
    async with rigged(in_turn(answer)) as rig:
        with pytest.raises(ThrottledError) as caught:
            await rig.exchange.send(POST)

    assert 7.0 == caught.value.retry_after
    assert {"flowSchemaUID": "flow", "priorityLevelUID": "level"} == caught.value.details


async def test_a_refused_token_is_read_again_and_tried_once_more(rigged: Rigged) -> None:
    def script(request: Received) -> Answer:
        rig.token.write_text("second\n")
        fresh = request.headers["authorization"] == "Bearer second"
        return Answer() if fresh else status(401, "Unauthorized", "Unauthorized")

    async with rigged(script) as rig:
        await rig.exchange.send(POST)

    assert ["Bearer first", "Bearer second"] == [
        request.headers["authorization"] for request in rig.server.received
    ]


async def test_requests_refused_together_cause_one_renewal(rigged: Rigged) -> None:
    def script(request: Received) -> Answer:
        fresh = request.headers["authorization"] == "Bearer second"
        return Answer() if fresh else status(401, "Unauthorized", "Unauthorized")

    async with rigged(script) as rig:
        rig.token.write_text("second\n")
        answers = await asyncio.gather(*(rig.exchange.send(POST) for _ in range(8)))

    assert [b"{}"] * 8 == answers


async def test_credentials_that_stay_the_same_are_refused_for_good(rigged: Rigged) -> None:
    async with rigged(in_turn(status(401, "Unauthorized", "Unauthorized"))) as rig:
        with pytest.raises(UnauthorizedError):
            await rig.exchange.send(GET)

    assert 1 == len(rig.server.received)


async def test_a_write_that_was_cut_is_not_sent_twice(rigged: Rigged) -> None:
    """Nobody knows whether it was acted on: the next pass will see."""
    async with rigged(in_turn(Cut(), Answer())) as rig:
        with pytest.raises(UnreachableError, match="closed the connection"):
            await rig.exchange.send(POST)

    assert 1 == len(rig.server.received)


@pytest.mark.parametrize("cut", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"])
async def test_a_read_that_was_cut_is_repeated_once(rigged: Rigged, cut: bytes) -> None:
    half = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"
    async with rigged(in_turn(Cut(half), Answer(body=b"whole"))) as rig:
        assert b"whole" == await rig.exchange.send(GET)

    async with rigged(lambda _: Cut(cut)) as rig:
        with pytest.raises(UnreachableError, match="closed the connection"):
            await rig.exchange.send(GET)


async def test_a_server_that_hangs_is_given_up(rigged: Rigged) -> None:
    async with rigged(in_turn(Hang())) as rig:
        with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:\d+: it did not answer in time"):
            await rig.exchange.send(attrs.evolve(GET, seconds=0.2))

    assert 1 == len(rig.server.received)


async def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    async with await connected(write(tmp_path / "k", kubeconfig(url))) as connection:
        exchange = Exchange(connection=connection, pool=Pool.REQUESTS, clock=SystemClock())
        with pytest.raises(UnreachableError) as caught:
            await exchange.send(POST)

    assert f"cannot reach the API server at {url}: connection refused" == str(caught.value)


async def test_a_write_is_repeated_when_no_connection_came_about(tmp_path: Path) -> None:
    """An API server that restarts refuses connections for a moment."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    server = ScriptedServer(in_turn(Answer()))

    @attrs.frozen
    class StartsServer(SystemClock):
        """Starts the server while the client waits before its second attempt."""

        async def sleep(self, seconds: float) -> None:
            assert seconds > 0
            listening.append(await asyncio.start_server(server.serve, "127.0.0.1", port))

    listening: list[asyncio.Server] = []
    async with await connected(write(tmp_path / "k", kubeconfig(url))) as connection:
        exchange = Exchange(connection=connection, pool=Pool.REQUESTS, clock=StartsServer())
        assert b"{}" == await exchange.send(POST)
    server.stop()
    listening[0].close()
    await listening[0].wait_closed()


async def test_a_redirect_is_not_followed(rigged: Rigged) -> None:
    """The token must not travel to another host."""
    async with rigged(in_turn(Answer(302, b"", {"Location": "/elsewhere"}))) as rig:
        with pytest.raises(ApiError, match="302"):
            await rig.exchange.send(GET)

    assert ["/api/v1/pods"] == [request.path for request in rig.server.received]


async def test_warnings_are_passed_on(rigged: Rigged) -> None:
    warning = r'299 - "unknown field \"spec.foo\"", 299 - "deprecated"'
    async with rigged(in_turn(Answer(headers={"Warning": warning}))) as rig:
        await rig.exchange.send(POST)

    assert ['unknown field "spec.foo"', "deprecated"] == rig.recorded.warnings


async def test_each_attempt_is_measured(rigged: Rigged) -> None:
    answers = in_turn(Answer(201), status(404, "NotFound", "no"), Cut())
    async with rigged(answers) as rig:
        await rig.exchange.send(POST)
        for _ in range(2):
            with pytest.raises(ApiError):
                await rig.exchange.send(POST)

    host = f"127.0.0.1:{rig.server.port}"
    expected = [("POST", host, "201"), ("POST", host, "404"), ("POST", host, "<error>")]
    assert expected == rig.recorded.requests


async def test_a_connection_is_used_again(rigged: Rigged) -> None:
    async with rigged(lambda _: Answer()) as rig:
        for _ in range(3):
            await rig.exchange.send(POST)

    assert {1} == {request.connection for request in rig.server.received}


async def test_a_name_cannot_leave_its_place_in_the_path(rigged: Rigged) -> None:
    path = POD.path(ObjectKey("team", "a?watch=true#x y"))
    async with rigged(in_turn(Answer())) as rig:
        await rig.exchange.send(Call(method="GET", path=path))

    expected = "/api/v1/namespaces/team/pods/a%3Fwatch=true%23x%20y"
    assert expected == rig.server.received[0].target
