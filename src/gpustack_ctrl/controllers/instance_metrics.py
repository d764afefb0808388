"""Prometheus series of each Instance on the operator's own page, made when somebody scrapes.

For clusters of some hundred Instances; an exporter tells the same, and what they use, for
any number.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import attrs
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gpustack_ctrl.api.core import Pod
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.controllers.caches import Caches
from gpustack_ctrl.metering.exposition import Sample
from gpustack_ctrl.metering.families import Family, Group, Kind, catalogue
from gpustack_ctrl.metering.state import Known, count_samples, place, state_samples
from gpustack_ctrl.metering.usage import usage_samples
from gpustack_ctrl.reconcilers.settings.in_force import settings_in_force
from gpustack_ctrl.runtime.clock import Clock

_TOLD = (Group.STATE, Group.USAGE)


@attrs.frozen
class InstanceCollector(Collector):
    """Reads *caches* at each scrape; it keeps nothing and writes nothing."""

    caches: Caches
    clock: Clock

    def describe(self) -> Iterable[Metric]:
        """Nothing ahead of time: registering must not read the caches."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """All families, each with the series of every Instance."""
        families = {family: _metric(family) for family in catalogue() if family.group in _TOLD}
        for family, labels, value in self._samples():
            families[family].add_metric(labels, value)
        return families.values()

    def _samples(self) -> Iterator[Sample]:
        instances = self.caches.instances.list()
        yield from count_samples(Counter(map(place, instances)))
        now = self.clock.now()
        for known in self._known(instances):
            yield from state_samples(known)
            yield from usage_samples(known, now)

    def _known(self, instances: Iterable[Instance]) -> Iterator[Known]:
        manufacturers = settings_in_force(self.caches.settings.list()).manufacturers
        for instance in instances:
            yield Known(
                instance=instance,
                pod=self._own_pod(instance),
                type=self.caches.types.get(ObjectKey("", instance.spec.type)),
                manufacturers=manufacturers,
            )

    def _own_pod(self, instance: Instance) -> Pod | None:
        pod = self.caches.pods.get(instance.key)
        owner = pod.metadata.controller if pod else None
        return pod if owner is not None and owner.uid == instance.uid else None


_KINDS: Mapping[Kind, type[CounterMetricFamily] | type[GaugeMetricFamily]] = {
    Kind.COUNTER: CounterMetricFamily,
    Kind.GAUGE: GaugeMetricFamily,
}


def _metric(family: Family) -> CounterMetricFamily | GaugeMetricFamily:
    name = family.name.removesuffix("_total")
    return _KINDS[family.kind](name, family.meaning, labels=family.labels)
