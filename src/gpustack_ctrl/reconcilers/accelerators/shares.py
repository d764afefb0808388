"""How much of a type's unit comes with an accelerator, or with a part of one."""

import re
from fractions import Fraction

from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.api.resources import Family
from gpustack_ctrl.reconcilers.accelerators.asking import Asking
from gpustack_ctrl.reconcilers.accelerators.refusal import Refusal

_MIG = re.compile(r"[0-9]+[cg]\.(?:[0-9]+[cg]\.)?([0-9]+)gb")
_GIB_IN_MIB = 1024


def share(offered: InstanceTypeSpec, asking: Asking) -> Fraction | Refusal:
    """How many units of the type size CPU and memory for *asking*.

    A card, whole or shared, counts as one unit: a share has no cap of its own. A slice
    or partition counts as its part of the card's memory, in whole percent, 1 to 100.
    """
    if asking.family in {Family.WHOLE, Family.SHARED}:
        return Fraction(asking.count)
    percentage = memory_percentage(offered, asking)
    return percentage if isinstance(percentage, Refusal) else Fraction(percentage, 100)


def memory_percentage(offered: InstanceTypeSpec, asking: Asking) -> int | Refusal:
    """What percentage of a card's memory a slice or partition holds."""
    if asking.memory_percentage is not None:
        return asking.memory_percentage
    card = offered.acceleratorMemoryMiB
    part = asking.memory_mib or _partition_mib(offered, asking.profile)
    if card is None or part is None:
        return _unknown(asking, "acceleratorMemoryMiB" if card is None else "partitionProfiles")
    return min(max(part * 100 // card, 1), 100)


def cores_percentage(offered: InstanceTypeSpec, asking: Asking) -> int | None:
    """What percentage of a card's compute a slice gets; None: nobody can tell.

    Compute left out follows the memory, as the reference does for percentages; so the
    same slice gets the same compute in either unit.
    """
    if asking.cores_percentage is not None:
        return asking.cores_percentage
    following = memory_percentage(offered, asking)
    return None if isinstance(following, Refusal) else following


def memory_mib(offered: InstanceTypeSpec, asking: Asking) -> int | Refusal:
    """How many MiB a slice holds, rounded up where it is asked for in percent."""
    if asking.memory_mib is not None:
        return asking.memory_mib
    card = offered.acceleratorMemoryMiB
    if card is None or asking.memory_percentage is None:
        return Refusal(
            reason="ShareUnknown",
            message=f"{asking.field}: the InstanceType does not tell the memory of a card: set "
            "acceleratorSlicedMemoryMiB instead, or ask an administrator to set "
            "spec.acceleratorMemoryMiB of the type",
        )
    return -(-card * asking.memory_percentage // 100)


def _partition_mib(offered: InstanceTypeSpec, profile: str) -> int | None:
    """The memory of *profile*: as the type tells it, or as the name of a MIG profile does."""
    told = (held.memoryMiB for held in offered.partitionProfiles if held.name == profile)
    named = _MIG.match(profile)
    return next(told, None) or (int(named[1]) * _GIB_IN_MIB if named else None)


def _unknown(asking: Asking, field: str) -> Refusal:
    return Refusal(
        reason="ShareUnknown",
        message=f"{asking.field}: the InstanceType does not tell what part of a card this is: "
        "set spec.resources.cpu and ram, or ask an administrator to set "
        f"spec.{field} of the type",
    )
