"""The operator and the exporter themselves: whether they keep up, and what hinders them."""

from gpustack_ctrl.metering import families as f
from monitoring import thresholds
from monitoring.dashboards.board import Board, Section, choice
from monitoring.dashboards.panels import (
    FAULTS,
    HALF,
    QUARTER,
    THIRD,
    WARNINGS,
    Curve,
    Figure,
    Rows,
    Step,
    Trend,
)

_JOBS = f"{thresholds.OPERATOR_JOB}|{thresholds.EXPORTER_JOB}"
_HERE = '{job=~"$job", instance=~"$instance"}'


def _rate(family: str, by: str, matchers: str = _HERE) -> str:
    return f"sum by ({by}) (rate({family}{matchers}[$__rate_interval]))"


def _slowest(histogram: str, by: str) -> str:
    """The time within which nineteen of twenty are done."""
    return f"histogram_quantile(0.95, {_rate(f'{histogram}_bucket', f'le, {by}')})"


_NOW = Section(
    "Now",
    (
        Figure(
            title="Processes",
            meaning="That answer Prometheus.",
            unit="short",
            curves=(Curve(f"sum(up{_HERE})"),),
        ),
        Figure(
            title="Leaders",
            meaning="Exactly one operator works, where leader election is on.",
            unit="short",
            curves=(Curve(f"sum(leader_election_master_status{_HERE})"),),
        ),
        Figure(
            title="Keys that wait",
            meaning="For a worker, in all queues.",
            unit="short",
            steps=(Step(100, "orange"),),
            curves=(Curve(f"sum(workqueue_depth{_HERE})"),),
        ),
        Figure(
            title="Passes that fail",
            meaning="A second.",
            unit="ops",
            steps=(Step(0.1, "orange"), Step(1, "red")),
            curves=(
                Curve(
                    f"sum(rate(controller_runtime_reconcile_errors_total{_HERE}[$__rate_interval]))"
                ),
            ),
        ),
        Figure(
            title="Panics",
            meaning="Failures that nobody foresaw, in the chosen time: defects.",
            unit="short",
            steps=FAULTS,
            curves=(
                Curve(f"sum(increase(controller_runtime_reconcile_panics_total{_HERE}[$__range]))"),
            ),
        ),
        Figure(
            title="Longest silence of a watch",
            meaning="Since the API server last said anything; it does so each minute or so.",
            unit="s",
            steps=(
                Step(120, "orange"),
                Step(thresholds.WATCH_SILENCE_SECONDS, "red"),
            ),
            curves=(Curve(f"max(informer_silence_seconds{_HERE})"),),
        ),
    ),
)
_PASSES = Section(
    "Passes",
    (
        Trend(
            title="Passes by result",
            meaning="A write that lost a race ends in requeue: that is no failure.",
            unit="ops",
            span=THIRD,
            curves=(
                Curve(
                    _rate("controller_runtime_reconcile_total", "controller, result"),
                    "{{controller}}: {{result}}",
                ),
            ),
        ),
        Trend(
            title="Time of a pass",
            meaning="Nineteen of twenty are done within it.",
            unit="s",
            span=THIRD,
            curves=(
                Curve(
                    _slowest("controller_runtime_reconcile_time_seconds", "controller"),
                    "{{controller}}",
                ),
            ),
        ),
        Trend(
            title="Failures of passes",
            meaning="Errors, terminal errors that a retry cannot mend, and time limits.",
            unit="ops",
            span=THIRD,
            curves=(
                Curve(
                    _rate("controller_runtime_reconcile_errors_total", "controller"),
                    "{{controller}}: error",
                ),
                Curve(
                    _rate("controller_runtime_terminal_reconcile_errors_total", "controller"),
                    "{{controller}}: terminal",
                ),
                Curve(
                    _rate("controller_runtime_reconcile_timeouts_total", "controller"),
                    "{{controller}}: time limit",
                ),
            ),
        ),
        Trend(
            title="Busy workers",
            meaning="Of those that there are: at 100 %, keys wait.",
            unit="percentunit",
            most=1,
            curves=(
                Curve(
                    f"sum by (controller) (controller_runtime_active_workers{_HERE})"
                    f" / sum by (controller) (controller_runtime_max_concurrent_reconciles{_HERE})",
                    "{{controller}}",
                ),
            ),
        ),
        Trend(
            title="Passes that do not end",
            meaning="They go on though they were cancelled at their time limit.",
            unit="short",
            curves=(
                Curve(
                    f"sum by (controller) (controller_overdue_reconciles{_HERE})",
                    "{{controller}}",
                ),
            ),
        ),
    ),
)
_QUEUES = Section(
    "Queues",
    (
        Trend(
            title="Depth",
            meaning="Keys that are ready to be handed out.",
            unit="short",
            span=QUARTER,
            curves=(Curve(f"sum by (name) (workqueue_depth{_HERE})", "{{name}}"),),
        ),
        Trend(
            title="Wait",
            meaning="Nineteen of twenty keys are handed out within it.",
            unit="s",
            span=QUARTER,
            curves=(Curve(_slowest("workqueue_queue_duration_seconds", "name"), "{{name}}"),),
        ),
        Trend(
            title="Added and put off",
            meaning="Keys that became ready, and keys that were added with a delay.",
            unit="ops",
            span=QUARTER,
            curves=(
                Curve(_rate("workqueue_adds_total", "name"), "{{name}}: added"),
                Curve(_rate("workqueue_retries_total", "name"), "{{name}}: put off"),
            ),
        ),
        Trend(
            title="Held longest",
            meaning="For how long the key that is held longest has been held.",
            unit="s",
            span=QUARTER,
            curves=(
                Curve(
                    f"max by (name) (workqueue_longest_running_processor_seconds{_HERE})",
                    "{{name}}",
                ),
            ),
        ),
    ),
)
_API = Section(
    "The API server",
    (
        Trend(
            title="Requests by answer",
            meaning="<error> stands for no answer at all.",
            unit="reqps",
            curves=(
                Curve(_rate("rest_client_requests_total", "method, code"), "{{method}} {{code}}"),
            ),
        ),
        Trend(
            title="Time of an answer",
            meaning="Nineteen of twenty come within it; a watch's is the time until it begins.",
            unit="s",
            curves=(Curve(_slowest("rest_client_request_duration_seconds", "verb"), "{{verb}}"),),
        ),
        Trend(
            title="Events of watches",
            meaning="What the caches are told.",
            unit="ops",
            span=THIRD,
            curves=(Curve(_rate("informer_watch_events_total", "resource"), "{{resource}}"),),
        ),
        Trend(
            title="Lists and watches begun",
            meaning="Many of them mean that watches break.",
            unit="ops",
            span=THIRD,
            curves=(
                Curve(_rate("informer_lists_total", "resource"), "{{resource}}: list"),
                Curve(_rate("informer_watches_total", "resource"), "{{resource}}: watch"),
            ),
        ),
        Trend(
            title="Silence of watches",
            meaning="How long ago the API server last said anything.",
            unit="s",
            span=THIRD,
            curves=(
                Curve(
                    f"max by (instance, resource) (informer_silence_seconds{_HERE})",
                    "{{instance}} {{resource}}",
                ),
            ),
        ),
        Trend(
            title="Skipped objects and faults",
            meaning="Objects that are malformed, and handlers that failed: defects.",
            unit="ops",
            curves=(
                Curve(
                    _rate("informer_undecodable_objects_total", "resource"),
                    "{{resource}}: skipped",
                ),
                Curve(_rate("informer_handler_faults_total", "resource"), "{{resource}}: fault"),
            ),
        ),
        Trend(
            title="Events told",
            meaning="Events by what became of them: written, counted in a series, or dropped.",
            unit="ops",
            curves=(Curve(_rate("event_recorder_events_total", "result"), "{{result}}"),),
        ),
    ),
)
_PROCESS = Section(
    "What they take",
    (
        Trend(
            title="Lag of the event loop",
            meaning="How late a task was woken: the process had something else to do.",
            unit="s",
            span=QUARTER,
            curves=(Curve(f"event_loop_lag_seconds{_HERE}", "{{instance}}"),),
        ),
        Trend(
            title="CPU of processes",
            meaning="Cores in use.",
            unit="short",
            span=QUARTER,
            curves=(Curve(_rate("process_cpu_seconds_total", "instance"), "{{instance}}"),),
        ),
        Trend(
            title="Memory of processes",
            meaning="Resident.",
            unit="bytes",
            span=QUARTER,
            curves=(Curve(f"process_resident_memory_bytes{_HERE}", "{{instance}}"),),
        ),
        Trend(
            title="Open files",
            meaning="Of those that a process may open.",
            unit="percentunit",
            span=QUARTER,
            most=1,
            curves=(Curve(f"process_open_fds{_HERE} / process_max_fds{_HERE}", "{{instance}}"),),
        ),
    ),
)
_COLLECTION = Section(
    "Reading of nodes",
    (
        Figure(
            title="Sources read",
            meaning="Sources of nodes whose last reading succeeded.",
            unit="short",
            curves=(Curve(f"sum({f.COLLECTOR_SUCCESS.name}{_HERE})"),),
        ),
        Figure(
            title="Sources not read",
            meaning="Their figures are absent; the reason is below.",
            unit="short",
            steps=WARNINGS,
            curves=(Curve(f"count({f.COLLECTOR_SUCCESS.name}{_HERE} == 0) or vector(0)"),),
        ),
        Figure(
            title="Instances without a figure",
            meaning="They run, and some source tells nothing of them.",
            unit="short",
            steps=WARNINGS,
            curves=(
                Curve(f"count(count by (instance_uid) ({f.MISSING.name}{_HERE})) or vector(0)"),
            ),
        ),
        Trend(
            title="Time of a reading",
            meaning="The slowest node of each source.",
            unit="s",
            curves=(Curve(f"max by (source) ({f.COLLECTOR_DURATION.name}{_HERE})", "{{source}}"),),
        ),
        Rows(
            title="Why readings fail",
            meaning="The last reading of each source that fails.",
            unit="short",
            curves=(Curve(f"max by (node, source, reason) ({f.COLLECTOR_FAILURE.name}{_HERE})"),),
        ),
        Rows(
            title="Age of the last good reading",
            meaning="The twenty oldest. Figures end after two periods without one.",
            unit="s",
            value="Age",
            curves=(
                Curve(
                    "topk(20, time() - max by (node, source)"
                    f" ({f.COLLECTOR_LAST_SUCCESS.name}{_HERE}))"
                ),
            ),
        ),
        Rows(
            title="Figures of devices that nobody is told",
            meaning="What cannot be told of a device for its Instances, and why.",
            unit="short",
            span=HALF,
            curves=(
                Curve(
                    "max by (node, manufacturer, id, entry_point, reason)"
                    f" ({f.CAPABILITY.name}{_HERE})"
                ),
            ),
        ),
    ),
)

BOARD = Board(
    name="operator",
    title="GPUStack / Operator",
    meaning="Operator and exporter themselves: whether they keep up, and what hinders them.",
    variables=(
        choice("job", "Job", f'label_values(up{{job=~"{_JOBS}"}}, job)'),
        choice("instance", "Process", 'label_values(up{job=~"$job"}, instance)'),
    ),
    sections=(_NOW, _PASSES, _QUEUES, _API, _PROCESS, _COLLECTION),
)
