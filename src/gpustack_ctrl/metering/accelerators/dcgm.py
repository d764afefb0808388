"""Figures from dcgm-exporter, NVIDIA's exporter for its data center cards.

Facts, from NVIDIA/dcgm-exporter (etc/default-counters.csv, internal/pkg/rendermetrics,
internal/pkg/transformation, internal/pkg/collector) and from DCGM's dcgm_structs.h:

- Memory is in MiB and utilization in percent, but DCGM_FI_PROF_* are ratios.
- The total of the memory is exported on demand only; free, used and reserved make it up.
- The label with the id of the card is `UUID`, before version 2 `uuid`. A partition has
  the id of its card, and GPU_I_ID beside it.
- The Pod is in `pod`, `namespace` and `container`, in old versions `pod_name`,
  `pod_namespace` and `container_name`; newer ones can add `pod_uid`. Behind a Prometheus
  that keeps its own labels they begin with `exported_`.
- Of cards that several Pods share, one of them is named, or each in a line of its own
  with the same value. So a line with a Pod is no proof that the figure is that Pod's.
- What the card does not tell is a number from the end of the range of its type.
"""

from collections.abc import Iterator, Mapping

import attrs

from gpustack_ctrl.metering.accelerators import gathering
from gpustack_ctrl.metering.accelerators.gathering import MIB, PERCENT, Figures, Subject, Told
from gpustack_ctrl.metering.accelerators.readings import DeviceSample, Extent, PodClaim
from gpustack_ctrl.metering.accelerators.text import Line, read_lines

_TOTAL, _USED = "DCGM_FI_DEV_FB_TOTAL", "DCGM_FI_DEV_FB_USED"
_FREE, _RESERVED = "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_RESERVED"
_UTIL, _ACTIVE = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
_TEMPERATURE, _POWER = "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_POWER_USAGE"
_XID, _HEALTH = "DCGM_FI_DEV_XID_ERRORS", "DCGM_EXP_GPU_HEALTH_STATUS"
_REMAP = "DCGM_FI_DEV_ROW_REMAP_FAILURE"
_FAMILIES = frozenset(
    {_TOTAL, _USED, _FREE, _RESERVED, _UTIL, _ACTIVE, _TEMPERATURE, _POWER, _XID, _HEALTH, _REMAP}
)
_BLANK = 0x7FFFFFF0
"""The least of the numbers that DCGM has for "not known"; no figure of ours is as large."""
_FAILING = 20
"""DCGM's word for a check that failed; 10 is a warning."""
_OF_PROGRAMS = frozenset({13, 31, 43, 45, 68, 109})
"""Errors that a program causes, not the card: NVIDIA's device plugin skips the same ones."""


@attrs.frozen
class DcgmAdapter:
    """Reads the page of dcgm-exporter."""

    def read(self, text: str) -> tuple[DeviceSample, ...]:
        """See Adapter."""
        return gathering.gather(_told(read_lines(text, _FAMILIES)), _figures)


def _told(lines: tuple[Line, ...]) -> Iterator[tuple[Subject, str, float]]:
    for line in lines:
        subject = _subject(line.labels)
        if subject is not None and line.value < _BLANK:
            yield subject, line.family, line.value


def _subject(labels: Mapping[str, str]) -> Subject | None:
    card = labels.get("UUID") or labels.get("uuid") or labels.get("gpu_uuid", "")
    if not card:
        return None
    partition = labels.get("GPU_I_ID", "")
    return Subject(
        id=card,
        index=labels.get("gpu", ""),
        manufacturer="nvidia",
        extent=Extent.PARTITION if partition else Extent.DEVICE,
        partition=partition,
        pod=_claim(labels),
    )


def _claim(labels: Mapping[str, str]) -> PodClaim | None:
    own = "exported_" if "exported_pod" in labels else ""
    if f"{own}pod" in labels:
        return gathering.claim(
            labels, namespace=f"{own}namespace", pod=f"{own}pod",
            uid=f"{own}pod_uid", container=f"{own}container",
        )  # fmt: skip
    return gathering.claim(
        labels, namespace="pod_namespace", pod="pod_name", container="container_name"
    )


def _figures(subject: Subject, told: Told) -> Figures:
    return Figures(
        memory_total_bytes=_total(told),
        memory_used_bytes=gathering.in_bytes(told.get(_USED), MIB),
        cores_utilization=_cores(subject, told),
        temperature_celsius=told.get(_TEMPERATURE),
        power_watts=gathering.scaled(told.get(_POWER), 1),
        unhealthy=_unhealthy(told),
    )


def _total(told: Told) -> int | None:
    if _TOTAL in told:
        return gathering.in_bytes(told[_TOTAL], MIB)
    if _USED not in told or _FREE not in told:
        return None
    return gathering.in_bytes(told[_USED] + told[_FREE] + told.get(_RESERVED, 0), MIB)


def _cores(subject: Subject, told: Told) -> float | None:
    """Of a partition only the profiler tells: the other figure is of the whole card."""
    if _UTIL in told and subject.extent is Extent.DEVICE:
        return gathering.scaled(told[_UTIL], PERCENT)
    return gathering.scaled(told.get(_ACTIVE), 1)


def _unhealthy(told: Told) -> bool | None:
    if _HEALTH in told:
        return told[_HEALTH] >= _FAILING
    if _XID not in told and _REMAP not in told:
        return None
    xid = int(told.get(_XID, 0))
    return told.get(_REMAP, 0) > 0 or (xid > 0 and xid not in _OF_PROGRAMS)
