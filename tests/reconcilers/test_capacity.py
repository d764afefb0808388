"""What nodes offer and Pods hold, by dialect and family: the figures of an InstanceType."""

from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from gpustack_ctrl.api.core import Node, Pod, PodContainer, PodSpec, ResourceRequirements
from gpustack_ctrl.api.instance_type import Dialect, InstanceTypeSpec, View
from gpustack_ctrl.api.manufacturers import MANUFACTURERS
from gpustack_ctrl.api.resources import Family
from gpustack_ctrl.reconcilers.types.capacity import NodeUse, held_by, is_of_type, use_of, views
from tests.helpers.builders import instance, meta, node, pod_of

GPU = "nvidia.com/gpu"
LABELS = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "pool": "a"}


def use(offers: Mapping[str, int], **held: int) -> NodeUse:
    """A node; what is held is told by the end of the name."""
    by_end = {name: held.get(name.rpartition("/")[2].replace("-", "_"), 0) for name in offers}
    return NodeUse(offers=offers, held=by_end)


def seen(*uses: NodeUse, maker: str = "nvidia", **offered: Any) -> Mapping[Family, View]:
    """The views of a type over some nodes."""
    return views(InstanceTypeSpec(manufacturer=maker, **offered), MANUFACTURERS[maker], uses)


def view(capacity: int, allocated: int, remaining: int, most: int) -> View:
    return View(capacity=capacity, allocated=allocated, remaining=remaining, onceMaxRequest=most)


def test_no_request_spans_nodes() -> None:
    found = seen(use({GPU: 4}, gpu=1), use({GPU: 8}, gpu=6))

    assert view(12, 7, 5, 3) == found[Family.WHOLE]


def test_a_node_that_holds_more_than_it_offers_has_nothing_left_and_takes_nothing_from_others() -> (
    None
):
    found = seen(use({GPU: 2}, gpu=5), use({GPU: 2}))

    assert view(4, 5, 2, 2) == found[Family.WHOLE]


@pytest.mark.parametrize(
    ("card_mib", "mib", "expected"),
    [
        (81920, 40960, view(200, 60, 140, 100)),
        (81920, 1, view(200, 11, 189, 100)),
        (None, 40960, view(200, 10, 190, 100)),
    ],
)
def test_slices_in_mib_are_converted_and_rounded_up_where_the_card_is_known(
    card_mib: int | None, mib: int, expected: View
) -> None:
    percent, in_mib = f"{GPU}.sliced.memory-percentage", f"{GPU}.sliced.memory-mib"
    found = seen(
        NodeUse(offers={percent: 200, in_mib: 163840}, held={percent: 10, in_mib: mib}),
        acceleratorMemoryMiB=card_mib,
    )

    assert expected == found[Family.SLICED]


def test_no_slice_is_larger_than_a_card_or_than_what_is_left() -> None:
    percent = f"{GPU}.sliced.memory-percentage"

    assert 100 == seen(use({percent: 800}))[Family.SLICED].onceMaxRequest
    nearly = NodeUse(offers={percent: 100}, held={percent: 70})
    assert 30 == seen(nearly)[Family.SLICED].onceMaxRequest
    assert 0 == seen()[Family.SLICED].onceMaxRequest


def test_under_mig_mixed_partitions_of_all_profiles_are_one_view() -> None:
    offers = {GPU: 1, "nvidia.com/mig-1g.10gb": 7, "nvidia.com/mig-3g.40gb": 2, "amd.com/mig-x": 9}
    held = {"nvidia.com/mig-1g.10gb": 3}
    found = seen(NodeUse(offers=offers, held=held), dialect=Dialect.NVIDIA)

    assert view(9, 3, 6, 1) == found[Family.PARTITIONED]
    assert view(1, 0, 1, 1) == found[Family.WHOLE]
    assert Family.SLICED not in found


def test_under_mig_single_the_named_resource_is_the_partition() -> None:
    found = seen(
        use({GPU: 7}, gpu=2),
        dialect=Dialect.NVIDIA,
        resourceName=GPU,
        families=(Family.PARTITIONED,),
    )

    assert {Family.PARTITIONED: view(7, 2, 5, 1)} == found


def test_replicas_of_time_slicing_are_shared_and_never_whole() -> None:
    found = seen(use({f"{GPU}.shared": 10}), dialect=Dialect.NVIDIA, resourceName=f"{GPU}.shared")

    assert view(10, 0, 10, 10) == found[Family.SHARED]
    assert Family.WHOLE not in found


