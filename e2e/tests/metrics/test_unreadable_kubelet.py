"""What is told when the kubelet cannot be read, and what its reader may read at all."""

import http.client
import ssl
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from e2e.node import RealNode
from e2e.node.layout import NODE_ADDRESS
from e2e.tests.metrics.failing import away, hanging, without
from e2e.tests.metrics.metering import EXPORTER, PERIOD_SECONDS, REQUEST_SECONDS, named, token_of
from e2e.tests.metrics.prometheus import EVERY_SECONDS, Prometheus
from e2e.tests.team import Team

KUBELET_PORT = 10250
# Two periods, with their jitter; the last reading; and the scrape that finds nothing.
GOOD_FOR_SECONDS = 2.2 * PERIOD_SECONDS + REQUEST_SECONDS + EVERY_SECONDS
MEASURED_SECONDS = 45.0
COLLECTOR = "gpustack_instance_metrics_collector"


@pytest.fixture
def box(crowd: Team, prometheus: Prometheus) -> Team:
    """The crowd, of which `full` is told what it uses."""
    prometheus.wait(of_full("cpu_usage_seconds_total", crowd), seconds=MEASURED_SECONDS)
    return crowd


def of_full(family: str, team: Team, **labels: str) -> str:
    """The series of *family* of `full`."""
    return named(family, team, "full", **labels)


def collector(figure: str, source: str = "kubelet", **labels: str) -> str:
    """The series of how reading *source* goes."""
    told = {"source": source, **labels}
    inside = ",".join(f'{key}="{value}"' for key, value in told.items())
    return f"{COLLECTOR}_{figure}{{{inside}}}"


def told_as(prometheus: Prometheus, box: Team, reason: str) -> None:
    """Return when the failure is told, and its *reason*; nothing else than use may be missing."""
    prometheus.wait(f"{collector('failure', reason=reason)} == 1")
    assert 0 == prometheus.value(collector("success"))
    prometheus.wait(f"{of_full('metrics_missing', box, source='kubelet', reason=reason)} == 1")
    assert 1 == prometheus.value(f'up{{job="{EXPORTER}"}}')
    assert 1 == prometheus.value(of_full("phase", box, phase="Ready"))
    assert 0.3 == prometheus.value(of_full("cpu_limit_cores", box))


def told_again(prometheus: Prometheus, box: Team) -> None:
    """Return when the kubelet is read again, and use is told."""
    prometheus.wait(f"{collector('success')} == 1")
    prometheus.silent(collector("failure"))
    prometheus.wait(of_full("network_receive_bytes_total", box), seconds=MEASURED_SECONDS)
    prometheus.silent(of_full("metrics_missing", box))


def refusing(node: RealNode) -> AbstractContextManager[None]:
    """Have a kubelet that refuses, for the length of the block."""
    return without(node, EXPORTER, "nodes/stats", "nodes/metrics")


@pytest.mark.parametrize(
    ("failing", "reason"),
    [(refusing, "forbidden"), (hanging, "timeout"), (away, "unreachable")],
    ids=["refuses", "hangs", "is away"],
)
def test_use_ends_and_the_reason_is_told_when_the_kubelet(
    prometheus: Prometheus,
    box: Team,
    failing: Callable[[RealNode], AbstractContextManager[None]],
    reason: str,
) -> None:
    use = of_full("cpu_usage_seconds_total", box)
    with failing(box.node):
        began = prometheus.now()
        told_as(prometheus, box, reason)
        prometheus.silent(use)
        last = prometheus.samples(use)[-1][0]
    told_again(prometheus, box)

    assert last <= began + GOOD_FOR_SECONDS
    assert 1 == prometheus.value(f"count({use})")


def test_cpu_and_memory_are_told_by_the_other_end_point(prometheus: Prometheus, box: Team) -> None:
    with without(box.node, EXPORTER, "nodes/stats"):
        prometheus.wait(f"{collector('failure', reason='forbidden')} == 1")
        prometheus.wait(f"{collector('success', source='kubelet_resource')} == 1")
        prometheus.silent(of_full("network_receive_bytes_total", box))
        told = [
            prometheus.value(of_full(family, box)) > 0
            for family in ("cpu_usage_seconds_total", "memory_working_set_bytes")
        ]
        untold = [
            prometheus.ask(of_full(family, box))
            for family in ("ephemeral_storage_used_bytes", "memory_rss_bytes", "storage_used_mib")
        ]
    told_again(prometheus, box)

    assert [True, True] == told
    assert [[], [], []] == untold
    prometheus.silent(collector("success", source="kubelet_resource"))


ALLOWED = ("/stats/summary", "/metrics/resource", "/metrics")
DENIED = (
    "GET /pods",
    "GET /runningpods/",
    "GET /logs/",
    "GET /configz",
    "GET /containerLogs/{namespace}/full/main",
    "POST /run/{namespace}/full/main?cmd=id",
    "POST /exec/{namespace}/full/main?command=id&output=1",
    "GET /attach/{namespace}/full/main?output=1",
    "GET /portForward/{namespace}/full?port=80",
    "GET /checkpoint/{namespace}/full/main",
)


def test_r20_the_exporter_may_read_figures_of_the_kubelet_and_nothing_else(box: Team) -> None:
    token = token_of(box.node, EXPORTER)
    asked = [request.format(namespace=box.namespace) for request in DENIED]

    assert dict.fromkeys(ALLOWED, 200) == {
        path: status(box.node, f"GET {path}", token) for path in ALLOWED
    }
    assert dict.fromkeys(asked, 403) == {
        request: status(box.node, request, token) for request in asked
    }
    assert 401 == status(box.node, "GET /stats/summary", "nobody")


def status(node: RealNode, request: str, token: str) -> int:
    """What the kubelet answers to who has *token*."""
    method, _, path = request.partition(" ")
    trusted = ssl.create_default_context(cafile=str(node.layout.certificate))
    kubelet = http.client.HTTPSConnection(NODE_ADDRESS, KUBELET_PORT, context=trusted, timeout=10)
    try:
        kubelet.request(method, path, headers={"Authorization": f"Bearer {token}"})
        return kubelet.getresponse().status
    finally:
        kubelet.close()
