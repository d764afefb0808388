"""T3, I5: what takes too long is told after a while, with who or what keeps it."""

from datetime import timedelta
from typing import Any

import attrs
import pytest

from gpustack_ctrl.api.core import Pod
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.references import LocalReference
from gpustack_ctrl.api.volumes import AdditionalVolume, HostPath, WorkspaceVolume
from gpustack_ctrl.reconcilers.conditions import timestamp
from gpustack_ctrl.reconcilers.status.overdue import (
    CONFIRM_TIME,
    ENDING_TIME,
    SET_UP_TIME,
    lingering,
    not_set_up,
    seconds_to_overdue,
)
from gpustack_ctrl.reconcilers.status.summary import status
from tests.helpers.builders import NOW, condition, instance, owner, pod_of, remade, seen

BOX = instance()
SECOND = timedelta(seconds=1)
KUEUE = "kueue.x-k8s.io/managed"


def ended(ago: timedelta, *finalizers: str, of: Instance = BOX) -> Pod:
    """A Pod whose grace period was over *ago*."""
    pod: Pod = remade(pod_of(of), deletionTimestamp=timestamp(NOW - ago), finalizers=finalizers)
    return pod


def waiting(ago: timedelta, *, node: str = "node-1", of: Instance = BOX) -> Pod:
    """A Pod that its kubelet has not set up since *ago*."""
    told = condition("PodReadyToStartContainers", "False")
    since = attrs.evolve(told, lastTransitionTime=timestamp(NOW - ago))
    return pod_of(of, phase="Pending", ready=False, node=node, conditions=(since,))


def test_i5_finalizers_that_keep_a_pod_are_named_once_it_should_be_gone() -> None:
    told = lingering(seen(BOX, pod=ended(ENDING_TIME, KUEUE, "other/one")))

    assert told is not None
    assert ("finalizer", "FinalizersLinger", "admin") == (told.gate, told.reason, told.owner)
    assert "finalizers keep it: kueue.x-k8s.io/managed, other/one" in told.message


def test_l13_a_node_that_does_not_confirm_the_end_is_named() -> None:
    told = lingering(seen(BOX, pod=ended(CONFIRM_TIME)))

    assert lingering(seen(BOX, pod=ended(CONFIRM_TIME - SECOND))) is None
    assert told is not None
    assert ("node", "EndNotConfirmed") == (told.gate, told.reason)
    assert "node node-1 has not confirmed" in told.message


@pytest.mark.parametrize("ago", [timedelta(0), ENDING_TIME - SECOND, -timedelta(minutes=1)])
def test_i5_a_pod_that_ends_in_time_is_not_complained_of(ago: timedelta) -> None:
    snapshot = seen(BOX, pod=ended(ago, KUEUE))

    assert lingering(snapshot) is None
    assert (ENDING_TIME - ago).total_seconds() == seconds_to_overdue(snapshot)


@pytest.mark.parametrize(
    "box", [BOX, instance(stop=True), instance(deleting=True)], ids=["kept", "stopped", "deleted"]
)
def test_i5_whatever_was_asked_for_the_lingering_pod_is_told(box: Instance) -> None:
    told = status(seen(box, pod=ended(ENDING_TIME, KUEUE)))

    assert told.blocker is not None
    assert KUEUE in told.blocker.message
    assert "kubectl get workloads" in told.blocker.message


def test_l2_who_keeps_the_pod_of_an_earlier_namesake_is_told() -> None:
    earlier = remade(ended(ENDING_TIME, KUEUE), ownerReferences=(owner(uid="old"),))
    told = status(seen(BOX, pod=earlier))

    assert told.blocker is not None
    assert ("FinalizersLinger", "") == (told.blocker.reason, told.podUID)


def second(**metadata: Any) -> Pod:
    """Another Pod under another name."""
    pod: Pod = remade(pod_of(BOX), name="twin", uid="uid-of-twin", **metadata)
    return pod


def test_l1_a_second_pod_of_the_instance_is_told_though_the_first_is_ready() -> None:
    told = status(seen(BOX, pod=pod_of(BOX), pods=(pod_of(BOX), second())))

    assert told.blocker is not None
    assert "MultiplePods" == told.blocker.reason
    assert "Pods twin belong to this Instance too" in told.blocker.message


def test_l1_a_pod_that_only_ends_with_the_instance_is_no_second_one() -> None:
    loose = attrs.evolve(owner(), controller=None)
    other = second(ownerReferences=(loose,), labels={})
    told = status(seen(BOX, pod=pod_of(BOX), pods=(pod_of(BOX), other)))

    assert told.blocker is None


def test_i5_while_stopping_the_message_says_what_is_waited_for() -> None:
    box = instance(stop=True)
    told = status(seen(box, pod=ended(ENDING_TIME, KUEUE)))

    assert KUEUE in told.message


def test_t3_volumes_of_every_source_are_named_when_they_are_not_mounted() -> None:
    more = (
        AdditionalVolume(mountPath="/a", configMap=LocalReference(name="app")),
        AdditionalVolume(mountPath="/b", secret=LocalReference(name="token")),
        AdditionalVolume(mountPath="/c", persistent=LocalReference(name="data")),
        AdditionalVolume(mountPath="/d", hostPath=HostPath(path="/mnt")),
    )
    home = WorkspaceVolume(persistent=LocalReference(name="home"))
    box = instance(additionalVolumes=more, volume=home)
    pod = waiting(SET_UP_TIME, of=box)
    told = not_set_up(seen(box, pod=pod), pod)

    assert told is not None
    assert ("volume", "VolumesNotMounted", "user") == (told.gate, told.reason, told.owner)
    assert (
        "node node-1 has not set the Pod up for 30 s; it needs PersistentVolumeClaim home, "
        "ConfigMap app, Secret token, PersistentVolumeClaim data, path /mnt of the node"
    ) == told.message


def test_t3_without_volumes_the_node_is_told() -> None:
    pod = waiting(SET_UP_TIME)
    told = not_set_up(seen(BOX, pod=pod), pod)

    assert told is not None
    assert ("container", "PodNotSetUp", "admin") == (told.gate, told.reason, told.owner)


def test_t3_a_pod_without_a_node_is_waited_for_by_no_kubelet() -> None:
    pod = waiting(SET_UP_TIME, node="")

    assert not_set_up(seen(BOX, pod=pod), pod) is None
    assert seconds_to_overdue(seen(BOX, pod=pod)) is None


def test_t3_a_kubelet_has_its_time_and_is_looked_at_again() -> None:
    pod = waiting(SET_UP_TIME - SECOND)

    assert not_set_up(seen(BOX, pod=pod), pod) is None
    assert 1.0 == seconds_to_overdue(seen(BOX, pod=pod))


@pytest.mark.parametrize(
    "pod",
    [
        None,
        pod_of(BOX),
        ended(CONFIRM_TIME),
        ended(ENDING_TIME, KUEUE),
        waiting(SET_UP_TIME),
        attrs.evolve(waiting(SECOND), status=attrs.evolve(waiting(SECOND).status, phase="Failed")),
    ],
)
def test_nothing_is_looked_at_again_that_cannot_change_by_itself(pod: Pod | None) -> None:
    assert seconds_to_overdue(seen(BOX, pod=pod)) is None
