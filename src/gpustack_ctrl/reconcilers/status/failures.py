"""Pods that failed: what is kept of them, and when another one is tried.

A failed Pod stays until its end is written down and its time has come; so nothing is
forgotten when the operator dies in between, and there is never more than one.
"""

from datetime import datetime, timedelta

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import ContainerTerminated, Pod
from gpustack_ctrl.api.instance_status import Failures, LastTermination
from gpustack_ctrl.reconcilers.conditions import LONGEST, timestamp
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot
from gpustack_ctrl.reconcilers.status.pod_end import disruption, message_of, reason_of
from gpustack_ctrl.reconcilers.status.pod_progress import has_ended

MOST = 6
FIRST_WAIT = timedelta(seconds=10)
LONGEST_WAIT = timedelta(minutes=5)
EXCUSED_WAIT = timedelta(seconds=10)
LONG_RUN = timedelta(minutes=10)

_EXCUSED = frozenset({"Preempting", "NodeAffinity", "NodeShutdown", "Shutdown", "Terminated"})
_EXCUSED_DISRUPTIONS = frozenset(
    {"PreemptionByScheduler", "EvictionByEvictionAPI", "DeletionByTaintManager"}
)
_NO_ROOM = "OutOf"


def failures(seen: InstanceSnapshot, pod: Pod | None) -> Failures | None:
    """The failures in a row, *pod* included if it failed."""
    before = _still_counted(seen)
    if pod is None or not has_ended(pod) or (before is not None and _counted(before, pod)):
        return before
    excused = is_excused(pod)
    so_far = before.count if before is not None and not _ran_long(pod, seen.now) else 0
    count = so_far if excused else so_far + 1
    return Failures(
        count=count,
        podUID=pod.metadata.uid,
        retryAt=_retry_at(count, seen.now, excused=excused),
        generation=seen.instance.metadata.generation,
        typeGeneration=_type_generation(seen),
    )


def may_be_replaced(seen: InstanceSnapshot, pod: Pod) -> bool:
    """Whether the failed *pod* is written down, and the time for another one has come."""
    told = seen.instance.status.failures
    if told is None or told.podUID != pod.metadata.uid:
        return False
    if _still_counted(seen) is None:
        return True
    return told.retryAt is not None and seen.now >= datetime.fromisoformat(told.retryAt)


def seconds_to_retry(told: Failures | None, now: datetime) -> float | None:
    """How long until the failed Pod may be replaced; None if it never is by itself."""
    if told is None or told.retryAt is None:
        return None
    return max(0.0, (datetime.fromisoformat(told.retryAt) - now).total_seconds())


def last_termination(seen: InstanceSnapshot, pod: Pod | None) -> LastTermination | None:
    """How the workload ended last; what is known already is kept.

    An end that was asked for, by a stop or a restart, is none to be told.
    """
    before = seen.instance.status.lastTermination
    if pod is None or seen.instance.spec.stop:
        return before
    if has_ended(pod) or disruption(pod):
        return _newer(before, _of_pod(seen, pod))
    ended = _ended_inside(pod)
    if ended is None or pod.metadata.deleting:
        return before
    if before is not None and before.finishedAt == ended.finishedAt:
        return before
    return _of_container(pod, ended)


def _newer(before: LastTermination | None, found: LastTermination) -> LastTermination:
    """*found*, unless it was told *before*: then the time of its first telling stays."""
    if before is None or (before.podUID, before.reason) != (found.podUID, found.reason):
        return found
    return before


def is_excused(pod: Pod) -> bool:
    """Whether the Pod ended through no fault of its own: it made room, or found none."""
    reason, told = reason_of(pod), disruption(pod)
    return (
        reason in _EXCUSED
        or reason.startswith(_NO_ROOM)
        or (told is not None and told.reason in _EXCUSED_DISRUPTIONS)
    )


def _still_counted(seen: InstanceSnapshot) -> Failures | None:
    """What was counted under the spec and the type as they are now."""
    told = seen.instance.status.failures
    now = (seen.instance.metadata.generation, _type_generation(seen))
    return told if told and (told.generation, told.typeGeneration) == now else None


def _type_generation(seen: InstanceSnapshot) -> int | None:
    return seen.type.metadata.generation if seen.type else None


def _counted(told: Failures, pod: Pod) -> bool:
    return told.podUID == pod.metadata.uid


def _ran_long(pod: Pod, now: datetime) -> bool:
    started = pod.status.startTime
    return started is not None and now - datetime.fromisoformat(started) > LONG_RUN


def _retry_at(count: int, now: datetime, *, excused: bool) -> str | None:
    if excused:
        return timestamp(now + EXCUSED_WAIT)
    if count >= MOST:
        return None
    return timestamp(now + min(FIRST_WAIT * 2 ** (count - 1), LONGEST_WAIT))


def _of_pod(seen: InstanceSnapshot, pod: Pod) -> LastTermination:
    """The reason on the Pod, else the one on its container: some ends leave none there."""
    ended = _ended(pod)
    return LastTermination(
        reason=reason_of(pod) or (ended.reason if ended else "PodFailed"),
        message=(message_of(pod) or (ended.message if ended else ""))[:LONGEST],
        exitCode=ended.exitCode if ended else None,
        signal=(ended.signal or None) if ended else None,
        node=pod.spec.nodeName,
        podUID=pod.metadata.uid,
        finishedAt=(ended.finishedAt if ended else None) or timestamp(seen.now),
        dataLost=_is_ephemeral(seen),
    )


def _of_container(pod: Pod, ended: ContainerTerminated) -> LastTermination:
    return LastTermination(
        reason=ended.reason or "Exited",
        message=ended.message[:LONGEST],
        exitCode=ended.exitCode,
        signal=ended.signal or None,
        node=pod.spec.nodeName,
        podUID=pod.metadata.uid,
        finishedAt=ended.finishedAt,
    )


def _ended_inside(pod: Pod) -> ContainerTerminated | None:
    """How `main` ended last while its Pod lives on."""
    told = pod.container_status(names.MAIN)
    return (told.state.terminated or told.lastState.terminated) if told else None


def _ended(pod: Pod) -> ContainerTerminated | None:
    told = pod.container_status(names.MAIN)
    return told.state.terminated if told else None


def _is_ephemeral(seen: InstanceSnapshot) -> bool:
    volume = seen.instance.spec.volume
    return volume is None or volume.persistent is None
