"""Every way in which an accelerator is refused, and the sentence for it."""

from collections.abc import Mapping

import attrs
import pytest

from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.api.resources import Family, InstanceResources
from gpustack_ctrl.reconcilers.accelerators.request import Refusal, request
from tests.reconcilers.accelerator_types import (
    A100,
    GENERAL,
    HAMI,
    PARTITION,
    SHARED,
    SINGLE,
    SLICE,
    STOCK,
    WHOLE,
)


def refused(offered: InstanceTypeSpec, asked: InstanceResources) -> Refusal:
    answer = request(offered, asked)
    assert isinstance(answer, Refusal), answer
    return answer


REFUSED: Mapping[str, tuple[InstanceTypeSpec, InstanceResources, str, tuple[str, ...]]] = {
    "a card of a type without": (
        GENERAL,
        WHOLE,
        "NoAccelerator",
        ("spec.resources.accelerator asks", "leave it out"),
    ),
    "a share of a type without": (
        GENERAL,
        SHARED,
        "NoAccelerator",
        ("spec.resources.acceleratorShared asks", "type with accelerators"),
    ),
    "an unknown maker": (
        InstanceTypeSpec(manufacturer="acme"),
        WHOLE,
        "UnknownManufacturer",
        ("'acme'", "administrator", "amd, ascend, cambricon, hygon, iluvatar, metax, mthreads"),
    ),
    "half a card": (
        A100,
        InstanceResources(accelerator="500m"),
        "InvalidAccelerator",
        ("spec.resources.accelerator is 500m", "acceleratorSlicedMemoryPercentage"),
    ),
    "less than nothing": (
        A100,
        InstanceResources(accelerator="-1"),
        "InvalidAccelerator",
        ("spec.resources.accelerator is -1", "0 or more"),
    ),
    "no number": (
        A100,
        InstanceResources(accelerator="two"),
        "InvalidAccelerator",
        ("spec.resources.accelerator", "'two' is not a quantity"),
    ),
    "two kinds at once": (
        A100,
        attrs.evolve(SLICE, acceleratorShared=True),
        "InvalidAccelerator",
        ("more than one kind", "keep one of"),
    ),
    "memory told twice": (
        A100,
        attrs.evolve(SLICE, acceleratorSlicedMemoryMiB=1024),
        "InvalidAccelerator",
        ("twice", "keep one of"),
    ),
    "compute without memory": (
        A100,
        InstanceResources(acceleratorSlicedCoresPercentage=50),
        "InvalidAccelerator",
        ("acceleratorSlicedCoresPercentage", "beside it"),
    ),
    "a percentage out of range": (
        A100,
        InstanceResources(acceleratorSlicedMemoryPercentage=0),
        "InvalidAccelerator",
        ("acceleratorSlicedMemoryPercentage is 0", "from 1 to 100"),
    ),
    "two slices": (
        A100,
        attrs.evolve(SLICE, accelerator="2"),
        "InvalidAccelerator",
        ("accelerator is 2", "of one card"),
    ),
    "a partition of no card": (
        A100,
        attrs.evolve(PARTITION, accelerator="0"),
        "InvalidAccelerator",
        ("accelerator is 0", "set it to 1"),
    ),
    "a share of no card": (
        A100,
        attrs.evolve(SHARED, accelerator="0"),
        "InvalidAccelerator",
        ("accelerator is 0", "raise it"),
    ),
    "a family not offered": (
        attrs.evolve(A100, families=(Family.SHARED, Family.SLICED)),
        InstanceResources(),
        "FamilyNotOffered",
        ("spec.resources.accelerator asks for family Whole", "set acceleratorShared", "slice"),
    ),
    "a profile not offered": (
        A100,
        InstanceResources(acceleratorPartitionedProfile="7g.80gb"),
        "ProfileNotOffered",
        ("'7g.80gb'", "1g.10gb, 3g.40gb"),
    ),
    "a slice larger than its card": (
        A100,
        InstanceResources(acceleratorSlicedMemoryMiB=81921),
        "SliceTooLarge",
        ("acceleratorSlicedMemoryMiB is 81921", "81920 MiB", "lower it"),
    ),
    "partitions of a maker without": (
        attrs.evolve(A100, manufacturer="amd"),
        PARTITION,
        "FamilyUnsupported",
        ("amd have no hardware partitions", "acceleratorSlicedMemoryPercentage"),
    ),
    "slices of the stock plugin": (
        STOCK,
        SLICE,
        "FamilyUnsupported",
        ("no logical slices", "set acceleratorShared or acceleratorPartitionedProfile"),
    ),
    "two time slices, maybe of one card": (
        STOCK,
        attrs.evolve(SHARED, accelerator="2"),
        "FamilyUnsupported",
        ("accelerator is 2", "same card", "set it to 1"),
    ),
    "whole cards where there are replicas": (
        attrs.evolve(STOCK, resourceName="nvidia.com/gpu.shared"),
        WHOLE,
        "FamilyUnsupported",
        ("time-slicing replicas", "set acceleratorShared"),
    ),
    "strategy single of several profiles": (
        attrs.evolve(SINGLE, partitionProfiles=A100.partitionProfiles),
        PARTITION,
        "FamilyUnsupported",
        ("one profile", "administrator", "spec.partitionProfiles"),
    ),
    "stock plugin of a maker without a name": (
        attrs.evolve(STOCK, manufacturer="amd"),
        WHOLE,
        "FamilyUnsupported",
        ("no name for cards of amd", "administrator", "spec.resourceName"),
    ),
    "stock plugin of another maker, shared": (
        attrs.evolve(STOCK, manufacturer="amd", resourceName="amd.com/gpu"),
        SHARED,
        "FamilyUnsupported",
        ("amd are had whole only",),
    ),
    "shares under HAMi": (
        HAMI,
        SHARED,
        "FamilyUnsupported",
        ("by slices only", "acceleratorSlicedMemoryPercentage"),
    ),
    "partitions under HAMi": (
        HAMI,
        PARTITION,
        "FamilyUnsupported",
        ("chooses the partition", "acceleratorSlicedMemoryMiB"),
    ),
    "whole cards HAMi names by chip": (
        attrs.evolve(HAMI, manufacturer="iluvatar"),
        WHOLE,
        "FamilyUnsupported",
        ("not known", "spec.resourceName"),
    ),
    "slices HAMi names by chip": (
        attrs.evolve(HAMI, manufacturer="ascend"),
        SLICE,
        "FamilyUnsupported",
        ("not known", "row ascend of the manufacturer table"),
    ),
    "percent of a card of unknown memory, in MiB": (
        attrs.evolve(HAMI, manufacturer="hygon", acceleratorMemoryMiB=None),
        SLICE,
        "ShareUnknown",
        ("set acceleratorSlicedMemoryMiB instead", "spec.acceleratorMemoryMiB"),
    ),
    "a resource without a domain": (
        attrs.evolve(A100, resourceName="gpu"),
        WHOLE,
        "InvalidResourceName",
        ("'gpu'", "spec.resourceName", "vendor.example/name"),
    ),
    "a profile too long for a key": (
        attrs.evolve(A100, partitionProfiles=()),
        InstanceResources(acceleratorPartitionedProfile="p" * 60),
        "InvalidResourceName",
        ("at most 63 characters",),
    ),
}


@pytest.mark.parametrize(("offered", "asked", "reason", "told"), REFUSED.values(), ids=REFUSED)
def test_i2_what_cannot_be_had_is_refused_with_field_and_remedy(
    offered: InstanceTypeSpec, asked: InstanceResources, reason: str, told: tuple[str, ...]
) -> None:
    refusal = refused(offered, asked)
    assert reason == refusal.reason
    assert [] == [words for words in told if words not in refusal.message]
