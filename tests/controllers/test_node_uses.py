"""What nodes offer and Pods hold: counted anew where something changed, and nowhere else."""

from typing import Any

import attrs

from gpustack_ctrl.api.core import Node, Pod, PodContainer, PodSpec, PodStatus, ResourceRequirements
from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.api.meta import ObjectMeta
from gpustack_ctrl.controllers.caches import ACCELERATOR_NODE, Caches, accelerator_node
from gpustack_ctrl.controllers.node_uses import NodeUses
from gpustack_ctrl.runtime.store import Store
from tests.helpers.builders import node
from tests.helpers.memory_world import KINDS

ANY = InstanceTypeSpec()
GPU = "nvidia.com/gpu"


def stores() -> dict[str, Store[Any]]:
    """Empty caches, with the index that is asked."""
    held: dict[str, Store[Any]] = {name: Store() for name in KINDS}
    return {**held, "pods": Store({ACCELERATOR_NODE: accelerator_node})}


def holder(name: str, cards: int) -> Pod:
    """A Pod on node-1 that holds *cards*."""
    asked = ResourceRequirements(requests={GPU: str(cards)})
    spec = PodSpec(nodeName="node-1", containers=(PodContainer(name="main", resources=asked),))
    return Pod(metadata=ObjectMeta(name=name, namespace="team"), spec=spec)


def with_cards(held: Node, cards: int) -> Node:
    """The node, offering *cards*."""
    return attrs.evolve(held, status=attrs.evolve(held.status, allocatable={GPU: str(cards)}))


def test_the_same_objects_are_counted_once_and_a_change_is_seen() -> None:
    held = stores()
    uses = NodeUses(Caches(**held))
    one = with_cards(node("node-1"), 8)
    held["nodes"].upsert(one.metadata.key, one)
    first = uses.of_type(ANY)
    pod = holder("a", 3)
    held["pods"].upsert(pod.metadata.key, pod)
    second = uses.of_type(ANY)
    ended = attrs.evolve(pod, status=PodStatus(phase="Failed"))
    held["pods"].upsert(pod.metadata.key, ended)
    third = uses.of_type(ANY)
    larger = with_cards(one, 16)
    held["nodes"].upsert(one.metadata.key, larger)

    assert [8, 5, 8, 16] == [
        found[0].free(GPU) for found in (first, second, third, uses.of_type(ANY))
    ]
    assert uses.of_type(ANY)[0] is uses.of_type(ANY)[0]


def test_a_node_that_is_gone_is_forgotten() -> None:
    held = stores()
    uses = NodeUses(Caches(**held))
    one = node("node-1")
    held["nodes"].upsert(one.metadata.key, one)
    uses.of_type(ANY)
    held["nodes"].remove(one.metadata.key, resource_version="2")

    assert () == uses.of_type(ANY)
    assert not uses._counted  # noqa: SLF001 - it is memory that is at stake.
