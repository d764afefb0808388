"""Why a Pod ended, in the words of whoever ended it."""

from gpustack_ctrl.api.core import Pod
from gpustack_ctrl.api.meta import Condition, condition_of

_DISRUPTED = "DisruptionTarget"
_BY_KUBELET = "TerminationByKubelet"
# How the kubelet's sentences begin that are not about an eviction.
_REASONS = {"Preempted": "Preempting", "Pod was terminated": "Terminated"}


def disruption(pod: Pod) -> Condition | None:
    """What is told of the end that somebody has decided on for the Pod."""
    told = condition_of(pod.status.conditions, _DISRUPTED)
    return told if told is not None and told.status == "True" else None


def reason_of(pod: Pod) -> str:
    """The reason on the Pod, or that of its disruption; blank if there is neither.

    Where every container ends with 0, the kubelet forgets the reason that it gave the Pod, and
    calls it Succeeded; only the condition stays.
    """
    told = disruption(pod)
    if pod.status.reason or told is None:
        return pod.status.reason
    return _of_kubelet(told.message) if told.reason == _BY_KUBELET else told.reason


def message_of(pod: Pod) -> str:
    """The sentence on the Pod, or that of its disruption; blank if there is neither."""
    told = disruption(pod)
    return pod.status.message or (told.message if told else "")


def _of_kubelet(message: str) -> str:
    found = (reason for begins, reason in _REASONS.items() if message.startswith(begins))
    return next(found, "Evicted")
