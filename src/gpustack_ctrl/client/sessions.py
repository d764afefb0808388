"""Sockets, TLS and connection pools: what the requests of this process travel on.

Requests, watches and the elector each have a pool: a burst of writes must not delay a
lease, and a watch holds its connection for minutes.
"""

import socket
import ssl
from collections.abc import Callable
from enum import Enum
from tempfile import NamedTemporaryFile
from typing import Any
from weakref import WeakSet

import aiohttp
import attrs

from gpustack_ctrl.runtime.clock import Clock

REQUESTS_IN_FLIGHT = 32
UNLIMITED = 0
KEEPALIVE_IDLE_SECONDS = 30
KEEPALIVE_INTERVAL_SECONDS = 10
KEEPALIVE_PROBES = 3
UNACKNOWLEDGED_MILLISECONDS = 30_000

# What a dead peer or a silent middlebox is found out by; Linux has all of them.
_SOCKET_OPTIONS: tuple[tuple[str, int], ...] = (
    ("TCP_NODELAY", 1),
    ("TCP_KEEPIDLE", KEEPALIVE_IDLE_SECONDS),
    ("TCP_KEEPINTVL", KEEPALIVE_INTERVAL_SECONDS),
    ("TCP_KEEPCNT", KEEPALIVE_PROBES),
    ("TCP_USER_TIMEOUT", UNACKNOWLEDGED_MILLISECONDS),
)


FAREWELL_SECONDS = 1.0
POLL_SECONDS = 0.005
CLOSED = -1
"""The file descriptor of a socket that is closed."""


class Pool(Enum):
    """Which connections a request travels on; the value is how many there may be."""

    REQUESTS = REQUESTS_IN_FLIGHT
    WATCHES = UNLIMITED
    ELECTOR = 2


@attrs.frozen(kw_only=True)
class Endpoint:
    """Where the API server is, and how it and we prove who we are on the TLS level, in PEM."""

    host: str
    authority: bytes | None = None
    certificate: bytes | None = None
    key: bytes | None = attrs.field(default=None, repr=False)
    verified: bool = True
    server_name: str | None = None
    proxy: str | None = None

    def tls(self) -> ssl.SSLContext:
        """A context that trusts *authority* alone, or the system's if there is none."""
        context = ssl.create_default_context(cadata=self._trusted())
        if self.certificate is not None:
            _prove(context, self.certificate, self.key or b"")
        if not self.verified:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    def _trusted(self) -> str | None:
        """What is trusted; never "", which would stand for the system's authorities, too."""
        return None if self.authority is None else self.authority.decode("ascii", "ignore") + "\n"


def _prove(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Load our identity, which OpenSSL takes from a file only: one that is gone at once."""
    with NamedTemporaryFile() as file:
        file.write(certificate + b"\n" + key)
        file.flush()
        context.load_cert_chain(file.name)


class Sessions:
    """One `aiohttp.ClientSession` for each pool, all of one TLS context."""

    def __init__(self, endpoint: Endpoint) -> None:
        context = endpoint.tls()
        self._sockets: WeakSet[socket.socket] = WeakSet()
        self._sessions = {pool: _session(endpoint, context, pool, self._socket) for pool in Pool}

    def __getitem__(self, pool: Pool) -> aiohttp.ClientSession:
        """The session of *pool*."""
        return self._sessions[pool]

    async def close(self, clock: Clock) -> None:
        """Close all connections; requests in flight fail.

        TLS takes no leave: a peer that is busy would keep its sockets open behind us.
        """
        for session in self._sessions.values():
            if session.connector is not None:
                await session.connector.close(abort_ssl=True)
            await session.close()
        deadline = clock.monotonic() + FAREWELL_SECONDS
        while any(held.fileno() != CLOSED for held in self._sockets):
            if clock.monotonic() > deadline:
                return
            await clock.sleep(POLL_SECONDS)

    def _socket(self, address: tuple[Any, ...]) -> socket.socket:
        made = watchful_socket(address)
        self._sockets.add(made)
        return made


def _session(
    endpoint: Endpoint,
    context: ssl.SSLContext,
    pool: Pool,
    sockets: Callable[[tuple[Any, ...]], socket.socket],
) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(ssl=context, limit=pool.value, socket_factory=sockets)
    return aiohttp.ClientSession(
        connector=connector,
        headers={"Accept": "application/json", "Accept-Encoding": "identity"},
        cookie_jar=aiohttp.DummyCookieJar(),
        proxy=endpoint.proxy,
        trust_env=False,  # It reads .netrc in a thread for each request.
    )


def watchful_socket(address: tuple[Any, ...]) -> socket.socket:
    """A socket for one entry of `getaddrinfo` that notices when its peer is gone."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setblocking(False)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _SOCKET_OPTIONS:
        if hasattr(socket, name):
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return made
