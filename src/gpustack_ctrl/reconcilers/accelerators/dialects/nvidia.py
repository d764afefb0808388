"""The keys of a maker's stock device plugin, NVIDIA's first of all.

NVIDIA's plugin registers whole cards, MIG devices by profile (strategy `mixed`) or in
place of whole cards (strategy `single`), and time-slicing replicas with the suffix
`.shared`. Other makers' plugins are known by the name of a whole card alone, and only
where the type tells it.
"""

from collections.abc import Mapping

from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.api.manufacturers import Manufacturer
from gpustack_ctrl.api.resources import Family
from gpustack_ctrl.reconcilers.accelerators.asking import Asking
from gpustack_ctrl.reconcilers.accelerators.refusal import Refusal

_SHARED = ".shared"


def limits(
    offered: InstanceTypeSpec, asking: Asking, maker: Manufacturer
) -> Mapping[str, str] | Refusal:
    """The one key for *asking*: a plugin answers one kind of resource per container."""
    if maker.key != "nvidia":
        return _elsewhere(offered, asking, maker)
    resource = offered.resourceName or maker.resource
    match asking.family:
        case Family.WHOLE:
            return _whole(resource, asking)
        case Family.SHARED:
            return _shared(resource, asking)
        case Family.SLICED:
            return _no_slices(asking)
        case Family.PARTITIONED:
            return _partition(offered, resource, asking)


def _whole(resource: str, asking: Asking) -> Mapping[str, str] | Refusal:
    if resource.endswith(_SHARED):
        return _refuse(
            f"{asking.field}: {resource} holds time-slicing replicas, not whole cards: "
            "set acceleratorShared, or choose another type"
        )
    return {resource: str(asking.count)}


def _shared(resource: str, asking: Asking) -> Mapping[str, str] | Refusal:
    if asking.count > 1:
        return _refuse(
            f"spec.resources.accelerator is {asking.count}, but under dialect nvidia two shares "
            "may be of the same card: leave accelerator out or set it to 1"
        )
    return {resource.removesuffix(_SHARED) + _SHARED: "1"}


def _no_slices(asking: Asking) -> Refusal:
    return _refuse(
        f"{asking.field}: NVIDIA's device plugin has no logical slices: set acceleratorShared or "
        "acceleratorPartitionedProfile, or choose a type of dialect gpustack or hami"
    )


def _partition(
    offered: InstanceTypeSpec, resource: str, asking: Asking
) -> Mapping[str, str] | Refusal:
    if not is_single(offered):
        return {f"{resource.partition('/')[0]}/mig-{asking.profile}": "1"}
    if len(offered.partitionProfiles) != 1:
        return _refuse(
            f"{asking.field}: {resource} stands for partitions of one profile: an administrator "
            "must list that one profile in spec.partitionProfiles of the InstanceType"
        )
    return {resource: "1"}


def is_single(offered: InstanceTypeSpec) -> bool:
    """Whether the named resource is the partition: it is named, and no card is whole."""
    families = offered.families
    partitioned = Family.PARTITIONED in families and Family.WHOLE not in families
    return bool(offered.resourceName) and partitioned


def _elsewhere(
    offered: InstanceTypeSpec, asking: Asking, maker: Manufacturer
) -> Mapping[str, str] | Refusal:
    if asking.family is not Family.WHOLE:
        return _refuse(
            f"{asking.field}: under dialect nvidia cards of {maker.key} are had whole only: "
            "set accelerator, or choose a type of dialect gpustack or hami"
        )
    if not offered.resourceName:
        return _refuse(
            f"{asking.field}: dialect nvidia has no name for cards of {maker.key}: an "
            "administrator must set spec.resourceName of the InstanceType to what the device "
            "plugin registers, or spec.dialect to gpustack"
        )
    return {offered.resourceName: str(asking.count)}


def _refuse(message: str) -> Refusal:
    return Refusal(reason="FamilyUnsupported", message=message)
