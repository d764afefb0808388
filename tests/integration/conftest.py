"""The operator over the embedded cluster: its CRDs, its namespace, and a world to act in."""

import secrets
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from gpustack_ctrl.app.start import install_crds
from tests.integration.world import CLOCK, TYPE, Operator, World, client_of


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
    """The operator's own namespace: a new one, so that each test has Settings of its own."""
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
