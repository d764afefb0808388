"""The kubelet's `/stats/summary`: the one source that knows network, disk and volumes."""

from collections.abc import Iterable, Mapping

import msgspec

from gpustack_ctrl.api import codec
from gpustack_ctrl.api.kubelet_summary import (
    CPU,
    ContainerStats,
    FileSystem,
    Memory,
    Network,
    PodStats,
    Processes,
    Summary,
    Volume,
)
from gpustack_ctrl.metering.figures import added
from gpustack_ctrl.metering.uses import PodUse, UnreadableError, VolumeUse

PATH = "/stats/summary"
_NANO = 1_000_000_000
_MOST = 1 << 63
"""What no figure reaches: the kubelet writes such for what it failed to work out."""

_read = codec.reader(Summary)


def read(body: bytes) -> Mapping[str, PodUse]:
    """What each Pod uses, by its UID; raise `UnreadableError`."""
    try:
        told = _read(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreadableError(f"{PATH} is not what the kubelet writes: {error}") from error
    return {pod.podRef.uid: _use(pod) for pod in told.pods or ()}


def _use(pod: PodStats) -> PodUse:
    cpu, memory = pod.cpu or _cpu(pod.containers or ()), pod.memory or _memory(pod.containers or ())
    return PodUse(
        cpu_seconds=_scaled(cpu.usageCoreNanoSeconds),
        cores=_scaled(cpu.usageNanoCores),
        memory_working_set=_sane(memory.workingSetBytes),
        memory_rss=_sane(memory.rssBytes),
        network_received=_over_all(pod.network or Network(), "rxBytes"),
        network_transmitted=_over_all(pod.network or Network(), "txBytes"),
        storage_used=_sane((pod.ephemeral_storage or FileSystem()).usedBytes),
        processes=_sane((pod.process_stats or Processes()).process_count),
        volumes=tuple(map(_volume, pod.volume or ())),
    )


def _volume(held: Volume) -> VolumeUse:
    return VolumeUse(name=held.name, used=_sane(held.usedBytes), capacity=_sane(held.capacityBytes))


def _cpu(containers: Iterable[ContainerStats]) -> CPU:
    told = [held.cpu for held in containers if held.cpu is not None]
    return CPU(
        usageNanoCores=_sum(held.usageNanoCores for held in told),
        usageCoreNanoSeconds=_sum(held.usageCoreNanoSeconds for held in told),
    )


def _memory(containers: Iterable[ContainerStats]) -> Memory:
    told = [held.memory for held in containers if held.memory is not None]
    return Memory(
        workingSetBytes=_sum(held.workingSetBytes for held in told),
        rssBytes=_sum(held.rssBytes for held in told),
    )


def _over_all(network: Network, name: str) -> float | None:
    """Bytes over all interfaces; the default one stands for them where none is listed."""
    each = network.interfaces or (network,)
    return _sum(getattr(held, name) for held in each)


def _sum(values: Iterable[int | None]) -> int | None:
    """The sum of what is known; None where nothing is."""
    return added(map(_sane, values))


def _sane(value: int | None) -> int | None:
    """*value*; None where nothing can be that much, or less than nothing."""
    return value if value is not None and 0 <= value < _MOST else None


def _scaled(nano: int | None) -> float | None:
    told = _sane(nano)
    return None if told is None else told / _NANO
