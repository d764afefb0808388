"""What tests of operations act with beside their world: kubectl, types, nodes and policies."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from tests.integration.operations.admission import Admission
from tests.integration.world import World

Kubectl = Callable[..., Awaitable[str]]
Maker = Callable[..., Awaitable[str]]


@pytest.fixture
def kubectl(cluster: Cluster, world: World) -> Kubectl:
    """The administrator's kubectl in the namespace of this test; operators go on meanwhile."""

    async def call(*arguments: str, **rest: Any) -> str:
        words = ("--namespace", world.namespace, *arguments)
        return await asyncio.to_thread(cluster.kubectl, *words, **rest)

    return call


@pytest_asyncio.fixture
async def offer(world: World) -> AsyncIterator[Maker]:
    """Make an InstanceType of this test alone; its name is returned."""
    made: list[str] = []

    async def make(**spec: Any) -> str:
        name = f"type-{secrets.token_hex(4)}"
        await world.create(names.INSTANCE_TYPE, {"metadata": {"name": name}, "spec": spec})
        made.append(name)
        return name

    yield make
    for name in made:
        await world.delete(names.INSTANCE_TYPE, name)


@pytest_asyncio.fixture
async def node(cluster: Cluster, world: World) -> AsyncIterator[str]:
    """A node of this test alone: the type `{"nodeSelector": {"only": NODE}}` runs there."""
    name = f"node-{secrets.token_hex(4)}"
    await asyncio.to_thread(cluster.add_node, name, labels={"only": name})
    yield name
    await asyncio.to_thread(cluster.remove_node, name)


@pytest_asyncio.fixture
async def admission(cluster: Cluster, world: World) -> AsyncIterator[Admission]:
    """What changes Pods of this namespace as they are made."""
    held = Admission(world, cluster)
    yield held
    await held.remove()
