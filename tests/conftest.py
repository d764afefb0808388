"""What every test may ask for: a cluster for the whole run, a namespace for itself."""

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.cluster import Cluster, Fleet, running
from e2e.cluster.interrupts import heed_interrupts


def pytest_configure() -> None:
    """Let interrupts through."""
    heed_interrupts()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """
    A cluster with two nodes of eight cards each. GPUSTACK_CTRL_CLUSTER names the
    directory of a running one to use instead, which saves developers its start.
    """
    directory = os.environ.get("GPUSTACK_CTRL_CLUSTER")
    if directory:
        yield Cluster(directory=Path(directory))
        return
    with running(Fleet(nodes=2, gpus=8)) as started:
        yield started


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    """A namespace of its own for each test, in which Pods can be made."""
    name = f"test-{secrets.token_hex(4)}"
    cluster.add_namespace(name)
    yield name
    cluster.remove_namespace(name)
