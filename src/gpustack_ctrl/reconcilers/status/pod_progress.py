"""How far the Pod of an Instance has come, and what keeps it."""

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import ContainerStatus, Node, Pod
from gpustack_ctrl.api.instance_status import Blocker
from gpustack_ctrl.api.meta import Condition, condition_of
from gpustack_ctrl.reconcilers.status.pod_end import message_of, reason_of

READY = "Ready"
SCHEDULED = "PodScheduled"
_IMAGE_TROUBLE = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"}
)
_CONTAINER_TROUBLE = frozenset(
    {"CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError", "RunContainerError"}
)


def has_ended(pod: Pod) -> bool:
    """Whether the Pod has ended for good: the kubelet will not start it again."""
    return pod.status.phase in ("Failed", "Succeeded")


def is_ready(pod: Pod) -> bool:
    """Whether the kubelet says that the Pod is Ready, and has not ended it since."""
    return _holds(pod, READY) and not has_ended(pod)


def is_scheduled(pod: Pod) -> bool:
    """Whether the Pod has a node."""
    return bool(pod.spec.nodeName) or _holds(pod, SCHEDULED)


def is_gated(pod: Pod) -> bool:
    """Whether a queue holds the Pod back from the scheduler."""
    return bool(pod.spec.schedulingGates)


def is_unschedulable(pod: Pod) -> bool:
    """Whether the scheduler looked for a node and found none."""
    told = condition_of(pod.status.conditions, SCHEDULED)
    return not is_scheduled(pod) and told is not None and told.reason == "Unschedulable"


def is_lost(pod: Pod, node: Node | None) -> bool:
    """Whether nothing can be known of the Pod, because its node does not answer."""
    if pod.status.reason == "NodeLost":
        return True
    told = condition_of(node.status.conditions, READY) if node else None
    return told is not None and told.status == "Unknown"


def trouble(pod: Pod) -> Blocker | None:
    """What keeps the Pod from being Ready, in the words of whoever said it."""
    if has_ended(pod):
        return _failed(pod)
    if is_gated(pod):
        gates = ", ".join(gate.name for gate in pod.spec.schedulingGates)
        queue = pod.metadata.labels.get(names.QUEUE_NAME)
        where = f" by LocalQueue {queue}" if queue else ""
        message = f"waits for its scheduling gates to be lifted{where}: {gates}"
        return Blocker(gate="queue", reason="SchedulingGated", message=message, owner="admin")
    if not is_scheduled(pod):
        return _unscheduled(condition_of(pod.status.conditions, SCHEDULED))
    containers = (*pod.status.initContainerStatuses, *pod.status.containerStatuses)
    return next((told for told in map(_waiting, containers) if told), None)


def _holds(pod: Pod, kind: str) -> bool:
    told = condition_of(pod.status.conditions, kind)
    return told is not None and told.status == "True"


def _failed(pod: Pod) -> Blocker:
    reason = reason_of(pod) or "PodFailed"
    gate = _FAILED_AT.get(reason, "container")
    message = message_of(pod) or f"the Pod failed: {reason}"
    return Blocker(gate=gate, reason=reason, message=message, owner="cluster")


_FAILED_AT = {"UnexpectedAdmissionError": "device", "Evicted": "eviction"}


def _unscheduled(told: Condition | None) -> Blocker | None:
    if told is None or told.reason != "Unschedulable":
        return None
    sentence = told.message.lower()
    if "persistentvolumeclaim" in sentence:
        found = (reason for sign, reason in _CLAIM_TROUBLE if sign in sentence)
        reason = next(found, "ClaimUnbound")
        return Blocker(gate="volume", reason=reason, message=told.message)
    if "persistent volume" in sentence and "insufficient" not in sentence:
        return Blocker(gate="volume", reason="ClaimUnbound", message=told.message)
    return Blocker(gate="scheduling", reason=told.reason, message=told.message, owner="admin")


# What the scheduler says of a claim, in lower case. Since it may end any sentence with a
# bare "not found", of nodes to preempt on, the quote before it counts.
_CLAIM_TROUBLE = (
    ('" not found', "ClaimNotFound"),
    ("is being deleted", "ClaimTerminating"),
    ("readwriteoncepod", "ClaimInUse"),
    ("non-existent persistentvolume", "ClaimLost"),
)


def _waiting(container: ContainerStatus) -> Blocker | None:
    waiting = container.state.waiting
    if waiting is None:
        return None
    if waiting.reason in _IMAGE_TROUBLE:
        message = waiting.message or f"the image of {container.name} cannot be pulled"
        return Blocker(gate="image", reason=waiting.reason, message=message)
    if waiting.reason in _CONTAINER_TROUBLE:
        message = f"{waiting.message or waiting.reason}{_last_end(container)}"
        return Blocker(gate="container", reason=waiting.reason, message=message)
    return None


def _last_end(container: ContainerStatus) -> str:
    ended = container.lastState.terminated
    if ended is None:
        return ""
    return f" (last exit code {ended.exitCode}, {ended.reason or 'no reason'})"


def restarts(pod: Pod) -> int:
    """How often the workload restarted inside its Pod."""
    told = pod.container_status(names.MAIN)
    return told.restartCount if told else 0
