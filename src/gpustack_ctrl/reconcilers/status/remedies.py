"""What to do about a gate that is shut: one sentence for each reason."""

from collections.abc import Mapping

import attrs

from gpustack_ctrl.api.instance_status import Blocker, Failures

LONGEST = 4096

_REMEDIES: Mapping[str, str] = {
    "QuotaExceeded": "ask for less, stop another Instance, or have an administrator raise "
    "the quota",
    "PodSecurityViolation": "leave out what it names, or have an administrator relax the Pod "
    "Security level of the namespace",
    "LimitRangeViolation": "keep spec.resources within the LimitRange of the namespace",
    "Forbidden": "an administrator must bind the operator to its ClusterRole",
    "PolicyRefused": "an administrator must let the operator write it in this namespace",
    "SchedulingGated": "the queue lifts them when there is room: see the LocalQueue of the "
    "namespace",
    "ClaimNotFound": "create the PersistentVolumeClaim, or name another one while stopped",
    "ClaimTerminating": "wait until it is gone and create it anew, or name another one while "
    "stopped; `kubectl describe pvc` tells which Pods still use it",
    "ClaimInUse": "stop the Instance that uses the PersistentVolumeClaim, or name another one",
    "ClaimLost": "restore its PersistentVolume, or name another claim while stopped",
    "VolumesNotMounted": "see that each exists and can be attached to the node: `kubectl describe "
    "pod` tells what the node waits for",
    "PodNotSetUp": "`kubectl describe pod` tells what the node waits for, mostly its network",
    "FinalizersLinger": "whoever set them removes them: see that it runs; Kueue removes its own "
    "when the Workload of the Pod has ended: `kubectl get workloads`",
    "EndNotConfirmed": "if the node is gone for good, delete it, or taint it with "
    "node.kubernetes.io/out-of-service",
    "NoNode": "wait for a node, or choose another type while stopped",
    "NeverFits": "ask for no more than that, or choose another type, while stopped",
    "QuotaNeedsLimits": "an administrator must give the namespace a LimitRange with defaults",
    "NodePortsExhausted": "drop ports that nobody needs; an administrator may set a quota on "
    "services.nodeports in each namespace",
    "ClaimUnbound": "see why the PersistentVolumeClaim is not bound: `kubectl describe pvc`",
    "Unschedulable": "wait for room, ask for less, or choose another type while stopped",
    "ErrImagePull": "check spec.image and spec.imagePullSecret",
    "ImagePullBackOff": "check spec.image and spec.imagePullSecret",
    "InvalidImageName": "correct spec.image while stopped",
    "ErrImageNeverPull": "the image is not on the node: set imagePullPolicy to IfNotPresent",
    "CrashLoopBackOff": "see what it printed last: `kubectl logs --previous`",
    "CreateContainerConfigError": "create what it names, or drop the reference while stopped",
    "CreateContainerError": "correct command, volumes or securityContext while stopped",
    "RunContainerError": "correct command, volumes or securityContext while stopped",
}


def with_remedy(blocker: Blocker, failures: Failures | None) -> Blocker:
    """*blocker* with what to do about it at the end of its message."""
    remedy = _REMEDIES.get(blocker.reason) or _after_failure(blocker, failures)
    if not remedy:
        return attrs.evolve(blocker, message=blocker.message[:LONGEST])
    room = LONGEST - len(remedy) - 2
    return attrs.evolve(blocker, message=f"{blocker.message[:room].rstrip('. ')}; {remedy}")


def _after_failure(blocker: Blocker, failures: Failures | None) -> str:
    if blocker.gate not in ("device", "eviction", "container") or failures is None:
        return ""
    if failures.retryAt is None:
        return (
            f"{failures.count} Pods failed in a row and no more are tried: "
            "stop and start the Instance to try again"
        )
    return f"another Pod is made at {failures.retryAt}"
