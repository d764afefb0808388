"""The exposition: names, labels and buckets that dashboards rely on."""

from collections.abc import Iterable

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from gpustack_ctrl.api.errors import ConflictError, ThrottledError
from gpustack_ctrl.runtime.metrics import Metrics, new_registry
from gpustack_ctrl.runtime.outcome import of_error, of_result
from gpustack_ctrl.runtime.reconcile import DONE, Result, TerminalError
from gpustack_ctrl.runtime.workqueue import HIGH, LOW, WorkQueue
from tests.helpers.clock import FakeClock

ZEROED = """\
workqueue_depth{controller="demo",name="demo",priority="-100"} 0.0
workqueue_depth{controller="demo",name="demo",priority="0"} 0.0
workqueue_adds_total{controller="demo",name="demo"} 0.0
workqueue_unfinished_work_seconds{controller="demo",name="demo"} 0.0
workqueue_longest_running_processor_seconds{controller="demo",name="demo"} 0.0
workqueue_retries_total{controller="demo",name="demo"} 0.0
controller_runtime_reconcile_total{controller="demo",result="error"} 0.0
controller_runtime_reconcile_total{controller="demo",result="requeue_after"} 0.0
controller_runtime_reconcile_total{controller="demo",result="requeue"} 0.0
controller_runtime_reconcile_total{controller="demo",result="success"} 0.0
controller_runtime_reconcile_errors_total{controller="demo"} 0.0
controller_runtime_terminal_reconcile_errors_total{controller="demo"} 0.0
controller_runtime_reconcile_panics_total{controller="demo"} 0.0
controller_runtime_reconcile_timeouts_total{controller="demo"} 0.0
controller_runtime_max_concurrent_reconciles{controller="demo"} 4.0
controller_runtime_active_workers{controller="demo"} 0.0
controller_overdue_reconciles{controller="demo"} 0.0
leader_election_master_status{name="demo"} 0.0
leader_election_slowpath_total{name="demo"} 0.0
informer_lists_total{resource="pods"} 0.0
informer_watches_total{resource="pods"} 0.0
informer_watch_events_total{resource="pods"} 0.0
informer_undecodable_objects_total{resource="pods"} 0.0
informer_handler_faults_total{resource="pods"} 0.0
informer_silence_seconds{resource="pods"} 0.0
event_recorder_events_total{result="created"} 0.0
event_recorder_events_total{result="updated"} 0.0
event_recorder_events_total{result="counted"} 0.0
event_recorder_events_total{result="spam"} 0.0
event_recorder_events_total{result="overflow"} 0.0
event_recorder_events_total{result="refused"} 0.0
event_recorder_events_total{result="unreachable"} 0.0
event_loop_lag_seconds 0.0
"""

BUCKETS = {
    "workqueue_queue_duration_seconds": (
        "1e-08 1e-07 1e-06 9.999999999999999e-06 9.999999999999999e-05"
        " 0.001 0.01 0.1 1.0 10.0 100.0 1000.0 +Inf"
    ),
    "workqueue_work_duration_seconds": (
        "1e-08 1e-07 1e-06 9.999999999999999e-06 9.999999999999999e-05"
        " 0.001 0.01 0.1 1.0 10.0 100.0 1000.0 +Inf"
    ),
    "controller_runtime_reconcile_time_seconds": (
        "0.005 0.01 0.025 0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4 0.45 0.5 0.6 0.7 0.8 0.9 1.0"
        " 1.25 1.5 1.75 2.0 2.5 3.0 3.5 4.0 4.5 5.0 6.0 7.0 8.0 9.0 10.0 15.0 20.0 25.0 30.0"
        " 40.0 50.0 60.0 +Inf"
    ),
    "rest_client_request_duration_seconds": (
        "0.005 0.025 0.1 0.25 0.5 1.0 2.0 4.0 8.0 15.0 30.0 60.0 +Inf"
    ),
}


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(CollectorRegistry())


def lines(metrics: Metrics) -> Iterable[str]:
    return generate_latest(metrics.registry).decode().splitlines()


def samples(metrics: Metrics, prefix: str) -> list[str]:
    return [line for line in lines(metrics) if line.startswith(prefix)]


