"""The families of series about Instances: the one list of names, meanings and labels.

Names follow Prometheus: base units, `_total` for what only grows. Those of the reference
(millicores, MiB, percent) stand beside them, so that dashboards made for it keep working.
"""

from collections.abc import Iterator
from enum import StrEnum

import attrs

IDENTITY = ("namespace", "instance_name", "instance_uid")
"""What names an Instance; `instance` belongs to Prometheus itself."""
PLACED = (*IDENTITY, "node")
"""The same, with the node that it was measured on."""
DEVICE = (*PLACED, "id", "index", "manufacturer", "mode")
"""What names a grant of an accelerator to an Instance."""
COLLECTION = ("node", "source")
"""What names a place that figures are read from."""


class Kind(StrEnum):
    """What may be done with the values of a family."""

    GAUGE = "gauge"
    COUNTER = "counter"


class Group(StrEnum):
    """Who tells a family, and whether it can be switched off."""

    STATE = "state"
    """What the API server knows; told by the operator or, for the whole cluster, the exporter."""
    USAGE = "usage"
    """Time for billing, from the status of the Instance; told where STATE is."""
    USE = "use"
    """What the kubelet measures."""
    ACCELERATOR = "accelerator"
    """What the sources of accelerator figures measure."""
    REFERENCE = "reference"
    """The names that dashboards of the reference ask for; switched by a flag."""
    COLLECTION = "collection"
    """How reading goes, and why a figure is absent."""


@attrs.frozen
class Family:
    """Series of one name and meaning; *labels* in the order in which values are given."""

    name: str
    kind: Kind
    meaning: str
    labels: tuple[str, ...]
    group: Group


@attrs.frozen
class _Made:
    """Makes families of one group."""

    group: Group

    def gauge(self, name: str, meaning: str, labels: tuple[str, ...]) -> Family:
        """What may rise and fall."""
        return Family(f"gpustack_{name}", Kind.GAUGE, meaning, labels, self.group)

    def counter(self, name: str, meaning: str, labels: tuple[str, ...]) -> Family:
        """What only grows, but for a new beginning."""
        return Family(f"gpustack_{name}_total", Kind.COUNTER, meaning, labels, self.group)


_state = _Made(Group.STATE)
INSTANCES = _state.gauge(
    "instances", "Instances by phase, in each namespace that has any.", ("namespace", "phase")
)
INFO = _state.gauge(
    "instance_info",
    "What an Instance is; always 1. The digest is that of the image that runs.",
    (*IDENTITY, "type", "node", "image", "image_digest"),
)
PHASE = _state.gauge(
    "instance_phase", "1 for the phase that the Instance is in.", (*IDENTITY, "phase")
)
READY = _state.gauge("instance_ready", "Whether the Instance is Ready.", IDENTITY)
SSH_READY = _state.gauge(
    "instance_ssh_ready", "Whether one can log in, where there is a key or a port for it.", IDENTITY
)
ISOLATED = _state.gauge(
    "instance_isolated",
    "Whether the policy of the namespace is in place, where isolation is on.",
    IDENTITY,
)
BLOCKED = _state.gauge(
    "instance_blocked",
    "1 for the first gate that holds the Instance back, as its status tells it.",
    (*IDENTITY, "gate", "reason", "owner"),
)
ACCELERATORS = _state.gauge(
    "instance_accelerators",
    "Accelerators that the Instance asks for, by family; also while it is stopped.",
    (*IDENTITY, "family"),
)
CPU_LIMIT = _state.gauge("instance_cpu_limit_cores", "CPU that the workload may use.", IDENTITY)
CPU_REQUEST = _state.gauge(
    "instance_cpu_request_cores", "CPU that is set aside for the workload.", IDENTITY
)
MEMORY_LIMIT = _state.gauge(
    "instance_memory_limit_bytes", "Memory that the workload may use.", IDENTITY
)
MEMORY_REQUEST = _state.gauge(
    "instance_memory_request_bytes", "Memory that is set aside for the workload.", IDENTITY
)
STORAGE_LIMIT = _state.gauge(
    "instance_ephemeral_storage_limit_bytes", "Local storage that the workload may use.", IDENTITY
)
RESTARTS = _state.counter("instance_restarts", "Restarts of the workload inside its Pod.", IDENTITY)
STARTED = _state.gauge(
    "instance_start_time_seconds", "When the Pod was started, in Unix time.", IDENTITY
)
LAST_TERMINATION = _state.gauge(
    "instance_last_termination_timestamp_seconds",
    "When the workload last ended though nobody asked it to, in Unix time, and why.",
    (*IDENTITY, "reason"),
)

_usage = _Made(Group.USAGE)
ALLOCATED = _usage.counter(
    "instance_allocated_seconds",
    "Time for which a Pod of the Instance held its place, from scheduled to ended or gone.",
    (*IDENTITY, "type", "family"),
)
ACCELERATOR_ALLOCATED = _usage.counter(
    "instance_accelerator_allocated_seconds",
    "The same times the accelerators held: cards, or 1 for a share, slice or partition.",
    (*IDENTITY, "type", "family"),
)
PENDING = _usage.counter(
    "instance_pending_seconds",
    "Time for which the Instance wanted to run and held nothing.",
    IDENTITY,
)
STOPPED = _usage.counter(
    "instance_stopped_seconds", "Time for which the Instance was stopped.", IDENTITY
)

