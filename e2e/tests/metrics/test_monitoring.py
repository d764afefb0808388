"""Each panel finds something, and alerts fire when what they are about happens."""

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from e2e.cluster import until
from e2e.cluster.api import STRATEGIC_PATCH
from e2e.node.layout import NODE
from e2e.tests.metrics.admission import QUEUED_TYPE, queueing, without_node_ports
from e2e.tests.metrics.failing import away, unable
from e2e.tests.metrics.metering import EXPORTER, scaled
from e2e.tests.metrics.prometheus import Prometheus
from e2e.tests.metrics.workloads import SMALL, Scene
from e2e.tests.shop import NAME, NAMESPACE, change_setting, rolled_out
from monitoring.alerts import alerts
from monitoring.queries import queries

FIRES_SECONDS = 120.0
ISOLATION = "instance-isolation-pod-cidrs"
LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/{NAME}"
# Why some alerts are not provoked: what they measure is there, and is well.
NOT_PROVOKED = {
    "GpustackWatchStale": "the API server would have to be silent for five minutes",
    "GpustackReconcilePanics": "it takes a defect of the operator",
    "GpustackQueueWaitLong": "it takes more Instances than one node holds",
    "GpustackEventLoopLag": "it takes a process without processor time",
}


@contextmanager
def _isolated_elsewhere(scene: Scene) -> Iterator[None]:
    """Have isolation for addresses that Pods do not have."""
    change_setting(scene.node, ISOLATION, "10.99.0.0/16")
    try:
        yield
    finally:
        change_setting(scene.node, ISOLATION, "")


def _no_operator(scene: Scene) -> AbstractContextManager[None]:
    return scaled(scene.node, NAME, 0)


def _no_exporter(scene: Scene) -> AbstractContextManager[None]:
    return scaled(scene.node, EXPORTER, 0)


@contextmanager
def _led_by_nobody(scene: Scene) -> Iterator[None]:
    """Have a lease whose holder does not exist: the operator ends, and waits until it is over."""
    scene.node.api().patch(LEASE, {"spec": {"holderIdentity": "nobody"}})
    yield
    rolled_out(scene.node)


@contextmanager
def _without_right(scene: Scene) -> Iterator[None]:
    """Have an operator that may make no Pods, and an Instance that needs one."""
    with unable(scene.node, NAME, "create", "pods"):
        scene.team.create("late", resources=SMALL)
        yield


@contextmanager
def _node_lost(scene: Scene) -> Iterator[None]:
    """Have no kubelet, and a control plane that has noticed."""
    lost = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}
    with away(scene.node):
        path = f"/api/v1/nodes/{NODE}/status"
        body = {"status": {"conditions": [lost]}}
        scene.node.api().patch(path, body, kind=STRATEGIC_PATCH)
        yield
    scene.node.wait_for_node(NODE)


@contextmanager
def _without_figures(scene: Scene) -> Iterator[None]:
    """Have a source that tells nothing of the cores of cards any more."""
    held = {card: told.pop("GPU_UTIL", 0) for card, told in scene.cards.figures.items()}
    try:
        yield
    finally:
        for card, value in held.items():
            scene.cards.figures[card]["GPU_UTIL"] = value


@contextmanager
def _queued(scene: Scene) -> Iterator[None]:
    """Have an Instance that its queue does not admit."""
    with queueing(scene.node):
        scene.team.create("queued", type=QUEUED_TYPE)
        yield
        scene.team.delete("queued")
        scene.team.gone("instances", "queued")


@contextmanager
def _without_ports(scene: Scene) -> Iterator[None]:
    """Have no node port left for an Instance."""
    with without_node_ports(scene.node, scene.team.namespace):
        scene.team.create("portless", resources=SMALL, ports=[{"port": 8080}])
        yield
    scene.team.delete("portless")


@contextmanager
def _without_api_server(scene: Scene) -> Iterator[None]:
    """Have nobody who answers the operator."""
    scene.node.box.stop("kube-apiserver", signal.SIGKILL)  # Else it waits for its watchers.
    try:
        yield
    finally:
        scene.node.restart_api_server()
    rolled_out(scene.node)


PROVOKED: dict[str, Callable[[Scene], AbstractContextManager[None]]] = {
    "GpustackIsolationNotEnforced": _isolated_elsewhere,
    "GpustackAcceleratorFiguresLost": _without_figures,
    "GpustackReconcileErrors": _without_right,
    "GpustackNodeLost": _node_lost,
    "GpustackExporterDown": _no_exporter,
    "GpustackOperatorDown": _no_operator,
    "GpustackNoLeader": _led_by_nobody,
    "GpustackInstanceQueuedLong": _queued,
    "GpustackNodePortsExhausted": _without_ports,
    "GpustackApiRequestsFailing": _without_api_server,
}
NAMES = tuple(alert.name for alert in alerts())
LASTING = tuple(name for name in NAMES if name not in PROVOKED and name not in NOT_PROVOKED)


def firing(name: str) -> str:
    return f'ALERTS{{alertname="{name}",alertstate="firing"}}'


@pytest.mark.parametrize("name", [name for name in LASTING if name != "GpustackExporterBlind"])
def test_an_alert_fires(prometheus: Prometheus, scene: Scene, name: str) -> None:
    until(lambda: bool(prometheus.ask(firing(name))), f"{name} is silent", seconds=FIRES_SECONDS)


@pytest.mark.parametrize("name", PROVOKED)
def test_an_alert_fires_when_somebody_does_that(
    prometheus: Prometheus, scene: Scene, name: str
) -> None:
    with PROVOKED[name](scene):
        until(lambda: bool(prometheus.ask(firing(name))), f"{name} is silent")
    until(lambda: not prometheus.ask(firing(name)), f"{name} does not end")


def test_an_exporter_that_cannot_read_a_source_was_told_of(
    prometheus: Prometheus, scene: Scene
) -> None:
    assert prometheus.ever(firing("GpustackExporterBlind"), since=scene.since)


def test_every_rule_is_evaluated(prometheus: Prometheus, scene: Scene) -> None:
    told = prometheus.rules()

    assert {} == {rule["name"]: rule["lastError"] for rule in told if rule["health"] != "ok"}
    assert set(NAMES) < {rule["name"] for rule in told}
    assert set(NOT_PROVOKED) < set(NAMES)


@pytest.mark.parametrize("name", NOT_PROVOKED)
def test_an_alert_that_is_not_provoked_measures_something(
    prometheus: Prometheus, scene: Scene, name: str
) -> None:
    [query] = [rule["query"] for rule in prometheus.rules() if rule["name"] == name]
    measured, compared, _ = query.rpartition(" > ")

    assert compared
    assert prometheus.ever(measured, since=scene.since)


def test_every_panel_finds_something(prometheus: Prometheus, scene: Scene) -> None:
    pictured = [query for query in queries() if not query.where.startswith("alert ")]
    nothing = [one for one in pictured if not prometheus.ever(one.expr, since=scene.since)]

    assert len(pictured) > len(NAMES)
    assert [] == [one.where for one in nothing]
