"""V9, V10: figures of Nodes and Pods beside the sentence of the scheduler."""

import attrs

from gpustack_ctrl.api.core import Pod, PodContainer, ResourceRequirements
from gpustack_ctrl.api.instance_status import Blocker
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot
from gpustack_ctrl.reconcilers.status.room import with_figures
from gpustack_ctrl.reconcilers.types.capacity import NodeUse
from tests.helpers.builders import instance, pod_of, seen

BOX = instance()
GPU = "nvidia.com/gpu"
SAID = Blocker(
    gate="scheduling", reason="Unschedulable", message="0/2 nodes: 2 Insufficient.", owner="admin"
)


def asking(amount: int) -> Pod:
    """A Pod that asks for cards."""
    held = {"cpu": "1", GPU: str(amount)}
    main = PodContainer(name="main", resources=ResourceRequirements(limits=held, requests=held))
    pod = pod_of(BOX, phase="Pending", ready=False, node="")
    return attrs.evolve(pod, spec=attrs.evolve(pod.spec, containers=(main,)))


def looking(amount: int, *nodes: tuple[int, int]) -> InstanceSnapshot:
    """A Pod that finds no node among those with (cards, held)."""
    uses = tuple(NodeUse(offers={GPU: cards}, held={GPU: held}) for cards, held in nodes)
    return seen(BOX, pod=asking(amount), uses=uses)


def test_v10_a_request_above_the_largest_node_never_fits() -> None:
    told = with_figures(SAID, looking(6, (4, 0), (4, 0)))

    assert ("scheduling", "NeverFits", "user") == (told.gate, told.reason, told.owner)
    assert (
        "6 nvidia.com/gpu are asked for, but the largest node of InstanceType small has 4: "
        "0/2 nodes: 2 Insufficient."
    ) == told.message


def test_v9_a_request_that_waits_is_told_what_one_node_has_left() -> None:
    told = with_figures(SAID, looking(3, (4, 2), (4, 3)))

    assert ("Unschedulable", "admin") == (told.reason, told.owner)
    assert (
        "0/2 nodes: 2 Insufficient; 3 nvidia.com/gpu are asked for and at most 2 free on one node"
    ) == told.message


def test_v10_a_request_for_all_of_the_largest_node_waits() -> None:
    told = with_figures(SAID, looking(4, (4, 1), (2, 0)))

    assert "Unschedulable" == told.reason
    assert "4 nvidia.com/gpu are asked for and at most 3 free on one node" in told.message


def test_v5_a_type_without_nodes_is_told_as_such() -> None:
    told = with_figures(SAID, looking(1))

    assert "NoNode" == told.reason
    assert "has the labels of InstanceType small: 0/2 nodes" in told.message


def test_other_gates_and_unknown_nodes_are_left_as_they_are() -> None:
    claim = attrs.evolve(SAID, gate="volume")

    assert claim is with_figures(claim, looking(6, (4, 0)))
    assert SAID is with_figures(SAID, seen(BOX, pod=asking(6)))


def test_a_pod_that_asks_for_no_card_has_no_figures() -> None:
    bare = pod_of(BOX, phase="Pending", ready=False, node="")
    told = with_figures(SAID, seen(BOX, pod=bare, uses=(NodeUse(offers={}, held={}),)))

    assert "0/2 nodes: 2 Insufficient" == told.message
