"""A watch of its own: what was there at each instant, told by the API server alone.

It shares neither code nor connection with the operator, and it is open before anything
happens. So what comes and goes between two looks of a test is not missed.
"""

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import attrs

from e2e.cluster import Cluster
from gpustack_ctrl.api.meta import Resource
from tests.integration.world import Wire, until

LINE_BYTES = 1 << 20


@attrs.define
class History:
    """All states of the objects of one resource in one namespace, in order."""

    list_now: Callable[[], Any]
    states: list[Wire] = attrs.field(factory=list)
    most_at_once: int = 0
    _live: dict[str, str] = attrs.field(factory=dict)

    def note(self, event: Wire) -> None:
        """Take in one event of the watch."""
        assert event["type"] in {"ADDED", "MODIFIED", "DELETED"}, event
        uid = event["object"]["metadata"]["uid"]
        if event["type"] == "DELETED":
            self._live.pop(uid, None)
            return
        self.states.append(event["object"])
        self._live[uid] = event["object"]["metadata"]["resourceVersion"]
        self.most_at_once = max(self.most_at_once, len(self._live))

    @property
    def uids(self) -> tuple[str, ...]:
        """The UIDs of all objects that ever were, in the order of their appearance."""
        return tuple(dict.fromkeys(state["metadata"]["uid"] for state in self.states))

    @property
    def made(self) -> tuple[str, ...]:
        """As `uids`, without Pods that the simulated kubelet struck down.

        It deletes by name and not by UID: when it is late, it hits the successor of the
        Pod that was to end, with no time of grace, which is how it is told.
        """
        return tuple(uid for uid in self.uids if uid not in self.struck_down)

    @property
    def struck_down(self) -> frozenset[str]:
        """The UIDs of Pods that went without having been told to."""
        told = {
            state["metadata"]["uid"]
            for state in self.states
            if "deletionTimestamp" in state["metadata"]
        }
        return frozenset(self.uids) - self._live.keys() - told

    async def caught_up(self) -> "History":
        """Itself, once it has seen what is there now."""

        async def is_current() -> bool:
            listed = (await self.list_now())["items"]
            there = {o["metadata"]["uid"]: o["metadata"]["resourceVersion"] for o in listed}
            return there == self._live

        await until(is_current)
        return self


@asynccontextmanager
async def observed(cluster: Cluster, resource: Resource, namespace: str) -> AsyncIterator[History]:
    """The history of *resource* in *namespace*, from now to the end of the block."""
    url = f"{cluster.server}{resource.collection(namespace)}"
    async with _session(cluster) as session:

        async def list_now() -> Any:
            async with session.get(url, raise_for_status=True) as response:
                return await response.json()

        start = await list_now()
        assert [] == start["items"], "observe before anything is there"
        history = History(list_now)
        version = start["metadata"]["resourceVersion"]
        watch = {"watch": "true", "resourceVersion": version, "timeoutSeconds": "600"}
        async with session.get(url, params=watch, raise_for_status=True) as response:
            reading = asyncio.create_task(_read(response, history))
            try:
                yield history
                assert not reading.done(), "the watch ended too early"
            finally:
                reading.cancel()
                await asyncio.wait({reading})


@asynccontextmanager
async def _session(cluster: Cluster) -> AsyncIterator[aiohttp.ClientSession]:
    """A session of the administrator; the block ends once all its sockets are closed."""
    sockets: list[socket.socket] = []

    def made(address: tuple[Any, ...]) -> socket.socket:
        sockets.append(socket.socket(*address[:3]))
        sockets[-1].setblocking(False)
        return sockets[-1]

    async def are_closed() -> bool:
        return all(held.fileno() < 0 for held in sockets)

    trust = ssl.create_default_context(cafile=str(cluster.layout.certificate))
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=trust, socket_factory=made),
        headers={"Authorization": f"Bearer {cluster.token()}"},
        timeout=aiohttp.ClientTimeout(total=None),
        read_bufsize=LINE_BYTES,
    ) as session:
        yield session
    await until(are_closed)


async def _read(response: aiohttp.ClientResponse, history: History) -> None:
    async for line in response.content:
        history.note(json.loads(line))
