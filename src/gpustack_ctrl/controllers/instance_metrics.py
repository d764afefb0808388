"""Prometheus series of each Instance, made from the caches when somebody scrapes.

A series says nothing that is not known: an Instance without a Pod has no limits and no
start time. The labels are `instance_name` and `instance_uid`, since `instance` belongs
to Prometheus itself.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

import attrs
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gpustack_ctrl.api import names, quantity
from gpustack_ctrl.api.core import Pod
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_status import Phase
from gpustack_ctrl.api.manufacturers import Manufacturer
from gpustack_ctrl.api.meta import ObjectKey, condition_of
from gpustack_ctrl.controllers.caches import Caches
from gpustack_ctrl.reconcilers.accelerators.request import AcceleratorRequest, request
from gpustack_ctrl.reconcilers.settings.in_force import settings_in_force

_IDENTITY = ("namespace", "instance_name", "instance_uid")


@attrs.frozen
class InstanceCollector(Collector):
    """Reads *caches* at each scrape; it keeps nothing and writes nothing."""

    caches: Caches

    def describe(self) -> Iterable[Metric]:
        """Nothing ahead of time: registering must not read the caches."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """All families, each with the series of every Instance."""
        instances = self.caches.instances.list()
        yield _counted(instances)
        families = _Families()
        manufacturers = settings_in_force(self.caches.settings.list()).manufacturers
        for instance in instances:
            families.tell(instance, self._own_pod(instance))
            families.tell_accelerators(instance, self._accelerator(instance, manufacturers))
        yield from attrs.astuple(families, recurse=False)

    def _own_pod(self, instance: Instance) -> Pod | None:
        pod = self.caches.pods.get(instance.key)
        owner = pod.metadata.controller if pod else None
        return pod if owner is not None and owner.uid == instance.uid else None

    def _accelerator(
        self, instance: Instance, manufacturers: Mapping[str, Manufacturer]
    ) -> AcceleratorRequest | None:
        offered = self.caches.types.get(ObjectKey("", instance.spec.type))
        if offered is None:
            return None
        asked = request(offered.spec, instance.spec.resources, manufacturers)
        return asked if isinstance(asked, AcceleratorRequest) else None


def _gauge(name: str, meaning: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, meaning, labels=(*_IDENTITY, *labels))


@attrs.frozen
class _Families:
    """The families that have a series for each Instance, in the order of the page."""

    info: GaugeMetricFamily = attrs.field(
        factory=lambda: _gauge(
            "gpustack_instance_info", "What an Instance is; always 1.", "type", "node", "image"
        )
    )
    phase: GaugeMetricFamily = attrs.field(
        factory=lambda: _gauge(
            "gpustack_instance_phase", "1 for the phase that the Instance is in.", "phase"
        )
    )
    ready: GaugeMetricFamily = attrs.field(
        factory=lambda: _gauge("gpustack_instance_ready", "Whether the Instance is Ready.")
    )
    accelerators: GaugeMetricFamily = attrs.field(
        factory=lambda: _gauge(
            "gpustack_instance_accelerators",
            "Accelerators that the Instance asks for, by family; also while it is stopped.",
            "family",
        )
    )
    cpu: GaugeMetricFamily = attrs.field(
        factory=lambda: _gauge(
            "gpustack_instance_cpu_limit_cores", "CPU that the workload may use."
        )
    )
    memory: GaugeMetricFamily = attrs.field(
        factory=lambda: _gauge(
            "gpustack_instance_memory_limit_bytes", "Memory that the workload may use."
        )
    )
    restarts: CounterMetricFamily = attrs.field(
        factory=lambda: CounterMetricFamily(
            "gpustack_instance_restarts",
            "Restarts of the workload inside its Pod.",
            labels=_IDENTITY,
        )
    )
    started: GaugeMetricFamily = attrs.field(
        factory=lambda: _gauge(
            "gpustack_instance_start_time_seconds", "When the Pod was started, in Unix time."
        )
    )

    def tell(self, instance: Instance, pod: Pod | None) -> None:
        """Add the series of *instance*, and of its own *pod* where there is one."""
        who = _identity(instance)
        node = pod.spec.nodeName if pod else ""
        ready = condition_of(instance.status.conditions, "Ready")
        self.info.add_metric((*who, instance.spec.type, node, instance.spec.image), 1)
        self.phase.add_metric((*who, _phase(instance)), 1)
        self.ready.add_metric(who, float(ready is not None and ready.status == "True"))
        if pod is not None:
            self._tell_pod(who, pod)

    def tell_accelerators(self, instance: Instance, asked: AcceleratorRequest | None) -> None:
        """Add how many accelerators *instance* asks for, if its type tells."""
        if asked is not None and asked.family is not None:
            self.accelerators.add_metric((*_identity(instance), asked.family), asked.count)

    def _tell_pod(self, who: tuple[str, ...], pod: Pod) -> None:
        main, told = pod.container(names.MAIN), pod.container_status(names.MAIN)
        limits = main.resources.limits if main else {}
        if "cpu" in limits:
            self.cpu.add_metric(who, float(quantity.parse(limits["cpu"])))
        if "memory" in limits:
            self.memory.add_metric(who, float(quantity.parse(limits["memory"])))
        if told is not None:
            self.restarts.add_metric(who, told.restartCount)
        if pod.status.startTime is not None:
            started = datetime.fromisoformat(pod.status.startTime)
            self.started.add_metric(who, started.timestamp())


def _counted(instances: Iterable[Instance]) -> Metric:
    """How many Instances there are, by namespace and phase; absent phases are 0."""
    family = GaugeMetricFamily(
        "gpustack_instances",
        "Instances by phase, in each namespace that has any.",
        labels=("namespace", "phase"),
    )
    counts = Counter((held.metadata.namespace, _phase(held)) for held in instances)
    for namespace in sorted({namespace for namespace, _ in counts}):
        for phase in Phase:
            family.add_metric((namespace, phase), counts[namespace, phase])
    return family


def _identity(instance: Instance) -> tuple[str, str, str]:
    return (instance.metadata.namespace, instance.metadata.name, instance.uid)


def _phase(instance: Instance) -> Phase:
    """An Instance that nobody has looked at yet is Pending."""
    return instance.status.phase or Phase.PENDING
