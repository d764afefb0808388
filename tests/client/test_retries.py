"""What is tried again, what is not, and with which credentials."""

import asyncio
import socket
from pathlib import Path

import attrs
import pytest

from gpustack_ctrl.api.errors import UnauthorizedError, UnreachableError
from gpustack_ctrl.client.exchange import Exchange
from gpustack_ctrl.client.sessions import Pool
from gpustack_ctrl.runtime.clock import SystemClock
from tests.client.kubeconfigs import connected, kubeconfig, write
from tests.client.rig import GET, POST, Rigged, status
from tests.client.scripted import Answer, Cut, Hang, Received, ScriptedServer, in_turn


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
