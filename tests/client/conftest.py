"""Clients of scripted servers."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import attrs
import pytest

from gpustack_ctrl.client.client import Client
from gpustack_ctrl.runtime.clock import SystemClock
from tests.client.kubeconfigs import client, connected, kubeconfig, write
from tests.client.rig import Recorded, Rig, Rigged
from tests.client.scripted import Script, ScriptedServer, scripted


@attrs.frozen
class Served:
    """A scripted server and a client of it."""

    server: ScriptedServer
    client: Client


Serving = Callable[[Script], AbstractAsyncContextManager[Served]]


@pytest.fixture
def serving(tmp_path: Path) -> Serving:
    @asynccontextmanager
    async def serve(script: Script) -> AsyncIterator[Served]:
        async with scripted(script) as server:
            path = write(tmp_path / "kubeconfig", kubeconfig(server.url))
            async with await connected(path) as connection:
                yield Served(server, client(connection))

    return serve


@pytest.fixture
def rigged(tmp_path: Path) -> Rigged:
    @asynccontextmanager
    async def rig(script: Script) -> AsyncIterator[Rig]:
        token = tmp_path / "token"
        token.write_text("first\n")
        async with scripted(script) as server:
            path = write(tmp_path / "kubeconfig", kubeconfig(server.url, {"tokenFile": "token"}))
            recorded = Recorded()
            async with await connected(path) as connection:
                client = Client(
                    connection=connection,
                    clock=SystemClock(),
                    metrics=recorded,
                    on_warning=recorded.warnings.append,
                )
                yield Rig(server, client.rest.exchange, recorded, token)

    return rig
