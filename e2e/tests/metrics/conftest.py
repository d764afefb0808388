"""One Prometheus for all tests of this folder, and who it is told of from the beginning.

The kubelet takes its time to measure: so all workloads begin together, and not test by test.
"""

from collections.abc import Iterator

import pytest

from e2e.node import RealNode
from e2e.tests.metrics.cards import Cards, told_by
from e2e.tests.metrics.metering import measured
from e2e.tests.metrics.prometheus import Prometheus
from e2e.tests.metrics.workloads import CROWD, Scene, join, trouble
from e2e.tests.team import Team, tenancy


@pytest.fixture(scope="package")
def cards(shop: RealNode) -> Iterator[Cards]:
    """A source on the node that tells of cards; none as yet."""
    with told_by(shop) as told:
        yield told


@pytest.fixture(scope="package")
def prometheus(
    shop: RealNode, cards: Cards, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Prometheus]:
    """A Prometheus outside that scrapes operator and exporter, with our rules."""
    with measured(shop, tmp_path_factory.mktemp("prometheus")) as started:
        yield started


@pytest.fixture(scope="package", autouse=True)
def crowd(shop: RealNode, prometheus: Prometheus) -> Iterator[Team]:
    """Workloads that use what is known."""
    with tenancy(shop) as team:
        for name in CROWD:
            join(team, name)
        yield team


@pytest.fixture(scope="package", autouse=True)
def scene(shop: RealNode, prometheus: Prometheus, cards: Cards) -> Iterator[Scene]:
    """Everything that may go wrong without anybody's doing."""
    with tenancy(shop) as team:
        since = prometheus.now()
        trouble(team, cards)
        yield Scene(node=shop, team=team, cards=cards, since=since)
