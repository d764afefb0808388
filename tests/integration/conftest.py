"""The operator over the embedded cluster: its CRDs, its namespace, and a world to act in."""

import secrets
from collections.abc import AsyncIterator, Iterator, MutableMapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from gpustack_ctrl.app.start import install_crds
from tests.integration.observer import History, observed
from tests.integration.proxy import Proxy, proxied
from tests.integration.world import CLOCK, TYPE, Operator, World, client_of

pytest.register_assert_rewrite("tests.integration.cycles")

Log = MutableMapping[str, Any]


@pytest_asyncio.fixture
async def world(cluster: Cluster, namespace: str) -> AsyncIterator[World]:
    """The namespace of this test; the CRDs and one InstanceType are there."""
    async with client_of(str(cluster.kubeconfig)) as client:
        await install_crds(client.rest, CLOCK)
        world = World(client.rest, namespace)
        if await world.find(names.INSTANCE_TYPE, TYPE) is None:
            spec = {"manufacturer": "nvidia", "unitResources": {"cpu": 1, "ram": "2Gi"}}
            await world.create(names.INSTANCE_TYPE, {"metadata": {"name": TYPE}, "spec": spec})
        yield world


@pytest.fixture
def operator_namespace(cluster: Cluster) -> str:
    """The operator's own namespace: a new one, so that each test has Settings of its own.

    It ends with the cluster: what ends earlier is written to for a while, and writes are counted.
    """
    name = f"operator-{secrets.token_hex(4)}"
    cluster.add_namespace(name)
    return name


@pytest_asyncio.fixture
async def operator(
    cluster: Cluster, world: World, operator_namespace: str
) -> AsyncIterator[Operator]:
    """The operator, running."""
    held = Operator(str(cluster.kubeconfig), operator_namespace)
    await held.start()
    yield held
    await held.kill()


@pytest_asyncio.fixture
async def proxy(cluster: Cluster, tmp_path: Path) -> AsyncIterator[Proxy]:
    """A proxy in front of the API server, for an operator that is to meet trouble."""
    async with proxied(cluster, tmp_path) as held:
        yield held


@pytest_asyncio.fixture
async def pods(cluster: Cluster, world: World) -> AsyncIterator[History]:
    """All Pods that ever are in the namespace of this test."""
    async with observed(cluster, names.POD, world.namespace) as history:
        yield history


@pytest_asyncio.fixture
async def services(cluster: Cluster, world: World) -> AsyncIterator[History]:
    """All Services that ever are in the namespace of this test."""
    async with observed(cluster, names.SERVICE, world.namespace) as history:
        yield history


@pytest.fixture
def logs() -> Iterator[list[Log]]:
    """What the operator logs during the test; at its end no error may be among it."""
    with capture_logs((merge_contextvars,)) as lines:
        yield lines
    assert lines, "the operator logged nothing that could be judged"
    assert [] == [line for line in lines if line["log_level"] in {"error", "critical"}]
