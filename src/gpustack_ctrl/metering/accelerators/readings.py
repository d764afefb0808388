"""Figures of accelerators: as a source tells them, and as an Instance is told them.

A figure that nobody measured is None, never 0. Memory is in bytes. Utilization of cores
is a ratio, 1 for all of what the figure is about; it is told as measured, also above 1.
"""

from collections.abc import Mapping
from enum import StrEnum

import attrs

from gpustack_ctrl.api.names import MAIN


class Mode(StrEnum):
    """How an Instance holds a card, in the words of the label `mode`."""

    EXCLUSIVE = "Exclusive"
    SHARED = "Shared"
    SLICED = "Sliced"
    PARTITIONED = "Partitioned"


class Extent(StrEnum):
    """What the figures of a sample are about."""

    DEVICE = "device"
    """A whole card, whoever uses it."""
    SLICE = "slice"
    """The use of a card by one container alone."""
    PARTITION = "partition"
    """A hardware partition of a card."""


class EntryPoint(StrEnum):
    """Which of the two figures of use a gap is about."""

    MEMORY = "memory"
    CORES = "cores"


class Reason(StrEnum):
    """Why a figure of a device is told to no Instance, in the words of the reference."""

    UNSUPPORTED = "unsupported"
    """No source measures it."""
    PERMISSION = "permission"
    """The source, or the kubelet, refused us."""
    TRANSIENT_DRIVER_ERROR = "transient_driver_error"
    """The source did not answer, or not in time."""
    TRUNCATED = "truncated"
    """The answer ends in the middle."""
    INVALID_DATA = "invalid_data"
    """The answer is not what the source is documented to say."""
    BOUNDED = "bounded"
    """There are more devices than we follow on one node."""
    VERSION_SKEW = "version_skew"
    """The source knows none of the families that we read."""
    NO_POD_COMPONENT = "no_pod_component"
    """It is somebody's share, but the source does not say whose."""
    MEDIATED = "mediated"
    """Several may use the card, and the figure is of all of them together."""
    UNKNOWN_POD = "unknown_pod"
    """It is of a Pod that is no Instance's, or sources disagree about whose it is."""
    EXITED = "exited"
    """It is of a Pod that ended, or of an earlier one of the same name."""


@attrs.frozen(kw_only=True)
class PodClaim:
    """Which Pod a source says a sample is of; *uid* and *container* are "" if not told."""

    namespace: str
    name: str
    uid: str = ""
    container: str = ""

    @property
    def of_main(self) -> bool:
        """Whether it may be of the one container of an Instance that has accelerators."""
        return self.container in {"", MAIN}


@attrs.frozen(kw_only=True)
class DeviceSample:
    """What one source says of one device, slice or partition.

    *id* is the card's, as its maker's tools tell it; *partition* tells the partitions of
    one card apart. *pod* is None where the source names no Pod, which does not mean that
    there is none.
    """

    id: str
    index: str = ""
    manufacturer: str = ""
    extent: Extent = Extent.DEVICE
    partition: str = ""
    memory_total_bytes: int | None = None
    memory_used_bytes: int | None = None
    cores_utilization: float | None = None
    temperature_celsius: float | None = None
    power_watts: float | None = None
    unhealthy: bool | None = None
    pod: PodClaim | None = None


@attrs.frozen(kw_only=True)
class AcceleratorReading:
    """What one Instance has and uses of one card, or of its part of one.

    *id* and *index* are the card's; a partition's *id* is the card's, a slash and the
    number of the partition. No two readings of an Instance have the same *id*.

    *temperature_celsius* and *unhealthy* are facts about the card, told to all who hold
    a part of it. *power_watts* is use, told only to who has the card alone.
    """

    id: str
    mode: Mode
    index: str = ""
    manufacturer: str = ""
    memory_total_bytes: int | None = None
    memory_used_bytes: int | None = None
    cores_utilization: float | None = None
    temperature_celsius: float | None = None
    power_watts: float | None = None
    unhealthy: bool | None = None


@attrs.frozen(kw_only=True, order=True)
class Gap:
    """A figure of use of the device *id* that an Instance lacks, or that nobody is told.

    An empty *id* stands for all devices beyond the number that we follow.
    """

    id: str
    entry_point: EntryPoint
    reason: Reason
    manufacturer: str = ""


@attrs.frozen(kw_only=True)
class Attribution:
    """Who is told what on one node: *readings* by the UID of the Instance."""

    readings: Mapping[str, tuple[AcceleratorReading, ...]] = attrs.field(factory=dict)
    gaps: tuple[Gap, ...] = ()
