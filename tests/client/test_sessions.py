"""Sockets and pools are made for long watches and dead peers."""

import socket
import ssl
import sys
from pathlib import Path

import pytest

from gpustack_ctrl.client.sessions import Endpoint, Pool, watchful_socket
from tests.client.kubeconfigs import connected, kubeconfig, write

LOOPBACK = (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("127.0.0.1", 0))


def test_a_socket_notices_when_its_peer_is_gone() -> None:
    with watchful_socket(LOOPBACK) as made:
        assert 1 == made.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert 1 == made.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert not made.getblocking()


@pytest.mark.skipif(sys.platform != "linux", reason="the names are those of Linux")
def test_it_gives_up_on_its_peer_within_a_minute() -> None:
    options = ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_USER_TIMEOUT")
    with watchful_socket(LOOPBACK) as made:
        values = [made.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)) for name in options]

    assert [30, 10, 3, 30_000] == values


async def test_each_pool_has_its_limit_and_no_session_reads_the_environment(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "k", kubeconfig("http://127.0.0.1:1"))
    async with await connected(path) as connection:
        sessions = [connection.session(pool) for pool in Pool]
        limits = [session.connector.limit for session in sessions if session.connector]

        assert [32, 0, 2] == limits
        assert not any(session.trust_env for session in sessions)


@pytest.mark.parametrize("authority", [b"", b"\n", b"nothing", b"\xff"])
def test_an_authority_that_holds_nothing_does_not_stand_for_the_systems(authority: bytes) -> None:
    with pytest.raises(ssl.SSLError):
        Endpoint(host="https://127.0.0.1:1", authority=authority).tls()
