"""T3: what keeps a Pod from being Ready, in the words of whoever said it."""

from typing import Any

import attrs
import pytest

from gpustack_ctrl.api.core import (
    ContainerState,
    ContainerStatus,
    ContainerTerminated,
    ContainerWaiting,
    Pod,
    SchedulingGate,
)
from gpustack_ctrl.reconcilers.status.pod_progress import (
    is_lost,
    is_ready,
    is_scheduled,
    restarts,
    trouble,
)
from tests.helpers.builders import condition, instance, node, pod_of

BOX = instance()


def waiting(reason: str, message: str = "", *, exit_code: int | None = None) -> Pod:
    """A placed Pod whose container `main` waits, perhaps after it ended."""
    ended = None if exit_code is None else ContainerTerminated(exitCode=exit_code, reason="Error")
    held = ContainerStatus(
        name="main",
        restartCount=4,
        state=ContainerState(waiting=ContainerWaiting(reason=reason, message=message)),
        lastState=ContainerState(terminated=ended),
    )
    return pod_of(BOX, phase="Pending", ready=False, containerStatuses=(held,))


def unplaced(reason: str = "Unschedulable", message: str = "0/2 nodes are available") -> Pod:
    """A Pod that the scheduler said no to."""
    told = condition("PodScheduled", "False", reason, message)
    return pod_of(BOX, phase="Pending", ready=False, node="", conditions=(told,))


def failed(reason: str, message: str = "") -> Pod:
    """A Pod that ended for good."""
    return pod_of(BOX, phase="Failed", ready=False, reason=reason, message=message)


def gated(*gates: str) -> Pod:
    """A Pod that a queue holds back."""
    held = unplaced()
    spec = attrs.evolve(held.spec, schedulingGates=tuple(SchedulingGate(name=it) for it in gates))
    return attrs.evolve(held, spec=spec)


TROUBLE: dict[str, tuple[Pod, tuple[str, str, str, str]]] = {
    "no room": (
        unplaced(),
        ("scheduling", "Unschedulable", "0/2 nodes are available", "admin"),
    ),
    "held by a queue": (
        gated("kueue.x-k8s.io/admission", "x"),
        ("queue", "SchedulingGated", "gates to be lifted: kueue.x-k8s.io/admission, x", "admin"),
    ),
    "evicted": (
        failed("Evicted", "low on disk"),
        ("eviction", "Evicted", "low on disk", "cluster"),
    ),
    "a claim that is missing": (
        unplaced(message='0/2 nodes: persistentvolumeclaim "home" not found'),
        ("volume", "ClaimNotFound", '"home" not found', "user"),
    ),
    "a claim that waits": (
        unplaced(message="pod has unbound immediate PersistentVolumeClaims"),
        ("volume", "ClaimUnbound", "unbound", "user"),
    ),
    "a claim that waits, on 1.37": (
        unplaced(message="pod has unbound immediate PersistentVolumeClaims. not found"),
        ("volume", "ClaimUnbound", "unbound", "user"),
    ),
    "a claim that goes": (
        unplaced(message='persistentvolumeclaim "home" is being deleted. not found'),
        ("volume", "ClaimTerminating", "is being deleted", "user"),
    ),
    "a claim of one Pod alone": (
        unplaced(message="node has pod using PersistentVolumeClaim with ReadWriteOncePod mode"),
        ("volume", "ClaimInUse", "ReadWriteOncePod", "user"),
    ),
    "a claim whose volume is gone": (
        unplaced(message='PersistentVolumeClaim "a" bound to non-existent PersistentVolume "b"'),
        ("volume", "ClaimLost", "non-existent", "user"),
    ),
    "no volume for its first Pod": (
        unplaced(message="1 node(s) didn't find available persistent volumes to bind"),
        ("volume", "ClaimUnbound", "to bind", "user"),
    ),
    "no volume, and no room either": (
        unplaced(message="1 didn't find available persistent volumes, 1 Insufficient cpu"),
        ("scheduling", "Unschedulable", "Insufficient cpu", "admin"),
    ),
    "ended of itself": (
        pod_of(BOX, phase="Succeeded", ready=False),
        ("container", "PodFailed", "PodFailed", "cluster"),
    ),
    "no device": (
        failed("UnexpectedAdmissionError", "no healthy devices"),
        ("device", "UnexpectedAdmissionError", "no healthy devices", "cluster"),
    ),
    "failed without a word": (failed(""), ("container", "PodFailed", "PodFailed", "cluster")),
    "image not pulled": (
        waiting("ImagePullBackOff", "Back-off pulling image"),
        ("image", "ImagePullBackOff", "Back-off pulling image", "user"),
    ),
    "image not pulled, no words": (
        waiting("ErrImagePull"),
        ("image", "ErrImagePull", "the image of main cannot be pulled", "user"),
    ),
    "image name wrong": (
        waiting("InvalidImageName", "x"),
        ("image", "InvalidImageName", "x", "user"),
    ),
    "image never pulled": (
        waiting("ErrImageNeverPull", "x"),
        ("image", "ErrImageNeverPull", "x", "user"),
    ),
    "crashing": (
        waiting("CrashLoopBackOff", "back-off 5m0s", exit_code=137),
        ("container", "CrashLoopBackOff", "back-off 5m0s (last exit code 137, Error)", "user"),
    ),
    "a missing Secret": (
        waiting("CreateContainerConfigError", 'secret "x" not found'),
        ("container", "CreateContainerConfigError", 'secret "x" not found', "user"),
    ),
    "no start": (
        waiting("CreateContainerError"),
        ("container", "CreateContainerError", "CreateContainerError", "user"),
    ),
    "no run": (
        waiting("RunContainerError", "no such file"),
        ("container", "RunContainerError", "no such file", "user"),
    ),
}


