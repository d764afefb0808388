"""The kubelet's `/stats/summary`: the one source that knows network, disk and volumes."""

from collections.abc import Iterable, Mapping

import msgspec

from gpustack_ctrl.api import codec
from gpustack_ctrl.api.kubelet_summary import (
    CPU,
    ContainerStats,
    Memory,
    Network,
    PodStats,
    Summary,
)
from gpustack_ctrl.metering.uses import PodUse, UnreadableError, VolumeUse

PATH = "/stats/summary"
_NANO = 1e-9

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
        memory_working_set=memory.workingSetBytes,
        memory_rss=memory.rssBytes,
        network_received=_over_all(pod.network, "rxBytes"),
        network_transmitted=_over_all(pod.network, "txBytes"),
        storage_used=pod.ephemeral_storage.usedBytes,
        processes=pod.process_stats.process_count,
        volumes=tuple(
            VolumeUse(name=held.name, used=held.usedBytes, capacity=held.capacityBytes)
            for held in pod.volume
        ),
    )


def _cpu(containers: Iterable[ContainerStats]) -> CPU:
    return CPU(
        usageNanoCores=_sum(held.cpu.usageNanoCores for held in containers),
        usageCoreNanoSeconds=_sum(held.cpu.usageCoreNanoSeconds for held in containers),
    )


def _memory(containers: Iterable[ContainerStats]) -> Memory:
    return Memory(
        workingSetBytes=_sum(held.memory.workingSetBytes for held in containers),
        rssBytes=_sum(held.memory.rssBytes for held in containers),
    )


def _over_all(network: Network, name: str) -> float | None:
    """Bytes over all interfaces; the default one stands for them where none is listed."""
    each = network.interfaces or (network,)
    return _sum(getattr(held, name) for held in each)


def _sum(values: Iterable[int | None]) -> int | None:
    """The sum of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _scaled(nano: int | None) -> float | None:
    return None if nano is None else nano * _NANO
