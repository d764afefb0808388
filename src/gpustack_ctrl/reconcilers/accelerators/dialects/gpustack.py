"""The keys of the gpustack device manager: a base name, and a suffix for each family."""

from collections.abc import Mapping

from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.api.manufacturers import Manufacturer
from gpustack_ctrl.api.resources import Family
from gpustack_ctrl.reconcilers.accelerators import shares
from gpustack_ctrl.reconcilers.accelerators.asking import Asking
from gpustack_ctrl.reconcilers.accelerators.refusal import Refusal

_UNCAPPED = 100


def limits(
    offered: InstanceTypeSpec, asking: Asking, maker: Manufacturer
) -> Mapping[str, str] | Refusal:
    """The keys for *asking*; a shared request of N is one share of N distinct cards."""
    resource = offered.resourceName or maker.resource
    match asking.family:
        case Family.WHOLE:
            return {resource: str(asking.count)}
        case Family.SHARED:
            return {f"{resource}.shared": str(asking.count)}
        case Family.SLICED:
            return _slice(f"{resource}.sliced", offered, asking)
        case Family.PARTITIONED:
            return _partition(f"{resource}.partitioned", asking, maker)


def _slice(prefix: str, offered: InstanceTypeSpec, asking: Asking) -> Mapping[str, str]:
    """One slice: its memory as it was asked for, and its part of the compute.

    Where nobody can tell the part it is 100, the default of the key itself.
    """
    cores = shares.cores_percentage(offered, asking) or _UNCAPPED
    memory = (
        {f"{prefix}.memory-mib": str(asking.memory_mib)}
        if asking.memory_percentage is None
        else {f"{prefix}.memory-percentage": str(asking.memory_percentage)}
    )
    return {prefix: "1", **memory, f"{prefix}.cores-percentage": str(cores)}


def _partition(prefix: str, asking: Asking, maker: Manufacturer) -> Mapping[str, str] | Refusal:
    if not maker.partition_kind:
        return Refusal(
            reason="FamilyUnsupported",
            message=f"{asking.field}: cards of {maker.key} have no hardware partitions: set "
            "acceleratorSlicedMemoryPercentage for a part of a card, or choose another type",
        )
    return {prefix: "1", f"{prefix}.{maker.partition_kind}-{asking.profile}": "1"}
