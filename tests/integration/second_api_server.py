"""Another API server over the same etcd, which a test may kill and start again.

The cluster does not outlive its own one, and needs it: controllers, scheduler and the
simulated kubelets go on as if nothing happened.
"""

import asyncio
import os
import signal
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path

import aiohttp
import attrs
import yaml

from e2e.cluster import Cluster
from e2e.cluster.layout import LOOPBACK, Layout, Ports
from e2e.cluster.parts import api_server
from e2e.cluster.processes import ends_with_parent
from tests.integration.world import until


@attrs.define
class SecondApiServer:
    """The second API server of the cluster in *layout*; *kubeconfig* leads to it."""

    layout: Layout
    ports: Ports
    kubeconfig: Path
    _process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        """Run it, and return once it is ready."""
        part = api_server(self.layout, self.ports)
        with (self.layout.log / "second-kube-apiserver").open("ab") as log:
            self._process = subprocess.Popen(  # noqa: ASYNC220  It forks, and returns at once.
                [self.layout.bin / part.name, *part.arguments],
                cwd=self.layout.directory,
                env={"PATH": os.defpath, "HOME": str(self.layout.cache)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=ends_with_parent(signal.SIGKILL),  # noqa: PLW1509  As the cluster's.
            )
        await until(self._is_ready)

    async def kill(self) -> None:
        """End it where it stands."""
        if self._process is not None:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)
            self._process = None

    async def _is_ready(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, "the second API server ended"
        trust = ssl.create_default_context(cafile=str(self.layout.certificate))
        url = f"https://{LOOPBACK}:{self.ports.api_server}/readyz"
        try:
            async with aiohttp.ClientSession() as session, session.get(url, ssl=trust) as answer:
                return answer.status == HTTPStatus.OK
        except aiohttp.ClientError:
            return False


@asynccontextmanager
async def second_api_server(cluster: Cluster, directory: Path) -> AsyncIterator[SecondApiServer]:
    """It is ready; its kubeconfig lies in *directory*."""
    ports = attrs.evolve(cluster.layout.read_ports(), api_server=Ports.free().api_server)
    server = SecondApiServer(cluster.layout, ports, directory / "second.kubeconfig")
    admin = yaml.safe_load(cluster.kubeconfig.read_text())
    admin["clusters"][0]["cluster"]["server"] = f"https://{LOOPBACK}:{ports.api_server}"
    server.kubeconfig.touch(mode=0o600)
    server.kubeconfig.write_text(yaml.safe_dump(admin))
    try:
        await server.start()
        yield server
    finally:
        await server.kill()
