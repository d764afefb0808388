"""CPU, memory and storage: what is left to the type, what is rounded, what is requested."""

from collections.abc import Mapping

import attrs
import pytest

from gpustack_ctrl.api.core import ResourceRequirements
from gpustack_ctrl.api.instance_type import InstanceTypeSpec, PartitionProfile, UnitResources
from gpustack_ctrl.api.resources import InstanceResources
from gpustack_ctrl.reconcilers.accelerators.request import AcceleratorRequest, Refusal, request
from gpustack_ctrl.reconcilers.accelerators.sizing import size

TYPE = InstanceTypeSpec(
    manufacturer="nvidia",
    acceleratorMemoryMiB=81920,
    partitionProfiles=(PartitionProfile(name="3g.40gb", memoryMiB=40192),),
    unitResources=UnitResources(cpu="12", ram="128Gi"),
    localStorage="100Gi",
)
GENERAL = InstanceTypeSpec(unitResources=UnitResources(cpu="1", ram="2Gi"), localStorage="50Gi")
HALF = InstanceTypeSpec(unitResources=UnitResources(cpu="500m", ram="1Gi"))

Three = tuple[str, str, str]


def sized(
    offered: InstanceTypeSpec, asked: InstanceResources, *, overcommit: bool = False
) -> ResourceRequirements:
    granted = request(offered, asked)
    assert isinstance(granted, AcceleratorRequest), granted
    answer = size(offered, asked, granted, overcommit=overcommit)
    assert isinstance(answer, ResourceRequirements), answer
    return answer


def refused(offered: InstanceTypeSpec, asked: InstanceResources) -> Refusal:
    granted = request(offered, asked)
    assert isinstance(granted, AcceleratorRequest), granted
    answer = size(offered, asked, granted, overcommit=True)
    assert isinstance(answer, Refusal), answer
    return answer


def three(quantities: Mapping[str, str]) -> Three:
    return quantities["cpu"], quantities["memory"], quantities["ephemeral-storage"]


LIMITS: Mapping[str, tuple[InstanceTypeSpec, InstanceResources, Three]] = {
    "one whole card": (TYPE, InstanceResources(), ("12", "128Gi", "100Gi")),
    "three whole cards": (TYPE, InstanceResources(accelerator="3"), ("36", "384Gi", "100Gi")),
    "no card counts as one": (TYPE, InstanceResources(accelerator="0"), ("12", "128Gi", "100Gi")),
    "two shared cards": (
        TYPE,
        InstanceResources(accelerator="2", acceleratorShared=True),
        ("24", "256Gi", "100Gi"),
    ),
    "a third of a card, cores rounded down": (
        TYPE,
        InstanceResources(acceleratorSlicedMemoryPercentage=33),
        ("3", "43253Mi", "100Gi"),
    ),
    "one percent of a card, at least one core": (
        TYPE,
        InstanceResources(acceleratorSlicedMemoryPercentage=1),
        ("1", "1310Mi", "100Gi"),
    ),
    "a sliver of next to nothing, at least 1Mi": (
        attrs.evolve(TYPE, unitResources=UnitResources(cpu="1", ram="10Mi")),
        InstanceResources(acceleratorSlicedMemoryPercentage=1),
        ("1", "1Mi", "100Gi"),
    ),
    "compute of a slice sizes nothing": (
        TYPE,
        InstanceResources(
            acceleratorSlicedMemoryPercentage=50, acceleratorSlicedCoresPercentage=10
        ),
        ("6", "64Gi", "100Gi"),
    ),
    "a slice in MiB": (
        TYPE,
        InstanceResources(acceleratorSlicedMemoryMiB=40960),
        ("6", "64Gi", "100Gi"),
    ),
    "a partition": (
        TYPE,
        InstanceResources(acceleratorPartitionedProfile="3g.40gb"),
        ("5", "64225Mi", "100Gi"),
    ),
    "all explicit": (
        TYPE,
        InstanceResources(cpu="1500m", ram="1.5Gi", localStorage="500Mi"),
        ("1500m", "1536Mi", "500Mi"),
    ),
    "explicit memory alone": (TYPE, InstanceResources(ram="1Gi"), ("12", "1Gi", "100Gi")),
    "explicit values of numbers": (TYPE, InstanceResources(cpu=2, ram=1024), ("2", "1Ki", "100Gi")),
    "a type that tells nothing": (
        InstanceTypeSpec(manufacturer="nvidia"),
        InstanceResources(),
        ("4", "16Gi", "15Gi"),
    ),
    "a general type": (GENERAL, InstanceResources(), ("1", "2Gi", "50Gi")),
    "a general type, memory goes with the CPU": (
        GENERAL,
        InstanceResources(cpu="3"),
        ("3", "6Gi", "50Gi"),
    ),
    "a general type, part of a CPU": (
        GENERAL,
        InstanceResources(cpu="250m"),
        ("250m", "512Mi", "50Gi"),
    ),
    "a general type of half CPUs": (HALF, InstanceResources(), ("500m", "1Gi", "15Gi")),
    "a general type of half CPUs, two": (HALF, InstanceResources(cpu="1"), ("1", "2Gi", "15Gi")),
    "a general type that tells nothing": (
        InstanceTypeSpec(),
        InstanceResources(),
        ("1", "2Gi", "15Gi"),
    ),
}


