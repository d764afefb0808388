"""Time is told for billing, whoever restarts meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import attrs
import pytest

from e2e.cluster import until
from e2e.node import RealNode
from e2e.node.layout import NODE
from e2e.tests.metrics.metering import EXPORTER, PERIOD_SECONDS, named, replace
from e2e.tests.metrics.prometheus import Prometheus
from e2e.tests.shop import NAME
from e2e.tests.team import Team

CARDS = 2
PENDING_SECONDS = 4.0
SPEC: dict[str, Any] = {
    "type": "nvidia",
    "resources": {"cpu": "50m", "ram": "32Mi", "accelerator": str(CARDS)},
}
FAMILIES = (
    "allocated_seconds_total",
    "accelerator_allocated_seconds_total",
    "stopped_seconds_total",
    "pending_seconds_total",
)


@attrs.frozen
class Stay:
    """When a Pod was given its place, told to end, and gone; its workload ended in between."""

    begun: float
    told: float
    gone: float

    @property
    def seconds(self) -> float:
        """For how long it held its place, but for half of the time that its end took."""
        return (self.told + self.gone) / 2 - self.begun


def test_time_is_told_as_it_passed(prometheus: Prometheus, team: Team) -> None:
    """Pending, running, stopped, running; the exporter and the operator are replaced meanwhile."""
    created = pending(prometheus, team)
    team.wait_for("Ready")
    begun = scheduled(team)
    replace(team.node, EXPORTER)
    replace(team.node, NAME)
    first = stopped(prometheus, team, begun)
    replace(team.node, EXPORTER)
    team.edit(stop=False)
    team.wait_for("Ready")
    second = stopped(prometheus, team, scheduled(team))
    between = second.begun - first.gone
    # What is told is a little behind: it is whole once the last stop is counted, too.
    prometheus.wait(f"{named('stopped_seconds_total', team)} > {between + 2 * PERIOD_SECONDS}")

    told = {family: increased(prometheus, named(family, team)) for family in FAMILIES}
    held = first.seconds + second.seconds
    assert told["allocated_seconds_total"] == pytest.approx(held, abs=PERIOD_SECONDS)
    assert told["accelerator_allocated_seconds_total"] == pytest.approx(
        CARDS * held, abs=CARDS * PERIOD_SECONDS
    )
    waited = first.begun - created
    assert told["pending_seconds_total"] == pytest.approx(waited, abs=PERIOD_SECONDS)
    idle = between + prometheus.now() - second.told
    assert between < told["stopped_seconds_total"] <= idle + PERIOD_SECONDS


def pending(prometheus: Prometheus, team: Team) -> float:
    """Create an Instance that waits for a place for a while; return when it was created."""
    with cordoned(team.node):
        team.create(**SPEC)
        began = prometheus.now()
        team.wait(lambda one: one["status"].get("blocker", {}).get("gate") == "scheduling")
        until(lambda: prometheus.now() > began + PENDING_SECONDS, "time stands still")
    return began


def scheduled(team: Team) -> float:
    """When the Pod that is there was given its place."""
    pod = team.pod()
    assert pod is not None
    told = {one["type"]: one["lastTransitionTime"] for one in pod["status"]["conditions"]}
    return datetime.fromisoformat(told["PodScheduled"]).timestamp()


def stopped(prometheus: Prometheus, team: Team, begun: float) -> Stay:
    """Stop the Instance, whose Pod was given its place when it *begun*."""
    told = prometheus.now()
    team.edit(stop=True)
    team.gone("pods")
    return Stay(begun, told, prometheus.now())


def increased(prometheus: Prometheus, series: str) -> float:
    """By how much *series* grew, which it alone did."""
    values = [value for _, value in prometheus.samples(series)]
    assert values == sorted(values)
    return prometheus.value(f"increase({series}[10m])")


@contextmanager
def cordoned(node: RealNode) -> Iterator[None]:
    """Let the node take no more Pods, for the length of the block."""
    path = f"/api/v1/nodes/{NODE}"
    node.api().patch(path, {"spec": {"unschedulable": True}})
    try:
        yield
    finally:
        node.api().patch(path, {"spec": {"unschedulable": None}})
