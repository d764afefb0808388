"""A cluster of its own: the cards of nine manufacturers, and what its tests alone count."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from e2e.cluster import Cluster, Fleet, running
from tests.integration.devices.fleet import Own, add_fleet, own_type
from tests.integration.world import World


@pytest.fixture(scope="package")
def cluster() -> Iterator[Cluster]:
    """One node for each manufacturer."""
    with running(Fleet(nodes=0)) as started:
        add_fleet(started)
        yield started


@pytest_asyncio.fixture
async def own(cluster: Cluster, world: World) -> AsyncIterator[Own]:
    """A type with cards of NVIDIA's, whose nodes this test adds."""
    async with own_type(cluster, world) as held:
        yield held
