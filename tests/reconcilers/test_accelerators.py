"""What (type, resources) comes to, family by family, and every way to be refused."""

from collections.abc import Mapping
from fractions import Fraction

import attrs
import pytest

from gpustack_ctrl.api.instance_type import Dialect, InstanceTypeSpec, PartitionProfile
from gpustack_ctrl.api.resources import Family, InstanceResources
from gpustack_ctrl.reconcilers.accelerators import AcceleratorRequest, Refusal, request

A100 = InstanceTypeSpec(
    manufacturer="nvidia",
    acceleratorMemoryMiB=81920,
    partitionProfiles=(
        PartitionProfile(name="1g.10gb", memoryMiB=9728),
        PartitionProfile(name="3g.40gb", memoryMiB=40192),
    ),
)
STOCK = attrs.evolve(A100, dialect=Dialect.NVIDIA)
HAMI = attrs.evolve(A100, dialect=Dialect.HAMI)
GENERAL = InstanceTypeSpec()

WHOLE = InstanceResources(accelerator="2")
SHARED = InstanceResources(acceleratorShared=True)
SLICE = InstanceResources(acceleratorSlicedMemoryPercentage=25)
PARTITION = InstanceResources(acceleratorPartitionedProfile="3g.40gb")


def granted(offered: InstanceTypeSpec, asked: InstanceResources) -> AcceleratorRequest:
    answer = request(offered, asked)
    assert isinstance(answer, AcceleratorRequest), answer
    return answer


def refused(offered: InstanceTypeSpec, asked: InstanceResources) -> Refusal:
    answer = request(offered, asked)
    assert isinstance(answer, Refusal), answer
    return answer


def test_i2_saying_nothing_asks_for_one_whole_card() -> None:
    expected = AcceleratorRequest(
        family=Family.WHOLE,
        count=1,
        main={"nvidia.com/gpu": "1"},
        sidecar={"device.gpustack.ai/nvidia.visibility": "1"},
        share=Fraction(1),
    )
    assert expected == granted(A100, InstanceResources())


@pytest.mark.parametrize("offered", [A100, STOCK, HAMI, GENERAL])
def test_i2_a_count_of_zero_asks_for_nothing_on_any_type(offered: InstanceTypeSpec) -> None:
    assert AcceleratorRequest() == granted(offered, InstanceResources(accelerator="0"))


def test_a_type_without_cards_grants_none_where_none_is_asked_for() -> None:
    assert AcceleratorRequest() == granted(GENERAL, InstanceResources(cpu="3"))


@pytest.mark.parametrize("count", [2, "2", "2.0", "2000m", "2e0"])
def test_a_count_is_read_by_value(count: int | str) -> None:
    asked = InstanceResources(accelerator=count)
    assert {"nvidia.com/gpu": "2"} == granted(A100, asked).main


GPUSTACK: Mapping[str, tuple[InstanceResources, Mapping[str, str], str]] = {
    "whole": (WHOLE, {"nvidia.com/gpu": "2"}, "2"),
    "shared": (SHARED, {"nvidia.com/gpu.shared": "1"}, "1"),
    "shared, two distinct cards": (
        InstanceResources(accelerator="2", acceleratorShared=True),
        {"nvidia.com/gpu.shared": "2"},
        "2",
    ),
    "slice by percentage, compute follows": (
        SLICE,
        {
            "nvidia.com/gpu.sliced": "1",
            "nvidia.com/gpu.sliced.memory-percentage": "25",
            "nvidia.com/gpu.sliced.cores-percentage": "25",
        },
        "1",
    ),
    "slice in MiB, compute follows": (
        InstanceResources(acceleratorSlicedMemoryMiB=20480),
        {
            "nvidia.com/gpu.sliced": "1",
            "nvidia.com/gpu.sliced.memory-mib": "20480",
            "nvidia.com/gpu.sliced.cores-percentage": "25",
        },
        "1",
    ),
    "slice with compute of its own": (
        attrs.evolve(SLICE, acceleratorSlicedCoresPercentage=60, accelerator="1"),
        {
            "nvidia.com/gpu.sliced": "1",
            "nvidia.com/gpu.sliced.memory-percentage": "25",
            "nvidia.com/gpu.sliced.cores-percentage": "60",
        },
        "1",
    ),
    "partition": (
        PARTITION,
        {"nvidia.com/gpu.partitioned": "1", "nvidia.com/gpu.partitioned.mig-3g.40gb": "1"},
        "1",
    ),
}