def value(metrics: Metrics, series: str, /, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(series, labels)


def test_m1_every_series_is_there_at_zero_from_the_start(metrics: Metrics) -> None:
    metrics.queue("demo")
    metrics.controller("demo", workers=4)
    metrics.election("demo")
    metrics.informer("pods")

    plain = [
        line
        for line in lines(metrics)
        if not line.startswith("#")
        and not line.split("{")[0].endswith(("_bucket", "_sum", "_count"))
    ]

    assert ZEROED.splitlines() == plain


@pytest.mark.parametrize("name", BUCKETS)
def test_m1_the_buckets_are_those_of_the_field(metrics: Metrics, name: str) -> None:
    metrics.queue("demo")
    metrics.controller("demo", workers=4)
    metrics.requests.requested(method="GET", host="api:6443", code="200", seconds=0.1)

    bounds = [line.split('le="')[1].split('"')[0] for line in samples(metrics, f"{name}_bucket")]

    assert BUCKETS[name].split() == bounds


def test_m1_requests_are_counted_by_code_method_and_host(metrics: Metrics) -> None:
    metrics.requests.requested(method="PATCH", host="api:6443", code="409", seconds=0.1)
    metrics.requests.requested(method="GET", host="api:6443", code="<error>", seconds=5)

    assert [
        'rest_client_requests_total{code="409",host="api:6443",method="PATCH"} 1.0',
        'rest_client_requests_total{code="<error>",host="api:6443",method="GET"} 1.0',
    ] == samples(metrics, "rest_client_requests_total")
    assert 1 == value(
        metrics, "rest_client_request_duration_seconds_count", verb="GET", host="api:6443"
    )


def test_m1_the_process_tells_its_memory_and_no_creation_times() -> None:
    metrics = Metrics(new_registry())
    metrics.queue("demo")

    assert samples(metrics, "process_resident_memory_bytes ")
    assert not [line for line in lines(metrics) if "_created" in line]


@pytest.mark.parametrize(
    ("outcome", "counts"),
    [
        (of_result(DONE), {"success": 1}),
        (of_result(Result(after=5)), {"requeue_after": 1}),
        (of_error(ConflictError("changed")), {"requeue": 1}),
        (of_error(ThrottledError("later")), {"error": 1, "errors": 1}),
        (of_error(TerminalError("never")), {"error": 1, "errors": 1, "terminal_errors": 1}),
        (of_error(KeyError("bug")), {"error": 1, "errors": 1, "panics": 1}),
    ],
)
def test_c10_each_pass_counts_once_under_its_result(
    metrics: Metrics, outcome: object, counts: dict[str, int]
) -> None:
    series = metrics.controller("demo", workers=4)
    series.started()
    series.finished(outcome, 0.25)  # type: ignore[arg-type]

    counted = {
        sample.labels.get("result", sample.name.removeprefix("controller_runtime_")): sample.value
        for family in metrics.registry.collect()
        if "reconcile" in family.name and family.type == "counter"
        for sample in family.samples
        if sample.value
    }
    renamed = {
        "errors": "reconcile_errors_total",
        "terminal_errors": "terminal_reconcile_errors_total",
        "panics": "reconcile_panics_total",
    }
    assert {renamed.get(name, name): count for name, count in counts.items()} == counted
    assert 0 == value(metrics, "controller_runtime_active_workers", controller="demo")


async def test_q11_a_queue_reports_depth_by_priority_and_work_under_way(metrics: Metrics) -> None:
    clock = FakeClock()
    queue: WorkQueue[str] = WorkQueue("demo", clock=clock, metrics=metrics.queue("demo"))
    queue.add("a")
    queue.add("b")
    queue.add("c", priority=LOW)
    await queue.get()
    await clock.advance(3)
    await queue.get()
    await clock.advance(1)

    both = {"name": "demo", "controller": "demo"}
    assert 0 == value(metrics, "workqueue_depth", **both, priority=str(int(HIGH)))
    assert 1 == value(metrics, "workqueue_depth", **both, priority=str(int(LOW)))
    assert 5 == value(metrics, "workqueue_unfinished_work_seconds", **both)
    assert 4 == value(metrics, "workqueue_longest_running_processor_seconds", **both)
    assert 3 == value(metrics, "workqueue_adds_total", **both)


def test_m2_keys_add_no_series(metrics: Metrics) -> None:
    queue: WorkQueue[int] = WorkQueue("demo", clock=FakeClock(), metrics=metrics.queue("demo"))
    before = len(list(lines(metrics)))
    for key in range(1000):
        queue.add(key)
        queue.add_after(key, 5)

    assert before == len(list(lines(metrics)))


def test_two_registries_know_nothing_of_each_other(metrics: Metrics) -> None:
    metrics.election("demo").leads()
    other = Metrics(CollectorRegistry())
    other.election("demo").follows()

    assert 1 == value(metrics, "leader_election_master_status", name="demo")
    assert 0 == value(other, "leader_election_master_status", name="demo")


def test_silence_before_the_first_answer_is_not_a_number(metrics: Metrics) -> None:
    metrics.informer("pods").observe_silence(lambda: None)

    assert ['informer_silence_seconds{resource="pods"} NaN'] == samples(
        metrics, "informer_silence_seconds"
    )
