"""A server on loopback that answers as a test wrote down, faults included."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import attrs

OK = 200


@attrs.frozen(kw_only=True)
class Received:
    """A request as it arrived."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    connection: int
    peer: str = ""
    """The common name in the client's certificate."""

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        return self.target.partition("?")[2]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@attrs.frozen
class Answer:
    """A complete answer."""

    status: int = OK
    body: bytes = b"{}"
    headers: Mapping[str, str] = attrs.field(factory=dict)

    @classmethod
    def of(cls, status: int, body: object, **headers: str) -> "Answer":
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls(status, json.dumps(body).encode(), named)


@attrs.frozen
class Stream:
    """A chunked answer that stays open after *chunks*, or is cut or ended then."""

    chunks: tuple[bytes, ...]
    then: str = "hang"


@attrs.frozen
class Cut:
    """The connection is closed after *sent* bytes of an answer."""

    sent: bytes = b""


@attrs.frozen
class Hang:
    """Nothing is ever answered."""


Script = Callable[[Received], Answer | Stream | Cut | Hang]


@attrs.define
class ScriptedServer:
    """Answers each request by *script* and remembers it."""

    script: Script
    received: list[Received] = attrs.field(factory=list)
    closed: asyncio.Event = attrs.field(factory=asyncio.Event)
    """Set once a client has closed a connection."""
    port: int = 0
    scheme: str = "http"
    _connections: int = 0
    _tasks: "set[asyncio.Task[None]]" = attrs.field(factory=set)

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._connections += 1
        try:
            await self._converse(reader, writer, self._connections)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # The client left, or the test ended.
        finally:
            self.closed.set()
            writer.close()

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _converse(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        while True:
            request = attrs.evolve(await _read(reader, number), peer=_peer(writer))
            self.received.append(request)
            answer = self.script(request)
            writer.write(_bytes(answer))
            await writer.drain()
            if isinstance(answer, Cut) or (isinstance(answer, Stream) and answer.then == "cut"):
                return
            if isinstance(answer, Hang) or (isinstance(answer, Stream) and answer.then == "hang"):
                await reader.readexactly(1)


def _peer(writer: asyncio.StreamWriter) -> str:
    certificate = writer.get_extra_info("peercert") or {}
    subject = dict(pair for (pair,) in certificate.get("subject", ()))
    return str(subject.get("commonName", ""))


async def _read(reader: asyncio.StreamReader, number: int) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    method, target, _ = head[0].split(" ")
    pairs = (line.split(": ", 1) for line in head[1:] if line)
    headers = {name.lower(): value for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method=method, target=target, headers=headers, body=body, connection=number)


def _bytes(answer: Answer | Stream | Cut | Hang) -> bytes:
    match answer:
        case Answer(status=status, body=body, headers=headers):
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            head = f"HTTP/1.1 {status} Reason\r\nContent-Length: {len(body)}\r\n{lines}\r\n"
            return head.encode() + body
        case Stream(chunks=chunks, then=then):
            framed = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
            end = b"0\r\n\r\n" if then == "end" else b""
            return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + framed + end
        case Cut(sent=sent):
            return sent
        case Hang():
            return b""


@asynccontextmanager
async def scripted(
    script: Script, *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[ScriptedServer]:
    """A server that answers by *script* until the context is left."""
    server = ScriptedServer(script)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    server.scheme = "https" if tls else "http"
    try:
        yield server
    finally:
        server.stop()
        listening.close()
        await listening.wait_closed()


def in_turn(*answers: Answer | Stream | Cut | Hang) -> Script:
    """A script that gives *answers* one after the other, and fails the test after the last."""
    left = iter(answers)
    return lambda _: next(left)
