"""Lines about the same thing, put together to one sample."""

import math
from collections.abc import Callable, Iterable, Mapping

import attrs

from gpustack_ctrl.metering.accelerators.readings import DeviceSample, Extent, PodClaim

MIB = 1024 * 1024
PERCENT = 0.01

Told = Mapping[str, float]
"""What a source says of one subject, by the name of the family."""


@attrs.frozen(kw_only=True)
class Subject:
    """What a line is about; lines with equal subjects are of one sample."""

    id: str
    index: str = ""
    manufacturer: str = ""
    extent: Extent = Extent.DEVICE
    partition: str = ""
    pod: PodClaim | None = None


@attrs.frozen(kw_only=True)
class Figures:
    """The figures of one sample, as in DeviceSample."""

    memory_total_bytes: int | None = None
    memory_used_bytes: int | None = None
    cores_utilization: float | None = None
    temperature_celsius: float | None = None
    power_watts: float | None = None
    unhealthy: bool | None = None


def gather(
    told: Iterable[tuple[Subject, str, float]], figures: Callable[[Subject, Told], Figures]
) -> tuple[DeviceSample, ...]:
    """A sample for each subject in *told*, with the figures that *figures* finds for it.

    Of several lines with the same subject and family the largest counts: they are checks
    or errors of one device, of which the worst is the answer.
    """
    gathered: dict[Subject, dict[str, float]] = {}
    for subject, family, value in told:
        if not math.isfinite(value):
            continue
        known = gathered.setdefault(subject, {})
        known[family] = max(value, known.get(family, value))
    return tuple(_sample(subject, figures(subject, known)) for subject, known in gathered.items())


def claim(
    labels: Mapping[str, str], *, namespace: str, pod: str, uid: str = "", container: str = ""
) -> PodClaim | None:
    """The Pod that *labels* name; the other arguments say which label tells what."""
    told = PodClaim(
        namespace=labels.get(namespace, ""),
        name=labels.get(pod, ""),
        uid=labels.get(uid, ""),
        container=labels.get(container, ""),
    )
    return told if told.uid or (told.namespace and told.name) else None


def first(told: Told, families: Iterable[str]) -> float | None:
    """The value of the first of *families* that is told."""
    return next((told[family] for family in families if family in told), None)


def in_bytes(value: float | None, factor: float = 1) -> int | None:
    """An amount of memory; a negative one is no amount."""
    return None if value is None or value < 0 else _whole(value * factor)


def scaled(value: float | None, factor: float) -> float | None:
    """A share or a power; a negative one is none."""
    return None if value is None or value < 0 else _finite(value * factor)


def _whole(value: float) -> int | None:
    return round(value) if math.isfinite(value) else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _sample(subject: Subject, found: Figures) -> DeviceSample:
    return DeviceSample(
        **attrs.asdict(subject, recurse=False), **attrs.asdict(found, recurse=False)
    )
