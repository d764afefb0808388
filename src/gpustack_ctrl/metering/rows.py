"""What Instances have and use, a row for each: made of series, wherever these come from."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import attrs

from gpustack_ctrl.metering import families as f
from gpustack_ctrl.metering.families import Family
from gpustack_ctrl.metering.figures import added
from gpustack_ctrl.metering.members import Identity

_MILLI = 1000

Labels = Mapping[str, str]


@attrs.frozen
class Series:
    """One value, as it is read from a page."""

    name: str
    labels: Labels
    value: float


@attrs.frozen(kw_only=True)
class Device:
    """What an Instance has and uses of one card: bytes, and a ratio of its cores."""

    id: str
    mode: str = ""
    memory_used: float | None = None
    memory_limit: float | None = None
    utilization: float | None = None


@attrs.frozen(kw_only=True)
class Row:
    """An Instance: cores and bytes; None where nobody knows."""

    namespace: str
    name: str
    phase: str | None = None
    type: str | None = None
    node: str | None = None
    cpu_used: float | None = None
    cpu_limit: float | None = None
    memory_used: float | None = None
    memory_limit: float | None = None
    storage_used: float | None = None
    storage_limit: float | None = None
    asked: str | None = None
    """The accelerators that it asks for, such as `2 Whole`."""
    accelerators: tuple[Device, ...] = ()

    @property
    def accelerator_memory_used(self) -> float | None:
        """Of all its cards together."""
        return added(held.memory_used for held in self.accelerators)


def rows(told: Iterable[Series]) -> tuple[Row, ...]:
    """A row for each Instance that is *told* of, by namespace and name."""
    found: defaultdict[Identity, list[Series]] = defaultdict(list)
    for series in told:
        if "instance_uid" in series.labels:
            namespace, name, uid = (series.labels[name] for name in f.IDENTITY)
            found[namespace, name, uid].append(series)
    return tuple(_row(key, found[key]) for key in sorted(found))


def _row(who: Identity, told: Iterable[Series]) -> Row:
    namespace, name, _ = who
    by_name = _Told(told)
    info, phase = by_name.labels(f.INFO), by_name.labels(f.PHASE)
    millicores = by_name.value(f.REFERENCE_CPU_USED)
    return Row(
        namespace=namespace,
        name=name,
        phase=phase.get("phase"),
        type=info.get("type"),
        node=info.get("node") or by_name.labels(f.CPU_USAGE).get("node"),
        cpu_used=None if millicores is None else millicores / _MILLI,
        cpu_limit=by_name.value(f.CPU_LIMIT),
        memory_used=by_name.value(f.MEMORY_WORKING_SET),
        memory_limit=by_name.value(f.MEMORY_LIMIT),
        storage_used=by_name.value(f.STORAGE_USED),
        storage_limit=by_name.value(f.STORAGE_LIMIT),
        asked=_asked(by_name),
        accelerators=tuple(_devices(by_name)),
    )


def _asked(told: "_Told") -> str | None:
    count, family = told.value(f.ACCELERATORS), told.labels(f.ACCELERATORS).get("family")
    return f"{count:.0f} {family}" if count else None


class _Told:
    """The series of one Instance, by name."""

    def __init__(self, told: Iterable[Series]) -> None:
        self._held: defaultdict[str, list[Series]] = defaultdict(list)
        for series in told:
            self._held[series.name].append(series)

    def all(self, family: Family) -> list[Series]:
        """All series of *family*."""
        return self._held.get(family.name, [])

    def value(self, family: Family) -> float | None:
        """The value of the one series of *family*, if it is told."""
        return next((series.value for series in self.all(family)), None)

    def labels(self, family: Family) -> Labels:
        """The labels of the one series of *family*; none where it is not told."""
        return next((series.labels for series in self.all(family)), {})


def _devices(told: _Told) -> Iterator[Device]:
    """The cards of an Instance, by id."""
    families = (f.DEVICE_MEMORY_USED, f.DEVICE_MEMORY_LIMIT, f.DEVICE_UTILIZATION)
    used, limits, busy = (
        {series.labels["id"]: series for series in told.all(family)} for family in families
    )
    for device in sorted({*used, *limits, *busy}):
        yield Device(
            id=device,
            mode=next(
                held[device].labels["mode"] for held in (used, limits, busy) if device in held
            ),
            memory_used=_value(used, device),
            memory_limit=_value(limits, device),
            utilization=_value(busy, device),
        )


def _value(held: Mapping[str, Series], device: str) -> float | None:
    return held[device].value if device in held else None
