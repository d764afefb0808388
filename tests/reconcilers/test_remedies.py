"""T3: every reason comes with what to do about it, and fits what the API server takes."""

import pytest

from gpustack_ctrl.api.instance_status import Blocker, Failures
from gpustack_ctrl.reconcilers.status.remedies import LONGEST, with_remedy

TAKES_TIME = Failures(count=2, podUID="x", retryAt="2026-11-30T12:00:20Z")
GIVEN_UP = Failures(count=6, podUID="x")


def shut(reason: str, gate: str = "container", message: str = "said no") -> Blocker:
    return Blocker(gate=gate, reason=reason, message=message)


REMEDIES = {
    "QuotaExceeded": "raise the quota",
    "QuotaNeedsLimits": "LimitRange with defaults",
    "PodSecurityViolation": "relax the Pod Security level",
    "LimitRangeViolation": "within the LimitRange",
    "Forbidden": "bind the operator to its ClusterRole",
    "NodePortsExhausted": "services.nodeports",
    "SchedulingGated": "LocalQueue of the namespace",
    "ClaimNotFound": "create the PersistentVolumeClaim",
    "ClaimTerminating": "create it anew",
    "ClaimInUse": "stop the Instance that uses",
    "ClaimLost": "restore its PersistentVolume",
    "ClaimUnbound": "kubectl describe pvc",
    "VolumesNotMounted": "kubectl describe pod",
    "PodNotSetUp": "kubectl describe pod",
    "FinalizersLinger": "kubectl get workloads",
    "EndNotConfirmed": "node.kubernetes.io/out-of-service",
    "Unschedulable": "choose another type",
    "NoNode": "wait for a node",
    "NeverFits": "ask for no more than that",
    "ErrImagePull": "spec.imagePullSecret",
    "ImagePullBackOff": "spec.imagePullSecret",
    "InvalidImageName": "correct spec.image",
    "ErrImageNeverPull": "IfNotPresent",
    "CrashLoopBackOff": "kubectl logs --previous",
    "CreateContainerConfigError": "create what it names",
    "CreateContainerError": "securityContext",
    "RunContainerError": "securityContext",
}


@pytest.mark.parametrize(("reason", "remedy"), REMEDIES.items())
def test_t3_each_reason_has_its_remedy_after_the_sentence(reason: str, remedy: str) -> None:
    told = with_remedy(shut(reason), None).message

    assert told.startswith("said no; ")
    assert remedy in told


def test_t3_a_full_stop_gives_way_to_the_remedy() -> None:
    assert "no; see why the" in with_remedy(shut("ClaimUnbound", message="no."), None).message


@pytest.mark.parametrize("gate", ["device", "eviction", "container"])
def test_t4_after_a_failure_it_is_told_when_the_next_pod_comes(gate: str) -> None:
    told = with_remedy(shut("Evicted", gate), TAKES_TIME)

    assert "said no; another Pod is made at 2026-11-30T12:00:20Z" == told.message


def test_t4_after_the_last_try_it_is_told_what_helps() -> None:
    told = with_remedy(shut("Evicted", "eviction"), GIVEN_UP)

    assert "6 Pods failed in a row and no more are tried: stop and start" in told.message


@pytest.mark.parametrize("failures", [None, TAKES_TIME])
def test_another_gate_has_nothing_to_do_with_failures(failures: Failures | None) -> None:
    assert "said no" == with_remedy(shut("TypeNotFound", "type"), failures).message


@pytest.mark.parametrize("reason", ["TypeNotFound", "CrashLoopBackOff"])
def test_t3_a_long_sentence_is_cut_and_its_remedy_kept(reason: str) -> None:
    told = with_remedy(shut(reason, message="x" * 5000), None).message

    assert len(told) == LONGEST
    assert REMEDIES.get(reason, "x") in told
