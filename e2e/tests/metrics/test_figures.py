"""What a real Prometheus is told of workloads whose use is known."""

import socket
from collections.abc import Mapping
from datetime import datetime
from itertools import pairwise

import attrs
import pytest

from e2e.cluster import until
from e2e.node.layout import NODE, NODE_ADDRESS
from e2e.tests.metrics.metering import PERIOD_SECONDS, named
from e2e.tests.metrics.prometheus import EVERY_SECONDS, Prometheus, Told
from e2e.tests.metrics.workloads import join
from e2e.tests.team import Team, node_ports

MI = 1 << 20
SENT = 20_000_000
# From a Pod's end, or beginning, until it is told: the reading, and the scrape of it.
SOON_SECONDS = 2 * PERIOD_SECONDS
# The kubelet measures a container each 10 to 20 s.
MEASURED_SECONDS = 45.0
OBSERVED_SECONDS = 60.0


def test_one_oom_kill(prometheus: Prometheus, crowd: Team) -> None:
    ended = named("last_termination_timestamp_seconds", crowd, "hungry")
    told = prometheus.wait(ended)
    prometheus.wait(f"{named('restarts_total', crowd, 'hungry')} == 1")

    assert "OOMKilled" == told.labels["reason"]
    assert finished(crowd, "hungry") == told.value


def finished(team: Team, name: str) -> float:
    """When the workload last ended, by the kubelet's word."""
    pod = team.pod(name)
    assert pod is not None
    (status,) = pod["status"]["containerStatuses"]
    return datetime.fromisoformat(status["lastState"]["terminated"]["finishedAt"]).timestamp()


def test_50_mib_are_touched(prometheus: Prometheus, crowd: Team) -> None:
    crowd.wait_for("Ready", "full")
    rss = named("memory_rss_bytes", crowd, "full")
    prometheus.wait(f"{rss} >= {50 * MI}", seconds=MEASURED_SECONDS)

    assert 50 * MI == pytest.approx(prometheus.value(rss), rel=0.05)
    working_set = prometheus.value(named("memory_working_set_bytes", crowd, "full"))
    assert 50 * MI == pytest.approx(working_set, rel=0.1)
    assert 50 <= prometheus.value(named("memory_used_mib", crowd, "full")) <= 55
    assert 96 == prometheus.value(named("memory_total_mib", crowd, "full"))


def test_40_mib_are_written(prometheus: Prometheus, crowd: Team) -> None:
    used = named("ephemeral_storage_used_bytes", crowd, "full")
    told = prometheus.wait(f"{used} >= {40 * MI}", seconds=MEASURED_SECONDS)

    assert 40 * MI == pytest.approx(told.value, rel=0.05)
    assert 41 == prometheus.value(named("storage_used_mib", crowd, "full")), "rounded up"


def test_20_mb_are_received(prometheus: Prometheus, crowd: Team) -> None:
    received = named("network_receive_bytes_total", crowd, "full")
    before = prometheus.wait(received, seconds=MEASURED_SECONDS).value
    send(SENT, node_ports(crowd.instance("full"))[8080, "TCP"])
    after = prometheus.wait(f"{received} >= {before + SENT}", seconds=MEASURED_SECONDS)

    assert before < 0.01 * SENT
    assert 1.0 <= (after.value - before) / SENT <= 1.07, "packets have heads"


def send(count: int, port: int) -> None:
    """Send *count* bytes to a node port, and return when the other end has them all."""
    with socket.create_connection((NODE_ADDRESS, port), timeout=10) as peer:
        peer.sendall(bytes(count))
        peer.shutdown(socket.SHUT_WR)
        peer.recv(1)


def test_three_restarts(prometheus: Prometheus, crowd: Team) -> None:
    restarts = named("restarts_total", crowd, "crashing")
    prometheus.wait(f"{restarts} == 3", seconds=120)
    crowd.wait_for("Ready", "crashing")

    seen = [value for _, value in prometheus.samples(restarts)]
    assert [0.0, 1.0, 2.0, 3.0] == sorted(set(seen))
    assert seen == sorted(seen)
    told = prometheus.one(named("last_termination_timestamp_seconds", crowd, "crashing"))
    assert "Error" == told.labels["reason"]
    assert finished(crowd, "crashing") == told.value


