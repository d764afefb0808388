"""What (type, resources) comes to, family by family."""

from collections.abc import Mapping
from fractions import Fraction

import attrs
import pytest

from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.api.resources import Family, InstanceResources
from gpustack_ctrl.reconcilers.accelerators.request import AcceleratorRequest, request
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


def granted(offered: InstanceTypeSpec, asked: InstanceResources) -> AcceleratorRequest:
    answer = request(offered, asked)
    assert isinstance(answer, AcceleratorRequest), answer
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


NVIDIA: Mapping[str, tuple[InstanceTypeSpec, InstanceResources, Mapping[str, str]]] = {
    "whole": (STOCK, WHOLE, {"nvidia.com/gpu": "2"}),
    "time slice": (STOCK, SHARED, {"nvidia.com/gpu.shared": "1"}),
    "time slice named by the type": (
        attrs.evolve(STOCK, resourceName="nvidia.com/gpu.shared"),
        SHARED,
        {"nvidia.com/gpu.shared": "1"},
    ),
    "MIG, strategy mixed": (STOCK, PARTITION, {"nvidia.com/mig-3g.40gb": "1"}),
    "MIG, strategy mixed, the whole card named": (
        attrs.evolve(SINGLE, families=(Family.WHOLE, Family.PARTITIONED)),
        PARTITION,
        {"nvidia.com/mig-3g.40gb": "1"},
    ),
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
    "hygon percentage that is no whole MiB, rounded up": (
        "hygon",
        InstanceResources(acceleratorSlicedMemoryPercentage=33),
        {"hygon.com/dcunum": "1", "hygon.com/dcumem": "27034", "hygon.com/dcucores": "33"},
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