@pytest.mark.parametrize(("asked", "main", "seen"), GPUSTACK.values(), ids=GPUSTACK)
def test_i3_under_gpustack_main_holds_the_cards_and_the_sidecar_sees_as_many(
    asked: InstanceResources, main: Mapping[str, str], seen: str
) -> None:
    answer = granted(A100, asked)
    assert main == answer.main
    assert {"device.gpustack.ai/nvidia.visibility": seen} == answer.sidecar


def test_a_slice_in_mib_of_a_card_of_unknown_memory_has_uncapped_compute() -> None:
    asked = InstanceResources(acceleratorSlicedMemoryMiB=20480)
    answer = granted(attrs.evolve(A100, acceleratorMemoryMiB=None), asked)
    assert "100" == answer.main["nvidia.com/gpu.sliced.cores-percentage"]


def test_the_type_names_another_resource_for_all_families() -> None:
    offered = attrs.evolve(A100, resourceName="acme.example/a100")
    assert {"acme.example/a100": "2"} == granted(offered, WHOLE).main
    assert {"acme.example/a100.shared": "1"} == granted(offered, SHARED).main


SINGLE = attrs.evolve(
    STOCK,
    resourceName="nvidia.com/gpu",
    families=(Family.PARTITIONED,),
    partitionProfiles=(PartitionProfile(name="3g.40gb"),),
)
NVIDIA: Mapping[str, tuple[InstanceTypeSpec, InstanceResources, Mapping[str, str]]] = {
    "whole": (STOCK, WHOLE, {"nvidia.com/gpu": "2"}),
    "time slice": (STOCK, SHARED, {"nvidia.com/gpu.shared": "1"}),
    "time slice named by the type": (
        attrs.evolve(STOCK, resourceName="nvidia.com/gpu.shared"),
        SHARED,
        {"nvidia.com/gpu.shared": "1"},
    ),
    "MIG, strategy mixed": (STOCK, PARTITION, {"nvidia.com/mig-3g.40gb": "1"}),
    "MIG, strategy single": (SINGLE, PARTITION, {"nvidia.com/gpu": "1"}),
    "another maker's whole cards": (
        attrs.evolve(STOCK, manufacturer="amd", resourceName="amd.com/gpu"),
        WHOLE,
        {"amd.com/gpu": "2"},
    ),
}


@pytest.mark.parametrize(("offered", "asked", "main"), NVIDIA.values(), ids=NVIDIA)
def test_i3_under_nvidia_main_asks_by_one_key_and_the_sidecar_for_nothing(
    offered: InstanceTypeSpec, asked: InstanceResources, main: Mapping[str, str]
) -> None:
    answer = granted(offered, asked)
    assert main == answer.main
    assert {} == answer.sidecar


