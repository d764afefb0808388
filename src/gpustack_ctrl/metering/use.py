"""Series of what Instances use, on one node."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping

from gpustack_ctrl.api import names, quantity
from gpustack_ctrl.api.core import Pod, PodVolume
from gpustack_ctrl.api.quantity import MI
from gpustack_ctrl.api.unread import Unread
from gpustack_ctrl.metering import families as f
from gpustack_ctrl.metering import limits
from gpustack_ctrl.metering.exposition import Sample
from gpustack_ctrl.metering.families import Family
from gpustack_ctrl.metering.figures import added, figure_samples
from gpustack_ctrl.metering.members import Member
from gpustack_ctrl.metering.uses import PodUse, VolumeUse

_MILLI = 1000
_NANO_DIGITS = 6
"""Of a thousandth of a core, that a kubelet measures; beyond is the dust of binary fractions."""

Figure = Callable[[PodUse], float | None]

_FIGURES: Mapping[Family, Figure] = {
    f.CPU_USAGE: lambda use: use.cpu_seconds,
    f.MEMORY_WORKING_SET: lambda use: use.memory_working_set,
    f.MEMORY_RSS: lambda use: use.memory_rss,
    f.NETWORK_RECEIVE: lambda use: use.network_received,
    f.NETWORK_TRANSMIT: lambda use: use.network_transmitted,
    f.STORAGE_USED: lambda use: use.storage_used,
    f.PROCESSES: lambda use: use.processes,
}
_REFERENCE: Mapping[Family, Figure] = {
    f.REFERENCE_CPU_USED: lambda use: millicores(use.cores),
    f.REFERENCE_MEMORY_USED: lambda use: mebibytes(use.memory_working_set),
    f.REFERENCE_STORAGE_USED: lambda use: mebibytes(use.storage_used),
}
_TOTALS: Mapping[Family, Callable[[Member], float | None]] = {
    f.REFERENCE_CPU_TOTAL: lambda held: _millicores_of_each(held.pod),
    f.REFERENCE_MEMORY_TOTAL: lambda held: mebibytes(limits.total(held.pod, limits.MEMORY)),
    f.REFERENCE_STORAGE_TOTAL: lambda held: mebibytes(limits.total(held.pod, limits.STORAGE)),
}


def use_samples(
    held: Iterable[Member], uses: Mapping[str, PodUse], *, reference: bool
) -> Iterator[Sample]:
    """What each of *held* uses, by the UID of its Pod; what is not known has no series."""
    for member in held:
        use = uses.get(member.pod.metadata.uid)
        if use is None or not use.measured:
            continue
        yield from figure_samples(member.placed, use, _FIGURES)
        yield from _volumes(member, use)
        if reference:
            yield from figure_samples(member.placed, use, _REFERENCE)
            yield from figure_samples(member.placed, member, _TOTALS)


def missing_samples(
    held: Iterable[Member], uses: Mapping[str, PodUse] | None, *, source: str, failure: str
) -> Iterator[Sample]:
    """Why *source* tells nothing of a member that runs: its own *failure*, where there is one."""
    for member in held:
        reason = failure if uses is None else _gap(uses.get(member.pod.metadata.uid))
        if reason and member.runs:
            yield Sample(f.MISSING, (*member.placed, source, reason), 1)


def mebibytes(value: float | None) -> float | None:
    """Bytes in MiB, rounded up as the reference does."""
    return None if value is None else math.ceil(value / MI)


def millicores(value: float | None) -> float | None:
    """Cores in thousandths, rounded up as the reference does."""
    return None if value is None else math.ceil(round(value * _MILLI, _NANO_DIGITS))


def _millicores_of_each(pod: Pod) -> float | None:
    """The limits of all containers, each rounded up on its own."""
    each = (limits.amount(held.resources.limits, limits.CPU) for held in pod.spec.containers)
    return added(map(millicores, each))


def _volumes(member: Member, use: PodUse) -> Iterator[Sample]:
    """Of those volumes that can be filled; others are files of the API server's."""
    by_name = {told.name: told for told in use.volumes}
    spaces = [held for held in member.pod.spec.volumes if _is_filled(held) and held.name in by_name]
    for held in spaces:
        told = by_name[held.name]
        where, capacity = (*member.placed, told.name), _capacity(held, told)
        if told.used is not None:
            yield Sample(f.VOLUME_USED, where, told.used)
        if capacity is not None:
            yield Sample(f.VOLUME_CAPACITY, where, capacity)


def _is_filled(volume: PodVolume) -> bool:
    """Whether the user fills it: the programs of our SSH server are nobody's use."""
    return volume.is_space and volume.name != names.SSH_PROGRAMS


def _capacity(volume: PodVolume, told: VolumeUse) -> float | None:
    """What fits: of a share of the node's disk, no more than its limit."""
    limit = volume.emptyDir.sizeLimit if volume.emptyDir else None
    sizes = [float(quantity.parse(limit))] if limit else []
    return min([*sizes, told.capacity] if told.capacity is not None else sizes, default=None)


def _gap(use: PodUse | None) -> str:
    """Why a kubelet that answers tells nothing of a Pod; empty where it does."""
    if use is None:
        return Unread.NOT_IN_ANSWER
    return "" if use.measured else Unread.NOT_MEASURED_YET
