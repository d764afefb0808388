"""Series of the accelerators that Instances hold, on one node."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping

from gpustack_ctrl.metering import families as f
from gpustack_ctrl.metering.accelerators.readings import AcceleratorReading, Attribution
from gpustack_ctrl.metering.exposition import Sample
from gpustack_ctrl.metering.families import Family
from gpustack_ctrl.metering.figures import figure_samples
from gpustack_ctrl.metering.members import Member
from gpustack_ctrl.metering.use import mebibytes

_PERCENT = 100
_DIGITS = 9
"""Beyond them is the dust of binary fractions: 0.57 is 57 %, not 56.99999999999999."""

Figure = Callable[[AcceleratorReading], float | None]


def device_samples(
    node: str, held: Iterable[Member], told: Attribution, *, reference: bool
) -> Iterator[Sample]:
    """What each of *held* is told of its cards, and what nobody can be told."""
    figures = {**_FIGURES, **_REFERENCE} if reference else _FIGURES
    for member in held:
        for reading in told.readings.get(member.instance.uid, ()):
            device = (reading.id, reading.index, reading.manufacturer, reading.mode)
            yield from figure_samples((*member.placed, *device), reading, figures)
    for gap in told.gaps:
        yield Sample(f.CAPABILITY, (node, gap.manufacturer, gap.id, gap.entry_point, gap.reason), 1)


def memory_percent(held: AcceleratorReading) -> float | None:
    """Device memory in use, rounded down as the reference does; None where either is unknown."""
    if held.memory_used_bytes is None or not held.memory_total_bytes:
        return None
    return math.floor(_PERCENT * held.memory_used_bytes / held.memory_total_bytes)


def _percent(ratio: float | None) -> float | None:
    return None if ratio is None else round(_PERCENT * ratio, _DIGITS)


_FIGURES: Mapping[Family, Figure] = {
    f.DEVICE_MEMORY_LIMIT: lambda held: held.memory_total_bytes,
    f.DEVICE_MEMORY_USED: lambda held: held.memory_used_bytes,
    f.DEVICE_UTILIZATION: lambda held: held.cores_utilization,
    f.DEVICE_TEMPERATURE: lambda held: held.temperature_celsius,
    f.DEVICE_POWER: lambda held: held.power_watts,
    f.DEVICE_UNHEALTHY: lambda held: held.unhealthy,
}
_REFERENCE: Mapping[Family, Figure] = {
    f.REFERENCE_DEVICE_MEMORY_TOTAL: lambda held: mebibytes(held.memory_total_bytes),
    f.REFERENCE_DEVICE_MEMORY_USED: lambda held: mebibytes(held.memory_used_bytes),
    f.REFERENCE_DEVICE_MEMORY_PERCENT: memory_percent,
    f.REFERENCE_DEVICE_CORES_PERCENT: lambda held: _percent(held.cores_utilization),
}
