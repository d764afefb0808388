"""Helm, and a cluster in which nothing of ours is installed yet."""

from collections.abc import Iterator

import pytest

from e2e.cluster import Cluster, Fleet, build, running
from tests.chart.helm import Helm


@pytest.fixture(scope="session")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    """Helm without a cluster, built from its Go module."""
    return Helm(program=build(("helm",)).path("helm"), home=tmp_path_factory.mktemp("helm"))


@pytest.fixture(scope="module")
def bare() -> Iterator[Cluster]:
    """
    A cluster for the tests of one module: the kinds and cluster-wide roles that they
    install would be in the way of all others. It takes them along when it ends, since a CRD
    deleted seconds after it was made may linger until the API server's next resync.
    """
    with running(Fleet(nodes=1, gpus=8)) as started:
        yield started