def test_labels_name_the_instance_and_its_node(prometheus: Prometheus, crowd: Team) -> None:
    instance = crowd.wait_for("Ready", "full")
    told = prometheus.wait(named("memory_rss_bytes", crowd, "full")).labels

    assert {
        "namespace": crowd.namespace,
        "instance_name": "full",
        "instance_uid": instance["metadata"]["uid"],
        "node": NODE,
        "job": "gpustack-ctrl-exporter",
    } == {key: value for key, value in told.items() if key != "instance"}


@attrs.frozen(kw_only=True)
class Renewed:
    """What was told of an Instance before its Pod ended and after it had another one."""

    before: Told
    silent_seconds: float
    after: Told


@pytest.fixture(scope="module")
def renewed(prometheus: Prometheus, crowd: Team) -> dict[str, Renewed]:
    """One that was stopped and started, and one that was deleted and made again."""
    use = {name: named("cpu_usage_seconds_total", crowd, name) for name in ("stopped", "deleted")}
    before = {name: prometheus.wait(use[name], seconds=MEASURED_SECONDS) for name in use}
    crowd.edit("stopped", stop=True)
    crowd.delete("deleted")
    silent = {}
    for name, series in use.items():
        crowd.gone("pods", name)
        ended = prometheus.now()
        prometheus.silent(series)
        silent[name] = prometheus.now() - ended
    stopped = prometheus.wait(f"{named('phase', crowd, 'stopped', phase='Stopped')} == 1")
    assert stopped.labels["instance_uid"] == before["stopped"].labels["instance_uid"]
    # Of what was scraped; rates of the last five minutes go on.
    deleted = f'namespace="{crowd.namespace}",instance_name="deleted"'
    prometheus.silent(f'{{__name__=~"gpustack_.*",{deleted}}}')
    crowd.edit("stopped", stop=False)
    join(crowd, "deleted")
    after = {name: prometheus.wait(use[name], seconds=MEASURED_SECONDS) for name in use}
    return {
        name: Renewed(before=before[name], silent_seconds=silent[name], after=after[name])
        for name in use
    }


def test_use_ends_with_a_stop_and_begins_anew(renewed: Mapping[str, Renewed]) -> None:
    told = renewed["stopped"]

    assert told.silent_seconds <= SOON_SECONDS + EVERY_SECONDS
    assert told.before.labels == told.after.labels


def test_nothing_is_inherited_from_a_deleted_instance(
    prometheus: Prometheus, crowd: Team, renewed: Mapping[str, Renewed]
) -> None:
    told = renewed["deleted"]

    assert told.silent_seconds <= SOON_SECONDS + EVERY_SECONDS
    uids = [one.labels["instance_uid"] for one in (told.before, told.after)]
    assert uids[0] != uids[1] == crowd.instance("deleted")["metadata"]["uid"]
    assert told.after.value < told.before.value


def test_a_third_of_a_core_is_burnt(prometheus: Prometheus, crowd: Team) -> None:
    """Between two figures that are fresh: the kubelet's own are up to 20 s old."""
    usage = named("cpu_usage_seconds_total", crowd, "busy")
    until(
        lambda: span(fresh(prometheus, usage)) >= OBSERVED_SECONDS, "not long enough", seconds=120
    )
    begin, *_, end = fresh(prometheus, usage)

    cores = f"({usage} @ {end} - {usage} @ {begin}) / ({end} - {begin})"
    assert prometheus.value(cores) == pytest.approx(0.3, rel=0.1)
    used = named("cpu_used_millicores", crowd, "busy")
    lately = f"avg_over_time({used}[{OBSERVED_SECONDS / 2:.0f}s])"
    assert prometheus.value(lately) == pytest.approx(300, rel=0.1)
    assert 300 == prometheus.value(named("cpu_total_millicores", crowd, "busy"))


def fresh(prometheus: Prometheus, selector: str) -> list[float]:
    """When the value of *selector* became another, but for its beginning."""
    told = prometheus.samples(selector)
    return [at for (_, before), (at, value) in pairwise(told) if value != before]


def span(times: list[float]) -> float:
    return times[-1] - times[0] if times else 0.0
