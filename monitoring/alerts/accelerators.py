"""Alerts about accelerators that Instances hold."""

from gpustack_ctrl.metering import families as f
from monitoring import recording as r
from monitoring import thresholds
from monitoring.alerts.instances import WHO
from monitoring.recording import NAMED
from monitoring.rules import Alert, Group, Severity, once

UNHEALTHY = Alert(
    name="GpustackAcceleratorUnhealthy",
    expr=f"{once(f.DEVICE_UNHEALTHY, *f.PLACED, 'id', 'manufacturer')} == 1",
    wait="2m",
    severity=Severity.CRITICAL,
    summary=f"Accelerator {{{{ $labels.id }}}} on {{{{ $labels.node }}}}, held by {WHO}, is ill",
    description=(
        "What runs on it will fail or has. Tell its user, cordon the node, and stop and start the"
        " Instance to get another one; then see to the device."
    ),
)
LOST = Alert(
    name="GpustackAcceleratorFiguresLost",
    expr=(
        f"(count_over_time({r.UTILIZATION}[{thresholds.FIGURES_LOST_WITHIN}])"
        f" unless {r.UTILIZATION}) and on ({NAMED}) ({r.READY} == 1)"
    ),
    wait="15m",
    severity=Severity.WARNING,
    summary=f"The accelerators of {WHO} are not measured any more",
    description=(
        "It runs, but its use is unknown: no alert about idle or ill devices will fire."
        f" {f.COLLECTOR_FAILURE.name} and {f.CAPABILITY.name} tell why."
    ),
)
IDLE = Alert(
    name="GpustackAcceleratorIdle",
    expr=(
        f"(max_over_time({r.UTILIZATION}[{thresholds.IDLE_HOURS}h]) < {thresholds.IDLE_RATIO})"
        f" and {r.UTILIZATION} offset {thresholds.IDLE_HOURS}h"
        f" and (time() - {r.STARTED} > {thresholds.IDLE_HOURS * 3600})"
    ),
    wait="5m",
    severity=Severity.INFO,
    summary=f"{WHO} has left its accelerators idle for {thresholds.IDLE_HOURS} hours",
    description=(
        "Nobody else can use them meanwhile. Ask its user to stop it: a stop keeps its ports and"
        " its persistent volumes."
    ),
)

GROUP = Group(name="gpustack-accelerators", rules=(UNHEALTHY, LOST, IDLE))
