"""The kubelets, asked directly: no right to the API server's proxy is needed for that."""

from collections.abc import Mapping
from typing import Self

import aiohttp
import attrs

from gpustack_ctrl.api.core import Node
from gpustack_ctrl.api.errors import SourceError
from gpustack_ctrl.api.unread import Unread
from gpustack_ctrl.client.answers import AS_IT_IS, Question, answer
from gpustack_ctrl.client.credentials import Connection
from gpustack_ctrl.client.sessions import Endpoint, watchful_socket

USUAL_PORT = 10250
CONNECT_SECONDS = 3.0


class Kubelets:
    """Asks kubelets as who we are to the API server.

    Guarantees: the certificate of a kubelet is checked against the cluster's authority and
    its address, unless *insecure*; each answer is there within *seconds*, or fails; the
    sessions follow a change of certificates.
    """

    def __init__(self, connection: Connection, *, seconds: float, insecure: bool) -> None:
        self._connection = connection
        self._seconds = seconds
        self._insecure = insecure
        self._endpoint: Endpoint | None = None
        self._session: aiohttp.ClientSession | None = None
        self._before: aiohttp.ClientSession | None = None

    async def get(self, node: Node, path: str) -> bytes:
        """What the kubelet of *node* answers at *path*; raise `SourceError`.

        Refused credentials are renewed, and tried once more.
        """
        headers = await self._connection.headers()
        try:
            return await self._ask(node, path, headers)
        except SourceError as error:
            if error.reason is not Unread.UNAUTHORIZED or not await self._connection.renew(headers):
                raise
        return await self._ask(node, path, await self._connection.headers())

    async def close(self) -> None:
        """Close all connections."""
        held, self._session, self._before = (self._session, self._before), None, None
        for session in held:
            await _closed(session)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _ask(self, node: Node, path: str, headers: Mapping[str, str]) -> bytes:
        question = Question(
            who=f"the kubelet of node {node.metadata.name}",
            url=f"https://{_authority(node)}{path}",
            headers=headers,
            seconds=self._seconds,
        )
        return await answer(await self._current(), question)

    async def _current(self) -> aiohttp.ClientSession:
        """The session for the certificates that are valid now.

        The one before it is left open, for what is on its way, until it is replaced, too.
        """
        endpoint = self._connection.endpoint
        if self._session is not None and endpoint == self._endpoint:
            return self._session
        oldest, self._before, self._endpoint = self._before, self._session, endpoint
        self._session = current = self._opened(endpoint)
        await _closed(oldest)
        return current

    def _opened(self, endpoint: Endpoint) -> aiohttp.ClientSession:
        verified = attrs.evolve(endpoint, verified=not self._insecure)
        connector = aiohttp.TCPConnector(
            ssl=verified.tls(), limit=0, limit_per_host=1, socket_factory=watchful_socket
        )
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)
        return aiohttp.ClientSession(
            connector=connector,
            timeout=timeout,
            headers=AS_IT_IS,
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
        )


async def _closed(session: aiohttp.ClientSession | None) -> None:
    if session is not None:
        await session.close()


def _authority(node: Node) -> str:
    """The address and port of the kubelet of *node*; raise `SourceError`."""
    found = node.address
    if not found:
        raise SourceError(Unread.NO_ADDRESS, f"node {node.metadata.name} tells no address")
    port = node.status.daemonEndpoints.kubeletEndpoint.Port or USUAL_PORT
    return f"[{found}]:{port}" if ":" in found else f"{found}:{port}"
