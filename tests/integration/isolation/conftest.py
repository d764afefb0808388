"""Isolation reaches over a whole cluster, so these tests have one of their own."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from e2e.cluster import Cluster, Fleet, running
from gpustack_ctrl.api import names
from tests.integration.isolation.isolation_world import (
    Admin,
)
from tests.integration.isolation.watched_operator import WatchedOperator
from tests.integration.observer import History, observed
from tests.integration.world import World


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A cluster in which nobody else's operator collects our policies."""
    with running(Fleet(nodes=1, gpus=8)) as started:
        yield started


@pytest.fixture
def clean(cluster: Cluster) -> Iterator[None]:
    """Leave neither an Instance nor a policy behind for the operator of the next test."""
    yield
    api = cluster.api()
    for resource in (names.INSTANCE, names.NETWORK_POLICY):
        held = api.get(resource.collection())["items"]
        for namespace in {one["metadata"]["namespace"] for one in held}:
            api.delete(resource.collection(namespace))


@pytest_asyncio.fixture
async def idle(
    cluster: Cluster, clean: None, world: World, operator_namespace: str
) -> AsyncIterator[WatchedOperator]:
    """The operator, not running yet."""
    held = WatchedOperator(str(cluster.kubeconfig), operator_namespace)
    yield held
    await held.kill()


@pytest_asyncio.fixture
async def operator(idle: WatchedOperator) -> WatchedOperator:
    """The operator, running with a blank Setting."""
    await idle.start()
    return idle


@pytest.fixture
def admin(world: World, operator_namespace: str) -> Admin:
    """The Setting, and the policies of all namespaces."""
    return Admin(world.rest, operator_namespace)


@pytest.fixture
def neighbour(cluster: Cluster, world: World) -> World:
    """A second namespace."""
    namespace = f"{world.namespace}-neighbour"
    cluster.add_namespace(namespace)
    return World(world.rest, namespace)


@pytest_asyncio.fixture
async def policies(cluster: Cluster, world: World) -> AsyncIterator[History]:
    """All policies that ever are in the namespace of this test."""
    async with observed(cluster, names.NETWORK_POLICY, world.namespace) as history:
        yield history
