"""Alerts about the operator itself: its series carry names that others use too, hence `job`."""

from monitoring import thresholds
from monitoring.rules import Alert, Group, Severity

OPERATOR = f'job=~"{thresholds.OPERATOR_JOB}"'
EITHER = f'job=~"{thresholds.OPERATOR_JOB}|{thresholds.EXPORTER_JOB}"'

DOWN = Alert(
    name="GpustackOperatorDown",
    expr=f"absent(up{{{OPERATOR}}} == 1)",
    wait="5m",
    severity=Severity.CRITICAL,
    summary="No operator answers Prometheus",
    description=(
        "Running Instances go on, but none is started, stopped or repaired. See whether its Pod"
        " runs, and what it says; if it does run, see whether Prometheus may reach it."
    ),
)
NO_LEADER = Alert(
    name="GpustackNoLeader",
    expr=f"sum by (name) (leader_election_master_status{{{OPERATOR}}}) == 0",
    wait="5m",
    severity=Severity.CRITICAL,
    summary="No operator holds the lease {{ $labels.name }}",
    description=(
        "All replicas stand by, so that nothing is started or repaired. Look at the lease and at"
        " the logs: who holds it, and why it cannot be written."
    ),
)
WATCH_STALE = Alert(
    name="GpustackWatchStale",
    expr=(
        f"max by (job, instance, resource) (informer_silence_seconds{{{EITHER}}})"
        f" > {thresholds.WATCH_SILENCE_SECONDS}"
    ),
    wait="5m",
    severity=Severity.WARNING,
    summary=(
        "{{ $labels.instance }} has not heard of {{ $labels.resource }} for"
        " {{ $value | humanizeDuration }}"
    ),
    description=(
        "It decides on an old picture. See whether the API server is well and whether the"
        " account may still watch the resource; else restart the Pod."
    ),
)
RECONCILE_ERRORS = Alert(
    name="GpustackReconcileErrors",
    expr=(
        f"sum by (controller) (rate(controller_runtime_reconcile_errors_total{{{OPERATOR}}}[10m]))"
        f" / sum by (controller) (rate(controller_runtime_reconcile_total{{{OPERATOR}}}[10m]))"
        f" > {thresholds.FAILED_PASSES_RATIO}"
    ),
    wait="15m",
    severity=Severity.WARNING,
    summary="{{ $value | humanizePercentage }} of the passes of {{ $labels.controller }} fail",
    description=(
        "What they were to do is not done. The log names the object and the error of each; what"
        " the API server forbids is granted by deploy/rbac."
    ),
)
PANICS = Alert(
    name="GpustackReconcilePanics",
    expr=(
        "sum by (controller)"
        f" (increase(controller_runtime_reconcile_panics_total{{{OPERATOR}}}[15m])) > 0"
    ),
    wait="1m",
    severity=Severity.WARNING,
    summary="A pass of {{ $labels.controller }} failed in a way that nobody foresaw",
    description=(
        "This is a defect of the operator; the object is tried again. Report the lines of the"
        " log, with the spec of the object that they name."
    ),
)
QUEUE_WAIT = Alert(
    name="GpustackQueueWaitLong",
    expr=(
        "histogram_quantile(0.95, sum by (name, le)"
        f" (rate(workqueue_queue_duration_seconds_bucket{{{OPERATOR}}}[10m])))"
        f" > {thresholds.QUEUE_WAIT_SECONDS}"
    ),
    wait="15m",
    severity=Severity.WARNING,
    summary="Work of {{ $labels.name }} waits {{ $value | humanizeDuration }} for a worker",
    description=(
        "Edits take effect late. See whether passes are slow, which is mostly the API server, or"
        " many; then give the operator more --workers."
    ),
)
REQUESTS = Alert(
    name="GpustackApiRequestsFailing",
    expr=(
        "sum by (job, instance)"
        f' (rate(rest_client_requests_total{{{EITHER}, code=~"5..|429|<error>"}}[10m]))'
        f" / sum by (job, instance) (rate(rest_client_requests_total{{{EITHER}}}[10m]))"
        f" > {thresholds.FAILED_REQUESTS_RATIO}"
    ),
    wait="15m",
    severity=Severity.WARNING,
    summary=(
        "{{ $value | humanizePercentage }} of the requests of {{ $labels.instance }} to the API"
        " server fail"
    ),
    description=(
        "The API server is overloaded, down at times, or not reached. See its own health and the"
        " network between; a code of <error> means that no answer came."
    ),
)
LOOP_LAG = Alert(
    name="GpustackEventLoopLag",
    expr=f"event_loop_lag_seconds{{{EITHER}}} > {thresholds.LOOP_LAG_SECONDS}",
    wait="10m",
    severity=Severity.WARNING,
    summary="{{ $labels.instance }} is {{ $value | humanizeDuration }} late with everything",
    description=(
        "The process gets too little CPU, or does too much at once. Raise its CPU request and"
        " limit; for an exporter of the whole cluster, run one per node."
    ),
)

GROUP = Group(
    name="gpustack-operator",
    rules=(
        DOWN,
        NO_LEADER,
        WATCH_STALE,
        RECONCILE_ERRORS,
        PANICS,
        QUEUE_WAIT,
        REQUESTS,
        LOOP_LAG,
    ),
)
