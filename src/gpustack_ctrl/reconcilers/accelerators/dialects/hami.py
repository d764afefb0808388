"""The keys of HAMi: a number of devices, and beside it the memory and cores of each.

HAMi has neither shares without a cap nor partitions by profile; and for makers whose
names it derives from the chip, only whole devices can be had, by the name in the type.
"""

from collections.abc import Mapping

from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.api.manufacturers import HamiNames, Manufacturer
from gpustack_ctrl.api.resources import Family
from gpustack_ctrl.reconcilers.accelerators import shares
from gpustack_ctrl.reconcilers.accelerators.asking import Asking
from gpustack_ctrl.reconcilers.accelerators.refusal import Refusal


def limits(
    offered: InstanceTypeSpec, asking: Asking, maker: Manufacturer
) -> Mapping[str, str] | Refusal:
    """The keys for *asking*: parts of devices are told beside their number."""
    match asking.family:
        case Family.WHOLE:
            return _whole(offered, asking, maker)
        case Family.SLICED:
            return _slice(offered, asking, maker)
        case Family.SHARED:
            return _refuse(
                f"{asking.field}: HAMi shares cards by slices only: set "
                "acceleratorSlicedMemoryPercentage instead"
            )
        case Family.PARTITIONED:
            return _refuse(
                f"{asking.field}: HAMi chooses the partition by itself: set "
                "acceleratorSlicedMemoryMiB to the memory of the partition instead"
            )


def _whole(
    offered: InstanceTypeSpec, asking: Asking, maker: Manufacturer
) -> Mapping[str, str] | Refusal:
    names = maker.hami
    resource = offered.resourceName or (names.whole or names.devices if names else "")
    if not resource:
        return _unnamed(asking, maker)
    return {resource: str(asking.count), **(names.beside_whole if names else {})}


def _slice(
    offered: InstanceTypeSpec, asking: Asking, maker: Manufacturer
) -> Mapping[str, str] | Refusal:
    names = maker.hami
    if names is None:
        return _unnamed(asking, maker)
    memory = _memory(offered, asking, names)
    if isinstance(memory, Refusal):
        return memory
    # The name in the type is that of a whole card, which some makers call otherwise.
    devices = names.devices if names.whole else offered.resourceName or names.devices
    return {devices: "1", **memory, **_cores(offered, asking, names)}


def _memory(
    offered: InstanceTypeSpec, asking: Asking, names: HamiNames
) -> Mapping[str, str] | Refusal:
    if asking.memory_percentage is not None and names.memory_percentage:
        return {names.memory_percentage: str(asking.memory_percentage)}
    mib = shares.memory_mib(offered, asking)
    if isinstance(mib, Refusal):
        return mib
    if not names.memory:
        return _refuse(
            f"{asking.field}: HAMi counts this memory in percent only: set "
            "acceleratorSlicedMemoryPercentage instead"
        )
    return {names.memory: str(_steps(mib, names.memory_step))}


def _cores(offered: InstanceTypeSpec, asking: Asking, names: HamiNames) -> Mapping[str, str]:
    percentage = shares.cores_percentage(offered, asking)
    if percentage is None or not names.cores:
        return {}  # HAMi then reserves no compute, and caps none.
    return {names.cores: str(_steps(percentage * names.cores_per_device, 100))}


def _steps(amount: int, step: int) -> int:
    """How many steps it takes to have no less than *amount*."""
    return -(-amount // step)


def _unnamed(asking: Asking, maker: Manufacturer) -> Refusal:
    remedy = (
        "set spec.resourceName of the InstanceType to what HAMi calls its devices"
        if asking.family is Family.WHOLE
        else f"give the row {maker.key} of the manufacturer table its hami names"
    )
    return _refuse(
        f"{asking.field}: HAMi's names for cards of {maker.key} are not known: an administrator "
        f"must {remedy}"
    )


def _refuse(message: str) -> Refusal:
    return Refusal(reason="FamilyUnsupported", message=message)