@pytest.mark.parametrize(("pod", "expected"), TROUBLE.values(), ids=TROUBLE)
def test_t3_trouble_is_told_with_its_gate_and_whose_it_is(
    pod: Pod, expected: tuple[str, str, str, str]
) -> None:
    gate, reason, message, owner = expected

    told = trouble(pod)

    assert told is not None
    assert (gate, reason, owner) == (told.gate, told.reason, told.owner)
    assert message in told.message


NO_TROUBLE: dict[str, Pod] = {
    "just made": pod_of(BOX, phase="Pending", ready=False, node=""),
    "the scheduler is busy": unplaced("SchedulerError", "try again"),
    "creating": waiting("ContainerCreating"),
    "initialising": waiting("PodInitializing"),
    "running": pod_of(BOX),
}


@pytest.mark.parametrize("pod", NO_TROUBLE.values(), ids=NO_TROUBLE)
def test_t3_what_passes_by_itself_is_no_trouble(pod: Pod) -> None:
    assert trouble(pod) is None


@pytest.mark.parametrize(
    ("pod", "ready", "scheduled"),
    [
        (pod_of(BOX), True, True),
        (pod_of(BOX, ready=False), False, True),
        (pod_of(BOX, ready=False, node=""), False, False),
        (pod_of(BOX, conditions=()), False, True),
        (pod_of(BOX, phase="Failed"), False, True),
        (pod_of(BOX, phase="Succeeded"), False, True),
    ],
)
def test_a_pod_is_ready_and_placed_as_its_conditions_and_its_node_say(
    pod: Pod, *, ready: bool, scheduled: bool
) -> None:
    assert (ready, scheduled) == (is_ready(pod), is_scheduled(pod))


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (None, False),
        (node(ready="True"), False),
        (node(ready="False"), False),
        (node(ready="Unknown"), True),
    ],
)
def test_a_pod_is_lost_when_its_node_does_not_answer(of: Any, *, expected: bool) -> None:
    assert expected is is_lost(pod_of(BOX), of)
    assert is_lost(pod_of(BOX, reason="NodeLost"), of)


def test_restarts_are_those_of_the_workload() -> None:
    sidecar = ContainerStatus(name="sshd", restartCount=9)

    assert 4 == restarts(waiting("CrashLoopBackOff"))
    assert 0 == restarts(pod_of(BOX, containerStatuses=(sidecar,)))