@pytest.mark.parametrize(("offered", "asked", "limits"), LIMITS.values(), ids=LIMITS)
def test_limits_are_the_users_or_the_types(
    offered: InstanceTypeSpec, asked: InstanceResources, limits: Three
) -> None:
    answer = sized(offered, asked)
    assert limits == three(answer.limits)
    assert answer.limits == answer.requests


OVERCOMMITTED: Mapping[str, tuple[InstanceTypeSpec, InstanceResources, Three]] = {
    "with cards": (TYPE, InstanceResources(accelerator="2"), ("2400m", "32Gi", "12800Mi")),
    "without cards": (GENERAL, InstanceResources(), ("800m", "256Mi", "6400Mi")),
    "part of a core": (TYPE, InstanceResources(cpu="1500m"), ("150m", "16Gi", "12800Mi")),
    "less than 1Gi, where the reference asks for nothing": (
        GENERAL,
        InstanceResources(ram="512Mi"),
        ("800m", "64Mi", "6400Mi"),
    ),
    "1.5Gi, where the reference counts one": (
        GENERAL,
        InstanceResources(ram="1.5Gi"),
        ("800m", "192Mi", "6400Mi"),
    ),
    "the least there is": (
        TYPE,
        InstanceResources(cpu="1m", ram="1", localStorage="1"),
        ("1m", "1", "1"),
    ),
}


@pytest.mark.parametrize(
    ("offered", "asked", "requests"), OVERCOMMITTED.values(), ids=OVERCOMMITTED
)
def test_overcommit_requests_a_part_and_leaves_the_limits(
    offered: InstanceTypeSpec, asked: InstanceResources, requests: Three
) -> None:
    answer = sized(offered, asked, overcommit=True)
    assert requests == three(answer.requests)
    assert three(sized(offered, asked).limits) == three(answer.limits)


def test_accelerators_are_never_overcommitted() -> None:
    answer = sized(TYPE, InstanceResources(accelerator="2"), overcommit=True)
    assert "2" == answer.limits["nvidia.com/gpu"] == answer.requests["nvidia.com/gpu"]


UNMEASURED = attrs.evolve(TYPE, acceleratorMemoryMiB=None)
PARTITION = InstanceResources(acceleratorPartitionedProfile="3g.40gb")


def test_a_part_of_unknown_size_writes_no_sizes_at_all() -> None:
    assert "ShareUnknown" == refused(UNMEASURED, attrs.evolve(PARTITION, cpu="2")).reason


def test_a_part_of_unknown_size_runs_with_sizes_of_the_user() -> None:
    asked = attrs.evolve(PARTITION, cpu="2", ram="8Gi")
    assert ("2", "8Gi", "100Gi") == three(sized(UNMEASURED, asked).limits)


BAD: Mapping[str, tuple[InstanceTypeSpec, InstanceResources, tuple[str, ...]]] = {
    "no quantity": (
        TYPE,
        InstanceResources(ram="much"),
        ("spec.resources.ram: 'much' is not a quantity", "leave it out"),
    ),
    "nothing": (
        TYPE,
        InstanceResources(cpu="0"),
        ("spec.resources.cpu is 0", "raise it", "leave it out"),
    ),
    "less than nothing": (
        GENERAL,
        InstanceResources(localStorage="-1Gi"),
        ("spec.resources.localStorage is -1Gi", "more than 0"),
    ),
    "a bad unit": (
        attrs.evolve(TYPE, unitResources=UnitResources(cpu="zero")),
        InstanceResources(),
        ("spec.unitResources.cpu of the InstanceType: 'zero'", "administrator"),
    ),
}


@pytest.mark.parametrize(("offered", "asked", "told"), BAD.values(), ids=BAD)
def test_a_bad_quantity_is_refused_with_field_and_remedy(
    offered: InstanceTypeSpec, asked: InstanceResources, told: tuple[str, ...]
) -> None:
    refusal = refused(offered, asked)
    assert "InvalidQuantity" == refusal.reason
    assert [] == [words for words in told if words not in refusal.message]
