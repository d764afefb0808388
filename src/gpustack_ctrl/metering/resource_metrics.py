"""The kubelet's `/metrics/resource`: CPU and memory alone, where the summary is not to be had.

It names Pods, not their UIDs. So each sample's time is told, and one from before a Pod
began is of an older Pod of its name.
"""

import math
from collections import defaultdict
from collections.abc import Mapping

import attrs
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample as Parsed

from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.metering.uses import PodUse, UnreadableError

PATH = "/metrics/resource"
_CPU = "pod_cpu_usage_seconds_total"
_MEMORY = "pod_memory_working_set_bytes"


@attrs.frozen
class NamedUse:
    """What a Pod of some name uses, and when the oldest of it was measured, in Unix time."""

    use: PodUse
    taken: float


def read(body: bytes) -> Mapping[ObjectKey, NamedUse]:
    """What each Pod uses; raise `UnreadableError`."""
    figures: defaultdict[ObjectKey, dict[str, float]] = defaultdict(dict)
    taken: defaultdict[ObjectKey, float] = defaultdict(lambda: math.inf)
    for sample in _samples(body):
        key = ObjectKey(sample.labels.get("namespace", ""), sample.labels.get("pod", ""))
        figures[key][sample.name] = sample.value
        taken[key] = min(taken[key], _time(sample))
    return {key: NamedUse(_use(held), taken[key]) for key, held in figures.items()}


def _use(figures: Mapping[str, float]) -> PodUse:
    return PodUse(
        cpu_seconds=figures.get(_CPU),
        memory_working_set=figures.get(_MEMORY),
    )


def _samples(body: bytes) -> list[Parsed]:
    try:
        families = list(text_string_to_metric_families(body.decode()))
    except (ValueError, IndexError, KeyError) as error:
        raise UnreadableError(f"{PATH} is not text of Prometheus: {error}") from error
    return [
        sample
        for held in families
        for sample in held.samples
        if sample.name in (_CPU, _MEMORY) and _is_sane(sample.value)
    ]


def _is_sane(value: float) -> bool:
    """Whether anything can be that much."""
    return math.isfinite(value) and value >= 0


def _time(sample: Parsed) -> float:
    """When it was measured; long ago, if that is not told."""
    told = float(sample.timestamp or 0)
    return told if math.isfinite(told) else 0
