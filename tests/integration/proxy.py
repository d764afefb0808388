"""What stands between the operator and the API server: it looks, holds back and cuts.

It speaks plain HTTP on loopback to the operator, whose credentials it passes on, and TLS
to the API server.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from enum import Enum
from pathlib import Path

import aiohttp
import attrs
import yaml
from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from e2e.cluster import Cluster
from e2e.cluster.layout import LOOPBACK
from gpustack_ctrl.api.meta import Resource

WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# What concerns one connection, and is made anew for the next one.
_HOP = ("Host", "Connection", "Content-Length", "Transfer-Encoding")


@attrs.frozen
class Call:
    """A request that came by."""

    method: str
    path: str
    watches: bool = False

    @property
    def writes(self) -> bool:
        """Whether it changes anything."""
        return self.method in WRITES

    def within(self, namespace: str) -> bool:
        """Whether it concerns objects of that namespace."""
        return f"/namespaces/{namespace}/" in self.path


class Fate(Enum):
    """What becomes of a request."""

    PASSES = "it passes"
    LOST = "it is done, but nobody hears the answer"
    LAST = "it is done, but nobody hears the answer, and nothing passes after it"
    BROKEN = "it is not done, and its connection breaks"
    CUT = "it is not done, and nothing passes after it"


def passes(_: Call) -> Fate:
    """The fate of every request as long as nobody says otherwise."""
    return Fate.PASSES


@attrs.define
class Nth:
    """Gives the write number *number* within *namespace* its *fate*; all others pass.

    Events do not count: they are told and forgotten.
    """

    number: int
    namespace: str
    fate: Fate
    seen: int = 0

    def __call__(self, call: Call) -> Fate:
        counts = call.writes and call.within(self.namespace) and not call.path.endswith("/events")
        if not counts:
            return Fate.PASSES
        self.seen += 1
        return self.fate if self.seen == self.number else Fate.PASSES

    @property
    def struck(self) -> bool:
        """Whether that write came."""
        return self.seen >= self.number


@attrs.define(eq=False)
class Proxy:
    """The way to the API server at *server*; *kubeconfig* leads the operator here."""

    server: str
    kubeconfig: Path
    session: aiohttp.ClientSession
    judge: Callable[[Call], Fate] = passes
    calls: list[Call] = attrs.field(factory=list)
    listener: web.Server = attrs.field(init=False)
    _down: bool = False
    _gates: dict[str, asyncio.Event] = attrs.field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.listener = web.Server(self.handle, handler_cancellation=True)

    def hold(self, resource: Resource) -> None:
        """From now on keep back whatever the watches of *resource* tell."""
        self._gate(resource.collection()).clear()

    def release(self, resource: Resource) -> None:
        """Deliver what was kept back, and hold back no more."""
        self._gate(resource.collection()).set()

    def count(self, method: str, resource: Resource, *, namespace: str) -> int:
        """How many requests of *method* came for objects of *resource* in *namespace*."""
        collection = resource.collection(namespace)
        return sum(
            call.method == method and call.path.startswith(collection) for call in self.calls
        )

    def cut(self) -> None:
        """Break all connections; new ones come about again."""
        for connection in self.listener.connections:
            _abort(connection.transport)

    def down(self) -> None:
        """Break all connections and answer nobody, until `up`."""
        self._down = True
        self.cut()

    @property
    def is_down(self) -> bool:
        """Whether it answers nobody."""
        return self._down

    def up(self) -> None:
        """Answer again."""
        self._down = False

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Pass a request on, unless its fate is another one."""
        call = Call(request.method, request.path, "watch" in request.query)
        self.calls.append(call)
        fate = Fate.CUT if self._down else self.judge(call)
        if fate in {Fate.CUT, Fate.BROKEN}:
            if fate is Fate.CUT:
                self.down()
            _abort(request.transport)
            return web.Response()
        async with self._forwarded(request, await request.read()) as answer:
            if fate is Fate.PASSES:
                return await self._relayed(request, call, answer)
            await answer.read()
        if fate is Fate.LAST:
            self.down()
        _abort(request.transport)
        return web.Response()

    def _forwarded(
        self, request: web.BaseRequest, body: bytes
    ) -> "aiohttp.client._RequestContextManager":
        url = URL(f"{self.server}{request.raw_path}", encoded=True)
        headers = _without_hop(request.headers)
        return self.session.request(request.method, url, data=body or None, headers=headers)

    async def _relayed(
        self, request: web.BaseRequest, call: Call, answer: aiohttp.ClientResponse
    ) -> web.StreamResponse:
        response = web.StreamResponse(status=answer.status, headers=_without_hop(answer.headers))
        await response.prepare(request)
        async for chunk in answer.content.iter_any():
            if call.watches:
                await self._gate(call.path).wait()
            await response.write(chunk)
        await response.write_eof()
        return response

    def _gate(self, path: str) -> asyncio.Event:
        if path not in self._gates:
            self._gates[path] = asyncio.Event()
            self._gates[path].set()
        return self._gates[path]


@asynccontextmanager
async def proxied(cluster: Cluster, directory: Path) -> AsyncIterator[Proxy]:
    """A proxy in front of *cluster*, at work; its kubeconfig lies in *directory*."""
    trust = ssl.create_default_context(cafile=str(cluster.layout.certificate))
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=trust, limit=0),
        timeout=aiohttp.ClientTimeout(total=None),
        auto_decompress=False,
        skip_auto_headers=("Accept-Encoding", "User-Agent", "Content-Type"),
    ) as session:
        proxy = Proxy(cluster.server, directory / "proxied.kubeconfig", session)
        async with _listening(proxy.listener) as port:
            admin = yaml.safe_load(cluster.kubeconfig.read_text())
            admin["clusters"][0]["cluster"] = {"server": f"http://{LOOPBACK}:{port}"}
            proxy.kubeconfig.touch(mode=0o600)
            proxy.kubeconfig.write_text(yaml.safe_dump(admin))
            yield proxy


@asynccontextmanager
async def _listening(listener: web.Server) -> AsyncIterator[int]:
    """The port of *listener*, for the length of the block."""
    runner = web.ServerRunner(listener, shutdown_timeout=0.01)
    await runner.setup()
    try:
        await web.TCPSite(runner, LOOPBACK, 0).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def _without_hop(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    kept = CIMultiDict(headers)
    for name in _HOP:
        kept.popall(name, None)
    return kept


def _abort(transport: asyncio.BaseTransport | None) -> None:
    if isinstance(transport, asyncio.Transport):
        transport.abort()
