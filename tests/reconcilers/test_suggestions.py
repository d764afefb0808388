"""The InstanceTypes that the nodes of a cluster call for."""

from typing import Any

import pytest

from e2e.cluster.nodes import BASES, accelerators
from gpustack_ctrl.api.core import Node, NodeStatus
from gpustack_ctrl.api.instance_type import (
    Dialect,
    InstanceTypeSpec,
    PartitionProfile,
    UnitResources,
)
from gpustack_ctrl.api.manufacturer_overrides import override
from gpustack_ctrl.api.manufacturers import MANUFACTURERS
from gpustack_ctrl.api.meta import ObjectMeta
from gpustack_ctrl.api.resources import Family
from gpustack_ctrl.reconcilers.types.suggestions import suggestions, unit_resources

PLATFORM = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
A100 = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB", "nvidia.com/gpu.memory": "81920"}
WHOLE, SHARED, SLICED, PARTITIONED = Family


def node(*resources: str, labels: Any = None, annotations: Any = None) -> Node:
    """A node that has one of each of *resources*."""
    return Node(
        metadata=ObjectMeta(
            name="node", labels=PLATFORM | (labels or {}), annotations=annotations or {}
        ),
        status=NodeStatus(allocatable={"cpu": "64"} | dict.fromkeys(resources, "1")),
    )


def suggested(*nodes: Node, makers: Any = MANUFACTURERS) -> dict[str, InstanceTypeSpec]:
    """The types with cards, by name."""
    found = suggestions(nodes, makers)
    return {made.metadata.name: made.spec for made in found if made.spec.manufacturer}


@pytest.mark.parametrize("maker", BASES)
def test_each_maker_under_the_device_manager_has_what_its_node_offers(maker: str) -> None:
    capacity = accelerators(8, maker)
    [(name, spec)] = suggested(node(*capacity)).items()
    row = MANUFACTURERS[maker]

    assert (maker, maker, Dialect.GPUSTACK) == (name, spec.manufacturer, spec.dialect)
    assert (WHOLE, SHARED, SLICED) == spec.families[:3]
    assert (PARTITIONED in spec.families) == bool(row.partition_kind)
    assert bool(spec.partitionProfiles) == bool(row.partition_kind)


@pytest.mark.parametrize(
    ("resources", "labels", "expected"),
    [
        (["nvidia.com/gpu"], {}, ("nvidia", [WHOLE], [], "")),
        (["nvidia.com/gpu.shared"], {}, ("nvidia", [SHARED], [], "")),
        (["nvidia.com/mig-1g.5gb"], {}, ("nvidia", [PARTITIONED], ["1g.5gb"], "")),
        (
            ["nvidia.com/gpu", "nvidia.com/mig-3g.20gb", "nvidia.com/mig-1g.5gb"],
            {},
            ("nvidia", [WHOLE, PARTITIONED], ["1g.5gb", "3g.20gb"], ""),
        ),
        (
            ["nvidia.com/gpu"],
            {
                "nvidia.com/mig.strategy": "single",
                "nvidia.com/gpu.product": "A100-SXM4-40GB-MIG-1g.5gb",
            },
            ("nvidia", [PARTITIONED], ["1g.5gb"], "nvidia.com/gpu"),
        ),
        (["nvidia.com/gpu", "nvidia.com/gpumem"], {}, ("hami", [WHOLE, SLICED], [], "")),
        (["amd.com/gpu"], {}, ("nvidia", [WHOLE], [], "amd.com/gpu")),
        (["amd.com/gpu", "amd.com/gpucores"], {}, ("hami", [WHOLE, SLICED], [], "")),
        (["cambricon.com/vmlu"], {}, ("hami", [WHOLE, SLICED], [], "")),
        (["hygon.com/dcunum"], {}, ("hami", [WHOLE, SLICED], [], "")),
        (["metax-tech.com/gpu", "metax-tech.com/sgpu"], {}, ("hami", [WHOLE, SLICED], [], "")),
        (["metax-tech.com/gpu"], {}, ("nvidia", [WHOLE], [], "metax-tech.com/gpu")),
        (["mthreads.com/vgpu"], {}, ("hami", [WHOLE, SLICED], [], "")),
        (["huawei.com/npu"], {}, ("nvidia", [WHOLE], [], "huawei.com/npu")),
        (
            ["nvidia.com/gpu", "device.gpustack.ai/nvidia.visibility"],
            {},
            ("gpustack", [WHOLE], [], ""),
        ),
        (["alibabacloud.com/ppu.sliced"], {}, ("gpustack", [SLICED], [], "")),
        (
            ["hygon.com/dcu.partitioned", "hygon.com/dcu.partitioned.mig-half"],
            {},
            ("gpustack", [PARTITIONED], ["half"], ""),
        ),
    ],
)
def test_the_dialect_is_told_by_the_names_of_the_resources(
    resources: list[str], labels: dict[str, str], expected: tuple[str, list[Family], Any, str]
) -> None:
    [spec] = suggested(node(*resources, labels=labels)).values()
    profiles = [profile.name for profile in spec.partitionProfiles]

    assert expected == (spec.dialect.value, list(spec.families), profiles, spec.resourceName)


