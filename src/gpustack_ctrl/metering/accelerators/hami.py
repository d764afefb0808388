"""Figures from the monitor of HAMi, which divides cards by a library in each container.

Facts, from Project-HAMi/HAMi (cmd/vGPUmonitor/metrics.go):

- There are two lines of names: those of today (`hami_…`), and those of before, which are
  exported beside them on demand. Memory is in bytes, and utilization in percent, also
  where the name says ratio.
- What a container uses and may use is of that container alone: a slice. Its utilization
  is still in percent of the whole card. A limit of 0 is none.
- `vdevice_index` counts the devices of the container, not those of the node.
- What the host uses is of the card, whoever uses it.
- A Pod is told by its names, without its UID.
"""

from collections.abc import Iterator, Mapping

import attrs

from gpustack_ctrl.metering.accelerators import gathering
from gpustack_ctrl.metering.accelerators.gathering import PERCENT, Figures, Subject, Told
from gpustack_ctrl.metering.accelerators.readings import DeviceSample, Extent
from gpustack_ctrl.metering.accelerators.text import Line, read_lines

_LIMIT = ("hami_vgpu_memory_limit_bytes", "vGPU_device_memory_limit_in_bytes")
_USED = (
    "hami_vgpu_memory_used_bytes",
    "hami_container_device_memory_bytes",
    "vGPU_device_memory_usage_in_bytes",
    "Device_memory_desc_of_container",
)
_CORES = ("hami_container_device_utilization_ratio", "Device_utilization_desc_of_container")
_HOST_USED = ("hami_host_gpu_memory_used_bytes", "HostGPUMemoryUsage")
_HOST_CORES = ("hami_host_gpu_utilization_ratio", "HostCoreUtilization")
_FAMILIES = frozenset({*_LIMIT, *_USED, *_CORES, *_HOST_USED, *_HOST_CORES})
_OF_HOST = frozenset({*_HOST_USED, *_HOST_CORES})


@attrs.frozen
class HamiAdapter:
    """Reads the page of HAMi's vGPUmonitor."""

    def read(self, text: str) -> tuple[DeviceSample, ...]:
        """See Adapter."""
        return gathering.gather(_told(read_lines(text, _FAMILIES)), _figures)


def _told(lines: tuple[Line, ...]) -> Iterator[tuple[Subject, str, float]]:
    for line in lines:
        card = line.labels.get("device_uuid") or line.labels.get("deviceuuid", "")
        if card:
            made = _card if line.family in _OF_HOST else _slice
            yield made(card, line.labels), line.family, line.value


def _card(card: str, labels: Mapping[str, str]) -> Subject:
    index = labels.get("device_index") or labels.get("deviceidx", "")
    return Subject(id=card, index=index, manufacturer=_maker(card))


def _slice(card: str, labels: Mapping[str, str]) -> Subject:
    before = "podname" in labels
    return Subject(
        id=card,
        manufacturer=_maker(card),
        extent=Extent.SLICE,
        partition=labels.get("vdeviceid" if before else "vdevice_index", ""),
        pod=gathering.claim(
            labels,
            namespace="podnamespace" if before else "namespace",
            pod="podname" if before else "pod",
            uid="pod_uid",
            container="ctrname" if before else "container",
        ),
    )


def _maker(card: str) -> str:
    """The manufacturer, as far as the form of an id gives it away."""
    return "nvidia" if card.startswith(("GPU-", "MIG-")) else ""


def _figures(subject: Subject, told: Told) -> Figures:
    whole = subject.extent is Extent.DEVICE
    return Figures(
        memory_total_bytes=gathering.in_bytes(gathering.first(told, _LIMIT)) or None,
        memory_used_bytes=gathering.in_bytes(gathering.first(told, _HOST_USED if whole else _USED)),
        cores_utilization=gathering.scaled(
            gathering.first(told, _HOST_CORES if whole else _CORES), PERCENT
        ),
    )
