"""What takes too long while nobody says a word: told after a while, and without an event.

A kubelet that waits for a volume writes it into an event, which may be lost or belong to
an earlier Pod; its Pod says only that it is not set up. So the references are named.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from gpustack_ctrl.api.core import Pod
from gpustack_ctrl.api.instance import InstanceSpec
from gpustack_ctrl.api.instance_status import Blocker
from gpustack_ctrl.api.meta import condition_of
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot
from gpustack_ctrl.reconcilers.status.pod_progress import has_ended, is_scheduled

SET_UP_TIME = timedelta(seconds=30)
"""How long a kubelet may take to mount volumes and to make a network."""
ENDING_TIME = timedelta(seconds=10)
"""How long finalizers may keep a Pod after its grace period."""
CONFIRM_TIME = timedelta(seconds=30)
"""How long a kubelet may take after it to unmount volumes, and to say that the Pod is gone."""

_SET_UP = "PodReadyToStartContainers"


def lingering(seen: InstanceSnapshot) -> Blocker | None:
    """Who keeps the Pod under the Instance's name, ours or an earlier one, from being gone."""
    pod = seen.pod
    if pod is None or not _is_past(_end_due(pod), seen.now):
        return None
    if pod.metadata.finalizers:
        held = ", ".join(pod.metadata.finalizers)
        message = f"the Pod has ended, but finalizers keep it: {held}"
        return Blocker(gate="finalizer", reason="FinalizersLinger", message=message, owner="admin")
    message = f"node {pod.spec.nodeName or '?'} has not confirmed that the Pod has ended"
    return Blocker(gate="node", reason="EndNotConfirmed", message=message, owner="admin")


def not_set_up(seen: InstanceSnapshot, pod: Pod) -> Blocker | None:
    """What the kubelet may be waiting for, once it has been waiting for long."""
    if not _is_past(_set_up_due(pod), seen.now):
        return None
    waited = f"node {pod.spec.nodeName} has not set the Pod up for {SET_UP_TIME.seconds} s"
    named = ", ".join(_references(seen.instance.spec))
    if named:
        message = f"{waited}; it needs {named}"
        return Blocker(gate="volume", reason="VolumesNotMounted", message=message)
    return Blocker(gate="container", reason="PodNotSetUp", message=waited, owner="admin")


def seconds_to_overdue(seen: InstanceSnapshot) -> float | None:
    """How long until the next of these is to be told; None if none can come."""
    if seen.pod is None:
        return None
    due = _end_due(seen.pod) if seen.pod.metadata.deleting else _set_up_due(seen.pod)
    if due is None or due <= seen.now:
        return None
    return (due - seen.now).total_seconds()


def _end_due(pod: Pod) -> datetime | None:
    """When a Pod that is being deleted should be gone; its own time is the end of its grace."""
    ends = pod.metadata.deletionTimestamp
    allowed = ENDING_TIME if pod.metadata.finalizers else CONFIRM_TIME
    return None if ends is None else datetime.fromisoformat(ends) + allowed


def _set_up_due(pod: Pod) -> datetime | None:
    told = condition_of(pod.status.conditions, _SET_UP)
    waits = told is not None and told.status == "False" and told.lastTransitionTime
    if told is None or not waits or not is_scheduled(pod) or has_ended(pod):
        return None
    since = told.lastTransitionTime
    return None if since is None else datetime.fromisoformat(since) + SET_UP_TIME


def _is_past(due: datetime | None, now: datetime) -> bool:
    return due is not None and now >= due


def _references(spec: InstanceSpec) -> Iterator[str]:
    """What the volumes of the Instance stand for, by kind and name."""
    if spec.volume is not None and spec.volume.persistent is not None:
        yield f"PersistentVolumeClaim {spec.volume.persistent.name}"
    for volume in spec.additionalVolumes:
        if volume.persistent is not None:
            yield f"PersistentVolumeClaim {volume.persistent.name}"
        if volume.configMap is not None:
            yield f"ConfigMap {volume.configMap.name}"
        if volume.secret is not None:
            yield f"Secret {volume.secret.name}"
        if volume.hostPath is not None:
            yield f"path {volume.hostPath.path} of the node"
