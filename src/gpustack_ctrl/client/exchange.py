"""One request and its answer: retried where that is safe, refused by `api.errors`."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar
from urllib.parse import quote

import aiohttp
import attrs
from yarl import URL

from gpustack_ctrl.api.errors import UnauthorizedError, UnreachableError
from gpustack_ctrl.client.credentials import Connection
from gpustack_ctrl.client.errors import UntrustedError, unreachable
from gpustack_ctrl.client.refusal import refusal, warnings
from gpustack_ctrl.client.sessions import Pool
from gpustack_ctrl.runtime.clock import Clock

T = TypeVar("T")

CONNECT_SECONDS = 5.0
WRITE_SECONDS = 30.0
BEFORE_RETRY_SECONDS = 0.1
REFUSED_FROM = 300
NO_ANSWER = "<error>"
SAFE_IN_PATH = "/:@!$&'()*+,;=~"
FAULTS = (aiohttp.ClientError, TimeoutError, OSError)


class RequestMetrics(Protocol):
    """What is measured of each request; those of `rest_client_*` in the field."""

    def requested(self, *, method: str, host: str, code: str, seconds: float) -> None:
        """*host* answered *method* with *code*, or not at all: `<error>`.

        The *seconds* of a watch end with the head of its answer.
        """
        ...


class Unmetered:
    """Measures nothing."""

    def requested(self, *, method: str, host: str, code: str, seconds: float) -> None:
        """Measure nothing."""


@attrs.frozen(kw_only=True)
class Call:
    """A request: *path* without the host, *query* already encoded.

    Its answer must be there within *seconds*: all of it, or its head if it is streamed.
    """

    method: str
    path: str
    query: str = ""
    body: bytes | None = None
    content_type: str = "application/json"
    seconds: float = WRITE_SECONDS


class Chunks:
    """The body of a watch as it arrives; raises `UnreachableError` when it is cut."""

    def __init__(self, response: aiohttp.ClientResponse, host: str) -> None:
        self._response = response
        self._host = host

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        try:
            chunk = await self._response.content.readany()
        except FAULTS as error:
            raise unreachable(self._host, error) from error
        if not chunk:
            raise StopAsyncIteration
        return chunk


def ignore(_: str) -> None:
    """Do nothing with a warning."""


@attrs.frozen(kw_only=True)
class Exchange:
    """Sends calls over one pool of a connection.

    Guarantees: each attempt ends within its time. Nothing is sent twice that may have been
    acted on: a failed attempt is repeated, once, if no connection came about or if it only
    reads. Refused credentials are renewed and tried once more. Redirects are not followed.
    """

    connection: Connection
    pool: Pool
    clock: Clock
    metrics: RequestMetrics = attrs.field(factory=Unmetered)
    on_warning: Callable[[str], None] = ignore

    async def send(self, call: Call) -> bytes:
        """The body of the answer; raise `ApiError`."""
        return await self._identified(lambda headers: self._retried(call, headers))

    @asynccontextmanager
    async def stream(self, call: Call) -> AsyncIterator[Chunks]:
        """The body of an endless answer; leaving closes the connection unless it ended."""
        response = await self._identified(lambda headers: self._opened(call, headers))
        try:
            yield Chunks(response, self.connection.host)
        finally:
            if response.content.at_eof():
                response.release()
            else:
                response.close()

    async def _identified(self, attempt: Callable[[Mapping[str, str]], Awaitable[T]]) -> T:
        """What *attempt* returns; renewed credentials get a second one."""
        headers = await self.connection.headers()
        try:
            return await attempt(headers)
        except (UnauthorizedError, UntrustedError):
            if not await self.connection.renew(headers):
                raise
        return await attempt(await self.connection.headers())

    async def _retried(self, call: Call, headers: Mapping[str, str]) -> bytes:
        try:
            return await self._sent(call, headers)
        except UnreachableError as error:
            if not _repeatable(call, error):
                raise
        await self.clock.sleep(BEFORE_RETRY_SECONDS)
        return await self._sent(call, headers)

    async def _sent(self, call: Call, headers: Mapping[str, str]) -> bytes:
        started, code = self.clock.monotonic(), NO_ANSWER
        timeout = aiohttp.ClientTimeout(total=call.seconds, sock_connect=CONNECT_SECONDS)
        try:
            async with self._request(call, headers, timeout) as response:
                body = await response.read()
                code = str(response.status)
        except FAULTS as error:
            raise unreachable(self.connection.host, error) from error
        finally:
            self._measure(call, code, started)
        self._judge(response, body)
        return body

    async def _opened(self, call: Call, headers: Mapping[str, str]) -> aiohttp.ClientResponse:
        """The answer once its head is there."""
        started, code = self.clock.monotonic(), NO_ANSWER
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)
        try:
            async with asyncio.timeout(call.seconds):
                response = await self._request(call, headers, timeout)
                body = await response.read() if response.status >= REFUSED_FROM else b""
                code = str(response.status)
        except FAULTS as error:
            raise unreachable(self.connection.host, error) from error
        finally:
            self._measure(call, code, started)
        self._judge(response, body)
        return response

    def _request(
        self, call: Call, headers: Mapping[str, str], timeout: aiohttp.ClientTimeout
    ) -> "aiohttp.client._RequestContextManager":
        query = f"?{call.query}" if call.query else ""
        url = f"{self.connection.host}{quote(call.path, safe=SAFE_IN_PATH)}{query}"
        content = {"Content-Type": call.content_type} if call.body is not None else {}
        return self.connection.session(self.pool).request(
            call.method,
            URL(url, encoded=True),
            data=call.body,
            headers={**headers, **content},
            timeout=timeout,
            allow_redirects=False,  # The credentials are for this host alone.
            server_hostname=self.connection.server_name,
        )

    def _measure(self, call: Call, code: str, started: float) -> None:
        seconds = self.clock.monotonic() - started
        self.metrics.requested(
            method=call.method, host=self.connection.authority, code=code, seconds=seconds
        )

    def _judge(self, response: aiohttp.ClientResponse, body: bytes) -> None:
        """Pass warnings on; raise the error that *response* stands for."""
        for text in warnings(response.headers):
            self.on_warning(text)
        if response.status >= REFUSED_FROM:
            raise refusal(response.status, response.headers, body)


def _repeatable(call: Call, error: UnreachableError) -> bool:
    """Whether a second attempt may help, and cannot do anything twice."""
    if isinstance(error, UntrustedError) or isinstance(error.__cause__, TimeoutError):
        return False
    return call.method == "GET" or isinstance(error.__cause__, aiohttp.ClientConnectorError)
