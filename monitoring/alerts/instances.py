"""Alerts about Instances that do not come up, or do not stay up."""

from gpustack_ctrl.metering import families as f
from monitoring import recording as r
from monitoring import thresholds
from monitoring.recording import NAMED
from monitoring.rules import Alert, Group, Severity, names

WHO = "{{ $labels.namespace }}/{{ $labels.instance_name }}"
UNREADY_LONG = (
    f"(min_over_time({r.UNREADY}[{thresholds.NOT_READY}]) == 1)"
    f" and {r.UNREADY} offset {thresholds.NOT_READY}"
)
"""All the time, and not only since the Instance was made."""
GATE = names(("gate", "reason", "owner"))

NOT_READY = Alert(
    name="GpustackInstanceNotReady",
    # A reason may change meanwhile: that is why the time is in here, and not in `for`.
    expr=(f"({r.BLOCKED} and on ({NAMED}) ({UNREADY_LONG})) or on ({NAMED}) ({UNREADY_LONG})"),
    wait="1m",
    severity=Severity.WARNING,
    summary=(
        f"{WHO} is not Ready for {thresholds.NOT_READY}"
        "{{ with $labels.reason }}: {{ . }}{{ end }}"
    ),
    description=(
        "The label gate tells what holds it back, and owner who can help. status.blocker of the"
        " Instance has the sentence of the component that said no, and what to do."
    ),
)
START_FAILURES = Alert(
    name="GpustackStartFailures",
    expr=(
        f"count by ({GATE}) ({r.BLOCKED} and on ({NAMED}) ({r.UNREADY} == 1))"
        f" >= {thresholds.START_FAILURES}"
    ),
    wait="10m",
    severity=Severity.CRITICAL,
    summary=("{{ $value }} Instances are held back by {{ $labels.gate }}: {{ $labels.reason }}"),
    description=(
        "So many at once have a common cause, such as a registry, a device plugin, a quota or a"
        " full cluster. Read status.blocker of one of them."
    ),
)
QUEUED = Alert(
    name="GpustackInstanceQueuedLong",
    expr=f'{r.PHASE}{{phase="Queued"}} == 1',
    wait=thresholds.QUEUED,
    severity=Severity.INFO,
    summary=f"{WHO} waits in its queue for {thresholds.QUEUED}",
    description=(
        "The queue admits it when there is quota. See what holds the quota, and whether the"
        " Instance asks for more than the queue will ever have."
    ),
)
PORTS = Alert(
    name="GpustackNodePortsExhausted",
    expr=f'count by (reason) ({r.BLOCKED}{{reason="NodePortsExhausted"}}) > 0',
    wait="1m",
    severity=Severity.CRITICAL,
    summary="No node port is left in the cluster; Instances that wait for one: {{ $value }}",
    description=(
        "Every port of an Instance, stopped ones included, holds one. Delete Instances and"
        " Services that nobody needs, or widen --service-node-port-range of the API server."
    ),
)
ISOLATION = Alert(
    name="GpustackIsolationNotEnforced",
    expr=f"({r.ISOLATED} == 0) and on ({NAMED}) {r.STARTED}",
    wait="5m",
    severity=Severity.CRITICAL,
    summary=f"{WHO} runs, and is not isolated as the Setting asks",
    description=(
        "Pods of other namespaces may reach it. Its condition NetworkIsolated tells why: a policy"
        " that is missing or changed, or an address outside the CIDRs."
    ),
)
CRASH_LOOP = Alert(
    name="GpustackInstanceCrashLoop",
    expr=(
        f"max by ({NAMED}) (increase({f.RESTARTS.name}[{thresholds.CRASHES_WITHIN}]))"
        f" > {thresholds.CRASHES}"
    ),
    wait="1m",
    severity=Severity.WARNING,
    summary=f"The workload of {WHO} starts again and again",
    description=(
        "status.lastTermination of the Instance has its reason and exit code; kubectl logs with"
        " --previous has its last words. Mostly it is the command, or too little memory."
    ),
)
OUT_OF_MEMORY = Alert(
    name="GpustackInstanceOutOfMemory",
    expr=(
        f'time() - max by ({NAMED}) ({f.LAST_TERMINATION.name}{{reason="OOMKilled"}})'
        f" < {thresholds.OUT_OF_MEMORY_SECONDS}"
    ),
    wait="0s",
    severity=Severity.WARNING,
    summary=f"The workload of {WHO} was killed because it used more memory than it may",
    description=(
        "It was started anew, and what it had in memory is lost. Stop the Instance and give it"
        " more memory or a larger type, or have the workload use less."
    ),
)

GROUP = Group(
    name="gpustack-instances",
    rules=(
        NOT_READY,
        START_FAILURES,
        QUEUED,
        PORTS,
        ISOLATION,
        CRASH_LOOP,
        OUT_OF_MEMORY,
    ),
)