@pytest.mark.parametrize(
    ("maker", "resource"),
    [("cambricon", "cambricon.com/vmlu"), ("metax", "metax-tech.com/gpu"), ("nvidia", GPU)],
)
def test_under_hami_the_devices_are_counted_by_hamis_name(maker: str, resource: str) -> None:
    found = seen(use({resource: 3}), maker=maker, dialect=Dialect.HAMI)

    assert {Family.WHOLE: view(3, 0, 3, 3)} == found


def test_a_family_that_is_not_offered_has_no_view() -> None:
    found = seen(use({GPU: 2}), families=(Family.WHOLE, Family.SHARED))

    assert {Family.WHOLE, Family.SHARED} == set(found)


def labelled(*, unschedulable: bool = False, ready: Any = "True") -> Node:
    """A node of pool a."""
    held = node(ready=ready)
    labels = attrs.evolve(held.metadata, labels=LABELS)
    spec = attrs.evolve(held.spec, unschedulable=unschedulable)
    return attrs.evolve(held, metadata=labels, spec=spec)


@pytest.mark.parametrize(
    ("offered", "expected"),
    [
        ({}, True),
        ({"os": "linux", "arch": "amd64", "nodeSelector": {"pool": "a"}}, True),
        ({"os": "windows"}, False),
        ({"arch": "arm64"}, False),
        ({"nodeSelector": {"pool": "b"}}, False),
        ({"nodeSelector": {"zone": ""}}, False),
    ],
)
def test_a_node_is_of_the_type_whose_labels_it_has(
    offered: dict[str, Any], *, expected: bool
) -> None:
    assert expected is is_of_type(labelled(), InstanceTypeSpec(**offered))


@pytest.mark.parametrize(
    "out", [labelled(unschedulable=True), labelled(ready="False"), labelled(ready="Unknown")]
)
def test_a_node_that_takes_no_pods_is_of_no_type(out: Node) -> None:
    assert not is_of_type(out, InstanceTypeSpec())


def holding(phase: str, **amounts: str) -> Pod:
    """A Pod of two containers that each hold these amounts."""
    held = {name.replace("_", "/"): amount for name, amount in amounts.items()}
    twice = (
        PodContainer(name="main", resources=ResourceRequirements(requests=held)),
        PodContainer(name="more", resources=ResourceRequirements(requests=held)),
    )
    pod = pod_of(instance(), phase=phase)
    return attrs.evolve(pod, spec=PodSpec(nodeName="node-1", containers=twice))


def test_all_containers_of_all_pods_that_have_not_ended_count() -> None:
    pods = [holding("Running", cpu="4", a_gpu="1"), holding("Pending", a_gpu="2")]
    ended = [holding("Failed", a_gpu="9"), holding("Succeeded", a_gpu="9")]
    held = labelled()
    status = attrs.evolve(held.status, allocatable={"cpu": "8", "a/gpu": "8", "pods": "110"})
    found = use_of(attrs.evolve(held, status=status), [*pods, *ended])

    assert ({"a/gpu": 8}, {"a/gpu": 6}) == (found.offers, dict(found.held))
    assert 2 == found.free("a/gpu")
    assert 0 == found.free("another/one")


def asking(cards: int, **rest: Any) -> PodContainer:
    """A container that asks for *cards*."""
    asked = ResourceRequirements(requests={"nvidia.com/gpu": str(cards)})
    return PodContainer(name=f"asks-for-{cards}", resources=asked, **rest)


@pytest.mark.parametrize(
    ("init", "containers", "held"),
    [
        ((), (1, 2), 3),
        ((asking(5),), (1, 2), 5),
        ((asking(2),), (1, 2), 3),
        ((asking(1, restartPolicy="Always"),), (1, 2), 4),
        ((asking(1, restartPolicy="Always"), asking(5)), (1, 2), 6),
    ],
)
def test_a_pod_holds_the_most_that_it_needs_at_once(
    init: tuple[PodContainer, ...], containers: tuple[int, ...], held: int
) -> None:
    spec = PodSpec(initContainers=init, containers=tuple(map(asking, containers)))

    assert {"nvidia.com/gpu": held} == held_by(Pod(metadata=meta(), spec=spec))