def test_hami_is_told_by_its_note_where_it_counts_in_the_makers_name() -> None:
    noted = node("nvidia.com/gpu", annotations={"hami.io/node-nvidia-register": "[]"})

    assert Dialect.HAMI is suggested(noted)["nvidia"].dialect


def test_a_labelled_product_gives_name_selector_memory_and_size() -> None:
    spec = suggested(node("nvidia.com/gpu", labels=A100))["nvidia-a100-sxm4-80gb"]

    assert {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"} == spec.nodeSelector
    assert 81920 == spec.acceleratorMemoryMiB
    assert UnitResources(cpu=12, ram="128Gi") == spec.unitResources
    assert ("linux", "amd64") == (spec.os, spec.arch)
    assert "NVIDIA-A100-SXM4-80GB" == spec.displayName
    assert "" == spec.description


@pytest.mark.parametrize(
    ("resource", "labels", "name", "memory"),
    [
        (
            "amd.com/gpu",
            {"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM", "amd.com/gpu.vram": "192G"},
            "amd-instinct-mi300x-oam",
            196608,
        ),
        ("amd.com/gpu", {"amd.com/gpu.device-id": "74a1"}, "amd-74a1", None),
        (
            "metax-tech.com/gpu",
            {"metax-tech.com/gpu.product": "MXC500", "metax-tech.com/gpu.memory": "64GB"},
            "metax-mxc500",
            65536,
        ),
        ("huawei.com/npu", {"node.kubernetes.io/npu.chip.name": "910B4"}, "ascend-910b4", None),
    ],
)
def test_other_makers_tell_their_products_too(
    resource: str, labels: dict[str, str], name: str, memory: int | None
) -> None:
    [(made, spec)] = suggested(node(resource, labels=labels)).items()

    assert name == made
    assert memory == spec.acceleratorMemoryMiB
    assert [next(iter(labels.items()))] == list(spec.nodeSelector.items())


def test_partitions_have_the_memory_that_their_labels_tell() -> None:
    labels = {**A100, "nvidia.com/mig-1g.10gb.memory": "9728"}
    [spec] = suggested(node("nvidia.com/mig-1g.10gb", labels=labels)).values()

    assert (PartitionProfile(name="1g.10gb", memoryMiB=9728),) == spec.partitionProfiles
    assert 81920 == spec.acceleratorMemoryMiB


def test_under_the_single_strategy_the_memory_told_is_that_of_the_partition() -> None:
    labels = {
        "nvidia.com/mig.strategy": "single",
        "nvidia.com/gpu.product": "A100-SXM4-40GB-MIG-1g.5gb",
        "nvidia.com/gpu.memory": "4864",
    }
    [spec] = suggested(node("nvidia.com/gpu", labels=labels)).values()

    assert (PartitionProfile(name="1g.5gb", memoryMiB=4864),) == spec.partitionProfiles
    assert spec.acceleratorMemoryMiB is None


def test_what_cannot_be_told_from_resources_is_told_to_the_reader() -> None:
    labels = {"nvidia.com/gpu.product": "Tesla-T4-SHARED"}
    replicas = suggested(node("nvidia.com/gpu", labels=labels))["nvidia-tesla-t4-shared"]
    unlabelled = suggested(node("nvidia.com/gpu"))["nvidia"]

    assert "time-slicing replica" in replicas.description
    assert "No label tells the product" in unlabelled.description
    assert {} == unlabelled.nodeSelector


def test_nodes_of_the_same_sort_share_a_type_that_offers_what_any_of_them_has() -> None:
    plain = node("nvidia.com/gpu", labels=A100)
    cut = node("nvidia.com/mig-1g.10gb", labels=A100)
    [spec] = suggested(plain, cut, plain).values()

    assert (WHOLE, PARTITIONED) == spec.families


def test_what_differs_in_product_maker_dialect_or_platform_is_another_type() -> None:
    arm = {"kubernetes.io/arch": "arm64"}
    names = suggested(
        node("nvidia.com/gpu", labels=A100),
        node("nvidia.com/gpu", labels=A100 | arm),
        node("nvidia.com/gpu", "nvidia.com/gpumem", labels=A100),
        node("nvidia.com/gpu", labels={"nvidia.com/gpu.product": "Tesla-T4"}),
        node("nvidia.com/gpu", "amd.com/gpu"),
    )

    assert {
        "amd",
        "nvidia",
        "nvidia-a100-sxm4-80gb-hami-amd64",
        "nvidia-a100-sxm4-80gb-nvidia-amd64",
        "nvidia-a100-sxm4-80gb-nvidia-arm64",
        "nvidia-tesla-t4",
    } == set(names)


def test_names_that_would_be_the_same_are_numbered() -> None:
    products = ("Tesla T4", "Tesla-T4", "tesla.t4")
    names = suggested(
        *(node("nvidia.com/gpu", labels={"nvidia.com/gpu.product": it}) for it in products)
    )

    assert ["nvidia-tesla-t4", "nvidia-tesla-t4-2", "nvidia-tesla-t4-3"] == list(names)


def test_a_row_of_the_setting_counts_like_one_of_the_table() -> None:
    text = '{"acme": {"resource": "acme.example/card"}, "nvidia": {"resource": "nv.example/gpu"}}'
    makers = override(MANUFACTURERS, text)
    found = suggested(node("acme.example/card", "nv.example/gpu"), makers=makers)

    assert {"acme", "nvidia"} == set(found)
    assert "acme.example/card" == found["acme"].resourceName


def test_there_is_a_type_without_cards_for_each_platform() -> None:
    arm = node(labels={"kubernetes.io/arch": "arm64"})
    found = suggestions((node(), node("nvidia.com/gpu"), arm), MANUFACTURERS)
    general = {made.metadata.name: made.spec for made in found if not made.spec.manufacturer}

    assert {"cpu-amd64": "amd64", "cpu-arm64": "arm64"} == {
        name: spec.arch for name, spec in general.items()
    }
    assert {UnitResources(cpu=1, ram="2Gi")} == {spec.unitResources for spec in general.values()}


def test_a_resource_that_is_used_up_by_health_is_not_offered() -> None:
    unhealthy = Node(
        metadata=ObjectMeta(name="node"), status=NodeStatus(allocatable={"nvidia.com/gpu": "0"})
    )

    assert {} == suggested(unhealthy)


@pytest.mark.parametrize(
    ("mib", "cpu", "ram"),
    [
        (None, 4, "16Gi"),
        (15360, 8, "32Gi"),
        (16384, 8, "32Gi"),
        (24576, 8, "64Gi"),
        (49152, 8, "64Gi"),
        (81920, 12, "128Gi"),
        (97871, 12, "128Gi"),
        (98305, 12, "192Gi"),
        (196608, 12, "192Gi"),
    ],
)
def test_larger_cards_come_with_more(mib: int | None, cpu: int, ram: str) -> None:
    assert UnitResources(cpu=cpu, ram=ram) == unit_resources(mib)
