"""What spec.resources says of accelerators, read once and free of contradictions.

The API server checks most of this at admission. It is checked again because an object
may have been stored under older rules, and two families in one Pod never start.
"""

import attrs

from gpustack_ctrl.api import quantity
from gpustack_ctrl.api.resources import Family, InstanceResources
from gpustack_ctrl.reconcilers.accelerators.refusal import Refusal

_LARGEST_MIB = 16777216


@attrs.frozen(kw_only=True)
class Asking:
    """*count* cards held in one way; what does not belong to *family* is absent."""

    family: Family = Family.WHOLE
    count: int
    memory_percentage: int | None = None
    memory_mib: int | None = None
    cores_percentage: int | None = None
    profile: str = ""

    @property
    def field(self) -> str:
        """The field of an Instance that asks."""
        return f"spec.resources.{_field(self)}"


def asking_of(asked: InstanceResources, *, default: int) -> Asking | Refusal:
    """The one way in which *asked* wants cards; *default* whole ones where it says nothing."""
    conflict = _conflict(asked) or _out_of_range(asked)
    if conflict:
        return _refuse(conflict)
    count = _count(asked, default)
    if isinstance(count, Refusal):
        return count
    miscounted = _miscounted(asked.family, count)
    return _refuse(miscounted) if miscounted else _asking(asked, count)


def _asking(asked: InstanceResources, count: int) -> Asking:
    return Asking(
        family=asked.family,
        count=count,
        memory_percentage=asked.acceleratorSlicedMemoryPercentage,
        memory_mib=asked.acceleratorSlicedMemoryMiB,
        cores_percentage=asked.acceleratorSlicedCoresPercentage,
        profile=asked.acceleratorPartitionedProfile or "",
    )


def _count(asked: InstanceResources, default: int) -> int | Refusal:
    if asked.accelerator is None:
        return default if asked.family is Family.WHOLE else 1
    try:
        count = quantity.parse(asked.accelerator)
    except ValueError as error:
        return _refuse(f"spec.resources.accelerator: {error}")
    if count.denominator != 1 or count < 0:
        return _refuse(
            f"spec.resources.accelerator is {asked.accelerator}: write a whole number of cards, "
            "0 or more; for a part of a card set acceleratorSlicedMemoryPercentage"
        )
    return int(count)


def _conflict(asked: InstanceResources) -> str:
    sliced_by = [
        held is not None
        for held in (asked.acceleratorSlicedMemoryPercentage, asked.acceleratorSlicedMemoryMiB)
    ]
    sliced = any(sliced_by)
    if sum((asked.acceleratorShared, sliced, bool(asked.acceleratorPartitionedProfile))) > 1:
        return (
            "spec.resources asks for more than one kind of accelerator: keep one of "
            "acceleratorShared, acceleratorSliced… and acceleratorPartitionedProfile"
        )
    if all(sliced_by):
        return (
            "spec.resources gives the memory of a slice twice: keep one of "
            "acceleratorSlicedMemoryPercentage and acceleratorSlicedMemoryMiB"
        )
    if asked.acceleratorSlicedCoresPercentage is not None and not sliced:
        return (
            "spec.resources.acceleratorSlicedCoresPercentage belongs to a slice: set "
            "acceleratorSlicedMemoryPercentage or acceleratorSlicedMemoryMiB beside it"
        )
    return ""


def _out_of_range(asked: InstanceResources) -> str:
    bounds = (
        ("acceleratorSlicedMemoryPercentage", asked.acceleratorSlicedMemoryPercentage, 100),
        ("acceleratorSlicedMemoryMiB", asked.acceleratorSlicedMemoryMiB, _LARGEST_MIB),
        ("acceleratorSlicedCoresPercentage", asked.acceleratorSlicedCoresPercentage, 100),
    )
    for field, held, most in bounds:
        if held is not None and not 1 <= held <= most:
            return f"spec.resources.{field} is {held}: write a number from 1 to {most}"
    return ""


def _miscounted(family: Family, count: int) -> str:
    if family in {Family.SLICED, Family.PARTITIONED} and count != 1:
        return (
            f"spec.resources.accelerator is {count} but a slice or partition is of one card: "
            "leave accelerator out or set it to 1"
        )
    if family is Family.SHARED and count == 0:
        return (
            "spec.resources.accelerator is 0 but acceleratorShared asks for at least one card: "
            "leave accelerator out or raise it"
        )
    return ""


def _field(asking: Asking) -> str:
    if asking.family is Family.SLICED:
        by_mib = asking.memory_mib is not None
        return "acceleratorSlicedMemoryMiB" if by_mib else "acceleratorSlicedMemoryPercentage"
    return {
        Family.WHOLE: "accelerator",
        Family.SHARED: "acceleratorShared",
        Family.PARTITIONED: "acceleratorPartitionedProfile",
    }[asking.family]


def _refuse(message: str) -> Refusal:
    return Refusal(reason="InvalidAccelerator", message=message)
