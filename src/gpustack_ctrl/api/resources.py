"""What an Instance asks of its node: five ways to ask for an accelerator, and the rest."""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs
from annotated_types import Ge, Le, MaxLen

from gpustack_ctrl.api.markers import Doc, Pattern, Quantity, Rule


class Family(StrEnum):
    """The ways to hold an accelerator."""

    WHOLE = "Whole"
    SHARED = "Shared"
    SLICED = "Sliced"
    PARTITIONED = "Partitioned"


_SLICED = "(has(self.acceleratorSlicedMemoryPercentage) || has(self.acceleratorSlicedMemoryMiB))"
_SHARED = "(has(self.acceleratorShared) && self.acceleratorShared)"
_PARTITIONED = "has(self.acceleratorPartitionedProfile)"
_COUNT = "quantity(string(self.accelerator))"
_FLOAT = f"{_COUNT}.asApproximateFloat()"  # `isInteger()` denies that 1000m is one.


@attrs.frozen(kw_only=True)
class InstanceResources:
    """CPU, memory and storage, and exactly one way to hold an accelerator.

    On a type with accelerators, saying nothing asks for one whole card;
    `accelerator: "0"` asks for none.
    """

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            f"[{_SHARED}, {_SLICED}, {_PARTITIONED}].filter(x, x).size() <= 1",
            "ask for one kind of accelerator only: shared, sliced or partitioned",
        ),
        Rule(
            "!(has(self.acceleratorSlicedMemoryPercentage)"
            " && has(self.acceleratorSlicedMemoryMiB))",
            "give the memory of a slice once: as a percentage or in MiB",
        ),
        Rule(
            f"!has(self.acceleratorSlicedCoresPercentage) || {_SLICED}",
            "acceleratorSlicedCoresPercentage needs acceleratorSlicedMemoryPercentage or "
            "acceleratorSlicedMemoryMiB beside it",
            field=".acceleratorSlicedCoresPercentage",
        ),
        Rule(
            f"!has(self.accelerator) || !({_SLICED} || {_PARTITIONED})"
            f" || {_COUNT}.compareTo(quantity('1')) == 0",
            "a slice or partition is of one card: leave accelerator out or set it to 1",
            field=".accelerator",
        ),
        Rule(
            f"!has(self.accelerator) || !{_SHARED} || {_COUNT}.compareTo(quantity('1')) >= 0",
            "a shared accelerator needs at least one card: leave accelerator out or raise it",
            field=".accelerator",
        ),
        Rule(
            f"!has(self.accelerator) || double(int({_FLOAT})) == {_FLOAT}",
            "accelerator must be a whole number of cards",
            field=".accelerator",
        ),
    )

    cpu: Annotated[Quantity | None, Doc("CPU limit in cores. Absent: by the type.")] = None
    ram: Annotated[Quantity | None, Doc("Memory limit. Absent: by the type.")] = None
    localStorage: Annotated[
        Quantity | None, Doc("Limit of ephemeral storage. Absent: by the type.")
    ] = None
    accelerator: Annotated[Quantity | None, Doc("Number of cards; 0 asks for none.")] = None
    acceleratorShared: Annotated[bool, Doc("Share the cards with other Instances.")] = False
    acceleratorSlicedMemoryPercentage: Annotated[
        int | None, Ge(1), Le(100), Doc("Memory of the slice, in percent of one card.")
    ] = None
    acceleratorSlicedMemoryMiB: Annotated[
        int | None, Ge(1), Le(16777216), Doc("Memory of the slice, in MiB.")
    ] = None
    acceleratorSlicedCoresPercentage: Annotated[
        int | None, Ge(1), Le(100), Doc("Compute of the slice, in percent of one card.")
    ] = None
    acceleratorPartitionedProfile: Annotated[
        str | None,
        MaxLen(63),
        Pattern(r"[a-z0-9A-Z]([-._a-z0-9A-Z]*[a-z0-9A-Z])?"),
        Doc("Hardware partition, by profile, such as 3g.40gb."),
    ] = None

    @property
    def family(self) -> Family:
        """How the accelerator is asked for; a count of 0 is asked for as whole cards."""
        if self.acceleratorShared:
            return Family.SHARED
        if self.acceleratorPartitionedProfile:
            return Family.PARTITIONED
        if self.acceleratorSlicedMemoryPercentage or self.acceleratorSlicedMemoryMiB:
            return Family.SLICED
        return Family.WHOLE
