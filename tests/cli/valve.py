"""A way to the API server on which requests can be held up; answers always come through.

So watches go on telling while whoever they tell cannot get a word in.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import yaml

from e2e.cluster import Cluster
from e2e.cluster.layout import LOOPBACK
from tests.integration.world import CLOCK

CHUNK = 1 << 16


@attrs.define
class Valve:
    """Plain HTTP on loopback to the operator, TLS to the API server."""

    cluster: Cluster
    kubeconfig: Path
    _open: asyncio.Event = attrs.field(factory=asyncio.Event)
    _served: dict[asyncio.StreamWriter, asyncio.Task[None]] = attrs.field(factory=dict)

    @property
    def connected(self) -> bool:
        """Whether anybody wants to get through."""
        return bool(self._served)

    def open(self) -> None:
        """Let requests pass, those held up first."""
        self._open.set()

    def shut(self) -> None:
        """Hold up all requests from now on."""
        self._open.clear()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Relay one connection until one of its sides closes it."""
        relaying = asyncio.create_task(self._relayed(reader, writer))
        self._served[writer] = relaying
        await asyncio.wait({relaying})
        del self._served[writer]
        writer.transport.abort()

    async def close(self) -> None:
        """Return once all connections are given up."""
        for relaying in self._served.values():
            relaying.cancel()
        while self._served:
            await asyncio.wait(set(self._served.values()))
            await CLOCK.sleep(0)

    async def _relayed(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        trust = ssl.create_default_context(cafile=str(self.cluster.layout.certificate))
        port = self.cluster.layout.read_ports().api_server
        answers, requests = await asyncio.open_connection(LOOPBACK, port, ssl=trust)
        ways = {
            asyncio.create_task(self._requests(reader, requests)),
            asyncio.create_task(_relay(answers, writer)),
        }
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.wait(ways)
            requests.transport.abort()
            await CLOCK.sleep(0)

    async def _requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(CHUNK):
            await self._open.wait()
            writer.write(chunk)
            await writer.drain()


async def _relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(CHUNK):
        writer.write(chunk)
        await writer.drain()


@asynccontextmanager
async def valve_before(cluster: Cluster, directory: Path) -> AsyncIterator[Valve]:
    """A valve before the API server of *cluster*, shut; its kubeconfig lies in *directory*."""
    valve = Valve(cluster, directory / "valve.kubeconfig")
    async with await asyncio.start_server(valve.serve, LOOPBACK, 0) as server:
        port = server.sockets[0].getsockname()[1]
        admin = yaml.safe_load(cluster.kubeconfig.read_text())
        admin["clusters"][0]["cluster"] = {"server": f"http://{LOOPBACK}:{port}"}
        valve.kubeconfig.touch(mode=0o600)
        valve.kubeconfig.write_text(yaml.safe_dump(admin))
        yield valve
        await valve.close()
