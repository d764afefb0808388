"""Kubelets on loopback: scripted, or misbehaving in ways that no script can tell."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import attrs

from gpustack_ctrl.api.core import (
    DaemonEndpoint,
    Node,
    NodeAddress,
    NodeDaemonEndpoints,
    NodeStatus,
)
from gpustack_ctrl.api.errors import SourceError
from gpustack_ctrl.api.meta import ObjectMeta
from gpustack_ctrl.client.kubelets import Kubelets
from tests.client.certificates import Authority
from tests.client.kubeconfigs import connected, kubeconfig, write
from tests.client.scripted import Script, ScriptedServer, scripted

PATIENT = 30.0
HASTY = 0.3
PATH = "/stats/summary"
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def node(port: int, *addresses: str, name: str = "node-1") -> Node:
    """A node whose kubelet listens on *port*."""
    status = NodeStatus(
        addresses=tuple(NodeAddress(type="InternalIP", address=held) for held in addresses),
        daemonEndpoints=NodeDaemonEndpoints(kubeletEndpoint=DaemonEndpoint(Port=port)),
    )
    return Node(metadata=ObjectMeta(name=name, namespace=""), status=status)


@attrs.frozen
class Cluster:
    """An authority that the kubeconfig in *folder* trusts, and a token to show."""

    folder: Path
    authority: Authority

    @classmethod
    def create(cls, folder: Path) -> "Cluster":
        made = cls(folder, Authority.create(folder / "authority"))
        made.say("first")
        return made

    def say(self, token: str) -> None:
        """Show *token* from now on, where it is read again."""
        (self.folder / "token").write_text(token)
        user = {"tokenFile": "token"}
        trusted = {"certificate-authority": str(self.authority.certificate)}
        self.write(kubeconfig("https://127.0.0.1:1", user, cluster=trusted))

    def show(self, name: str) -> None:
        """Show a client certificate with that common name from now on."""
        pair = self.authority.sign(name)
        user = {"client-certificate": str(pair.certificate), "client-key": str(pair.key)}
        trusted = {"certificate-authority": str(self.authority.certificate)}
        self.write(kubeconfig("https://127.0.0.1:1", user, cluster=trusted))

    def write(self, content: dict[str, object]) -> None:
        write(self.folder / "kubeconfig", content)

    @asynccontextmanager
    async def asking(
        self, *, seconds: float = PATIENT, insecure: bool = False
    ) -> AsyncIterator[Kubelets]:
        """Whoever asks kubelets by that kubeconfig."""
        async with (
            await connected(self.folder / "kubeconfig") as connection,
            Kubelets(connection, seconds=seconds, insecure=insecure) as kubelets,
        ):
            yield kubelets

    @asynccontextmanager
    async def kubelet(
        self, script: Script, *, alternative: str = ""
    ) -> AsyncIterator[ScriptedServer]:
        """A kubelet with a certificate of the authority."""
        tls = self.authority.server(alternative=alternative or "IP:127.0.0.1")
        async with scripted(script, tls=tls) as server:
            yield server


@asynccontextmanager
async def listening(
    handler: Handler, tls: ssl.SSLContext | None, *, host: str = "127.0.0.1"
) -> AsyncIterator[int]:
    """The port of a server that does as *handler* does."""
    tasks = set[asyncio.Task[None]]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await handler(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # The client left, or the test ended.
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(serve, host, 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


async def failure(kubelets: Kubelets, of: Node) -> SourceError:
    """Why the kubelet gives no answer."""
    try:
        body = await kubelets.get(of, PATH)
    except SourceError as error:
        return error
    raise AssertionError(f"it answered {len(body)} bytes")