HAMI_KEYS: Mapping[str, tuple[str, InstanceResources, Mapping[str, str]]] = {
    "nvidia whole": (
        "nvidia",
        WHOLE,
        {
            "nvidia.com/gpu": "2",
            "nvidia.com/gpumem-percentage": "100",
            "nvidia.com/gpucores": "100",
        },
    ),
    "nvidia slice in percent": (
        "nvidia",
        SLICE,
        {"nvidia.com/gpu": "1", "nvidia.com/gpumem-percentage": "25", "nvidia.com/gpucores": "25"},
    ),
    "nvidia slice in MiB": (
        "nvidia",
        InstanceResources(acceleratorSlicedMemoryMiB=8192, acceleratorSlicedCoresPercentage=50),
        {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "8192", "nvidia.com/gpucores": "50"},
    ),
    "hygon slice in percent, told in MiB": (
        "hygon",
        SLICE,
        {"hygon.com/dcunum": "1", "hygon.com/dcumem": "20480", "hygon.com/dcucores": "25"},
    ),
    "metax whole has a name of its own": ("metax", WHOLE, {"metax-tech.com/gpu": "2"}),
    "metax slice in GiB, rounded up": (
        "metax",
        InstanceResources(acceleratorSlicedMemoryMiB=20481),
        {
            "metax-tech.com/sgpu": "1",
            "metax-tech.com/vmemory": "21",
            "metax-tech.com/vcore": "25",
        },
    ),
    "mthreads slice in steps of 512 MiB and sixteenths": (
        "mthreads",
        SLICE,
        {"mthreads.com/vgpu": "1", "mthreads.com/sgpu-memory": "40", "mthreads.com/sgpu-core": "4"},
    ),
    "cambricon slice in steps of 256 MiB": (
        "cambricon",
        SLICE,
        {
            "cambricon.com/vmlu": "1",
            "cambricon.com/mlu.smlu.vmemory": "80",
            "cambricon.com/mlu.smlu.vcore": "25",
        },
    ),
}


@pytest.mark.parametrize(("maker", "asked", "main"), HAMI_KEYS.values(), ids=HAMI_KEYS)
def test_i3_under_hami_parts_are_told_beside_the_devices_and_the_sidecar_asks_for_nothing(
    maker: str, asked: InstanceResources, main: Mapping[str, str]
) -> None:
    answer = granted(attrs.evolve(HAMI, manufacturer=maker), asked)
    assert main == answer.main
    assert {} == answer.sidecar


def test_hami_has_whole_cards_of_any_maker_by_the_name_in_the_type() -> None:
    offered = attrs.evolve(HAMI, manufacturer="ascend", resourceName="huawei.com/Ascend910B3")
    assert {"huawei.com/Ascend910B3": "2"} == granted(offered, WHOLE).main


def test_the_name_in_the_type_is_that_of_a_whole_card_under_hami_too() -> None:
    renamed = attrs.evolve(HAMI, resourceName="acme.example/gpu")
    metax = attrs.evolve(renamed, manufacturer="metax")
    assert "acme.example/gpu" in granted(renamed, SLICE).main
    assert {"acme.example/gpu": "2"} == granted(metax, WHOLE).main
    assert "metax-tech.com/sgpu" in granted(metax, SLICE).main


UNMEASURED = attrs.evolve(A100, acceleratorMemoryMiB=None, partitionProfiles=())
SHARES: Mapping[str, tuple[InstanceTypeSpec, InstanceResources, Fraction]] = {
    "whole cards": (A100, WHOLE, Fraction(2)),
    "shared cards count as cards": (A100, SHARED, Fraction(1)),
    "percentage": (A100, SLICE, Fraction(1, 4)),
    "MiB, in whole percent": (
        A100,
        InstanceResources(acceleratorSlicedMemoryMiB=21000),
        Fraction(25, 100),
    ),
    "a sliver is one percent": (
        A100,
        InstanceResources(acceleratorSlicedMemoryMiB=1),
        Fraction(1, 100),
    ),
    "profile, in whole percent": (A100, PARTITION, Fraction(49, 100)),
    "profile measured by its name": (
        attrs.evolve(A100, partitionProfiles=()),
        PARTITION,
        Fraction(50, 100),
    ),
    "percentage of a card of unknown memory": (UNMEASURED, SLICE, Fraction(1, 4)),
}


@pytest.mark.parametrize(("offered", "asked", "share"), SHARES.values(), ids=SHARES)
def test_an_accelerator_brings_its_share_of_the_unit(
    offered: InstanceTypeSpec, asked: InstanceResources, share: Fraction
) -> None:
    assert share == granted(offered, asked).share


def test_a_share_that_is_not_known_says_whom_to_ask() -> None:
    share = granted(UNMEASURED, PARTITION).share
    assert (
        Refusal(
            reason="ShareUnknown",
            message="spec.resources.acceleratorPartitionedProfile: the InstanceType does not tell "
            "what part of a card this is: set spec.resources.cpu and ram, or ask an administrator "
            "to set spec.acceleratorMemoryMiB of the type",
        )
        == share
    )


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
