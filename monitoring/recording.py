"""What dashboards and alerts ask of Prometheus again and again, worked out once.

State is told by the operator and, where it is asked to, by the exporter: the rules here
hold each fact once, without `job` and `instance`, so that joins are one to one.
"""

from gpustack_ctrl.metering import families as f
from gpustack_ctrl.metering.families import Family
from monitoring import thresholds
from monitoring.rules import Group, Recording, names, once

EVERY = "1m"
"""How often idle accelerators are looked at: hours are samples divided by HOUR."""
HOUR = 60
NAMED = names(f.IDENTITY)


def _state(family: Family, *labels: str) -> Recording:
    return Recording(record=f"instance:{family.name}:max", expr=once(family, *f.IDENTITY, *labels))


FLEET = Recording(
    record=f"namespace:{f.INSTANCES.name}:max", expr=once(f.INSTANCES, "namespace", "phase")
)
INFO = _state(f.INFO, "type", "node")
PHASE = _state(f.PHASE, "phase")
READY = _state(f.READY)
ISOLATED = _state(f.ISOLATED)
BLOCKED = _state(f.BLOCKED, "gate", "reason", "owner")
ACCELERATORS = _state(f.ACCELERATORS, "family")
STARTED = _state(f.STARTED)
CPU_LIMIT = _state(f.CPU_LIMIT)
MEMORY_LIMIT = _state(f.MEMORY_LIMIT)
STORAGE_LIMIT = _state(f.STORAGE_LIMIT)
UNREADY = Recording(
    record="instance:gpustack_instance_unready:bool",
    expr=(
        f'(({READY} == bool 0) unless on ({NAMED}) {PHASE}{{phase=~"Stop.*|Deleting|Queued"}})'
        f" or ({READY} * 0)"
    ),
)
"""1 for an Instance that should be Ready and is not, else 0: also for a stopped one."""

CPU_USE = Recording(
    record="instance:gpustack_instance_cpu_usage_seconds:rate5m",
    expr=f"max by ({NAMED}) (rate({f.CPU_USAGE.name}[5m]))",
)
MEMORY_USE = Recording(
    record=f"instance:{f.MEMORY_WORKING_SET.name}:max",
    expr=once(f.MEMORY_WORKING_SET, *f.IDENTITY),
)
STORAGE_USE = Recording(
    record=f"instance:{f.STORAGE_USED.name}:max", expr=once(f.STORAGE_USED, *f.IDENTITY)
)
CPU_RATIO = Recording(
    record="instance:gpustack_instance_cpu_usage:ratio", expr=f"{CPU_USE} / {CPU_LIMIT}"
)
MEMORY_RATIO = Recording(
    record="instance:gpustack_instance_memory_working_set:ratio",
    expr=f"{MEMORY_USE} / {MEMORY_LIMIT}",
)
STORAGE_RATIO = Recording(
    record="instance:gpustack_instance_ephemeral_storage_used:ratio",
    expr=f"{STORAGE_USE} / {STORAGE_LIMIT}",
)
VOLUME_RATIO = Recording(
    record="instance:gpustack_instance_volume_used:ratio",
    expr=(
        f"{once(f.VOLUME_USED, *f.IDENTITY, 'volume')}"
        f" / {once(f.VOLUME_CAPACITY, *f.IDENTITY, 'volume')}"
    ),
)

UTILIZATION = Recording(
    record="instance:gpustack_instance_accelerator_utilization:max",
    expr=once(f.DEVICE_UTILIZATION, *f.IDENTITY),
)
"""Of the busiest of its accelerators: absent where nobody measures it."""
DEVICE_MEMORY_RATIO = Recording(
    record="device:gpustack_instance_accelerator_memory_used:ratio",
    expr=(
        f"{once(f.DEVICE_MEMORY_USED, *f.IDENTITY, 'id')}"
        f" / {once(f.DEVICE_MEMORY_LIMIT, *f.IDENTITY, 'id')}"
    ),
)
HELD = Recording(
    record="instance:gpustack_accelerators_held:sum",
    expr=(f"({ACCELERATORS} * on ({NAMED}) group_left (type) {INFO}) and on ({NAMED}) {STARTED}"),
)
"""Accelerators of Instances that have a Pod, by type and family."""
IDLE = Recording(
    record="instance:gpustack_accelerators_idle:sum",
    expr=(
        f"{HELD} * on ({NAMED}) group_left ()"
        f" ((max_over_time({UTILIZATION}[15m]) < bool {thresholds.IDLE_RATIO})"
        f" * ((time() - {STARTED}) > bool 900))"
    ),
)
"""Held ones that did next to nothing for a quarter of an hour: 0 for a busy one, and absent
where nobody measures it."""
UNMEASURED = Recording(
    record="instance:gpustack_accelerators_unmeasured:sum",
    expr=f"{HELD} unless on ({NAMED}) {UTILIZATION}",
)
"""Held ones of which nobody knows whether they are idle."""

STATE = Group(
    name="gpustack-state",
    rules=(
        FLEET,
        INFO,
        PHASE,
        READY,
        ISOLATED,
        BLOCKED,
        ACCELERATORS,
        STARTED,
        CPU_LIMIT,
        MEMORY_LIMIT,
        STORAGE_LIMIT,
        UNREADY,
    ),
)
USE = Group(
    name="gpustack-use",
    rules=(
        CPU_USE,
        MEMORY_USE,
        STORAGE_USE,
        CPU_RATIO,
        MEMORY_RATIO,
        STORAGE_RATIO,
        VOLUME_RATIO,
        UTILIZATION,
        DEVICE_MEMORY_RATIO,
    ),
)
WASTE = Group(name="gpustack-waste", interval=EVERY, rules=(HELD, IDLE, UNMEASURED))

GROUPS = (STATE, USE, WASTE)