_use = _Made(Group.USE)
CPU_USAGE = _use.counter(
    "instance_cpu_usage_seconds",
    "CPU time of all containers of the Pod; begins anew with each Pod.",
    PLACED,
)
MEMORY_WORKING_SET = _use.gauge(
    "instance_memory_working_set_bytes", "Memory that cannot be taken back under pressure.", PLACED
)
MEMORY_RSS = _use.gauge(
    "instance_memory_rss_bytes", "Anonymous memory, without what files are cached in.", PLACED
)
NETWORK_RECEIVE = _use.counter(
    "instance_network_receive_bytes", "Bytes that came in over the Pod's interfaces.", PLACED
)
NETWORK_TRANSMIT = _use.counter(
    "instance_network_transmit_bytes", "Bytes that went out over the Pod's interfaces.", PLACED
)
STORAGE_USED = _use.gauge(
    "instance_ephemeral_storage_used_bytes",
    "Local storage in use: written files, logs and ephemeral volumes.",
    PLACED,
)
VOLUME_USED = _use.gauge(
    "instance_volume_used_bytes", "Space in use on a volume.", (*PLACED, "volume")
)
VOLUME_CAPACITY = _use.gauge(
    "instance_volume_capacity_bytes", "Space that a volume has.", (*PLACED, "volume")
)
PROCESSES = _use.gauge("instance_processes", "Processes in the Pod.", PLACED)

_accelerator = _Made(Group.ACCELERATOR)
DEVICE_MEMORY_LIMIT = _accelerator.gauge(
    "instance_accelerator_memory_limit_bytes", "Device memory of the grant.", DEVICE
)
DEVICE_MEMORY_USED = _accelerator.gauge(
    "instance_accelerator_memory_used_bytes", "Device memory that the Instance uses.", DEVICE
)
DEVICE_UTILIZATION = _accelerator.gauge(
    "instance_accelerator_utilization_ratio",
    "How busy the grant's cores are; may exceed 1.",
    DEVICE,
)
DEVICE_TEMPERATURE = _accelerator.gauge(
    "instance_accelerator_temperature_celsius", "Temperature of the device.", DEVICE
)
DEVICE_POWER = _accelerator.gauge(
    "instance_accelerator_power_usage_watts", "Power that the device draws.", DEVICE
)
DEVICE_UNHEALTHY = _accelerator.gauge(
    "instance_accelerator_unhealthy", "Whether the device is ill, by its source.", DEVICE
)

_reference = _Made(Group.REFERENCE)
REFERENCE_CPU_TOTAL = _reference.gauge(
    "instance_cpu_total_millicores", "Limits of all containers.", PLACED
)
REFERENCE_CPU_USED = _reference.gauge(
    "instance_cpu_used_millicores", "CPU in use, as the kubelet averages it.", PLACED
)
REFERENCE_MEMORY_TOTAL = _reference.gauge(
    "instance_memory_total_mib", "Limits of all containers, rounded up.", PLACED
)
REFERENCE_MEMORY_USED = _reference.gauge(
    "instance_memory_used_mib", "Working set, rounded up.", PLACED
)
REFERENCE_STORAGE_TOTAL = _reference.gauge(
    "instance_storage_total_mib", "Limits of all containers, rounded up.", PLACED
)
REFERENCE_STORAGE_USED = _reference.gauge(
    "instance_storage_used_mib", "Local storage in use, rounded up.", PLACED
)
REFERENCE_DEVICE_MEMORY_TOTAL = _reference.gauge(
    "instance_accelerator_memory_total_mib", "Device memory of the grant, rounded up.", DEVICE
)
REFERENCE_DEVICE_MEMORY_USED = _reference.gauge(
    "instance_accelerator_memory_used_mib", "Device memory in use, rounded up.", DEVICE
)
REFERENCE_DEVICE_MEMORY_PERCENT = _reference.gauge(
    "instance_accelerator_memory_utilization_percent",
    "Device memory in use, of the grant's, rounded down.",
    DEVICE,
)
REFERENCE_DEVICE_CORES_PERCENT = _reference.gauge(
    "instance_accelerator_cores_utilization_percent", "How busy the grant's cores are.", DEVICE
)

_collection = _Made(Group.COLLECTION)
COLLECTOR_SUCCESS = _collection.gauge(
    "instance_metrics_collector_success",
    "Whether the last reading of a node's source succeeded.",
    COLLECTION,
)
COLLECTOR_FAILURE = _collection.gauge(
    "instance_metrics_collector_failure",
    "1 for why the last reading failed, while it does.",
    (*COLLECTION, "reason"),
)
COLLECTOR_DURATION = _collection.gauge(
    "instance_metrics_collector_duration_seconds", "How long the last reading took.", COLLECTION
)
COLLECTOR_LAST_SUCCESS = _collection.gauge(
    "instance_metrics_collector_last_success_timestamp_seconds",
    "When a reading last succeeded, in Unix time.",
    COLLECTION,
)
MISSING = _collection.gauge(
    "instance_metrics_missing",
    "1 for an Instance that runs and of which a source tells nothing, and why.",
    (*PLACED, "source", "reason"),
)
CAPABILITY = _collection.gauge(
    "accelerator_process_capability",
    "1 for a figure of a device that cannot be told for its Instances, and why.",
    ("node", "manufacturer", "id", "entry_point", "reason"),
)


def catalogue() -> Iterator[Family]:
    """Every family, in the order of the page."""
    return (held for held in globals().values() if isinstance(held, Family))
