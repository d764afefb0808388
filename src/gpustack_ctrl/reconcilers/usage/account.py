"""How an Instance passes its time, drawn from its ledger and its Pod.

The operator writes the ledger with the rest of the status, so that it is never ahead of
what else is told. Who only reads it serves what no later write can take back.
"""

from datetime import datetime, timedelta

import attrs

from gpustack_ctrl.api.core import Node, Pod
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.meta import condition_of
from gpustack_ctrl.api.usage import Usage, UsageState
from gpustack_ctrl.reconcilers.claims import Claim, claim
from gpustack_ctrl.reconcilers.conditions import timestamp
from gpustack_ctrl.reconcilers.status.pod_progress import (
    READY,
    SCHEDULED,
    has_ended,
    is_scheduled,
)
from gpustack_ctrl.reconcilers.usage.charge import charge_of
from gpustack_ctrl.reconcilers.usage.ledger import Move, Totals, metered, moment, moved, whole

SETTLING = timedelta(seconds=15)
"""How long what happens may take to be seen and written by the operator."""


@attrs.frozen(kw_only=True)
class _Sight:
    """What was seen at the second *now*: *pod* is the Instance's own, *node* runs it."""

    instance: Instance
    pod: Pod | None
    node: Node | None
    now: datetime

    @property
    def wished(self) -> UsageState:
        """How the Instance passes its time while it holds nothing."""
        idle = self.instance.spec.stop or self.instance.metadata.deleting
        return UsageState.STOPPED if idle else UsageState.PENDING

    def at(self, told: str | None) -> datetime:
        """The moment *told*, or now where none is, or where it is still to come."""
        return min(moment(told), self.now) if told else self.now


def usage(instance: Instance, pod: Pod | None, node: Node | None, now: datetime) -> Usage:
    """The ledger of *instance* brought up to *now*.

    The same as before, unless something began or ended since.
    """
    seen = _sight(instance, pod, node, now)
    ledger = instance.status.usage or _begun(seen)
    while move := _next(ledger, seen):
        ledger = moved(ledger, move)
    return ledger


def served(instance: Instance, pod: Pod | None, node: Node | None, now: datetime) -> Totals | None:
    """What may be served at *now* and never has to be taken back; None: nothing is known yet.

    *pod* is whatever stands under the Instance's name, *node* what it runs on. These are
    the totals as they were a little ago, and the open interval counts for as long as its
    Pod bears it out: what comes after that is served once it is written. So the totals
    never go down, whoever restarts or is away.
    """
    ledger = instance.status.usage
    if ledger is None:
        return None
    seen = _sight(instance, pod, node, now - SETTLING)
    move = _next(ledger, seen)
    return metered(ledger, move.at if move else seen.now)


def _sight(instance: Instance, pod: Pod | None, node: Node | None, now: datetime) -> _Sight:
    own = pod if claim(instance, pod) is Claim.OURS else None
    return _Sight(instance=instance, pod=own, node=node, now=whole(now))


def _begun(seen: _Sight) -> Usage:
    """A new ledger. That of an Instance that was told of before begins with what is seen."""
    pod, metadata = seen.pod, seen.instance.metadata
    if seen.instance.status.observedGeneration is None:
        # Who was edited since, and is stopped, was mostly stopped by that.
        state = seen.wished if metadata.generation == 1 else UsageState.PENDING
        return Usage(state=state, since=timestamp(seen.at(metadata.creationTimestamp)))
    holds = pod is not None and is_scheduled(pod) and not has_ended(pod)
    since = _scheduled_at(pod, seen) if pod and holds else seen.now
    return Usage(state=seen.wished, since=timestamp(since))


def _next(ledger: Usage, seen: _Sight) -> Move | None:
    """The first thing that began after the open interval of *ledger* did, if any."""
    if ledger.state is UsageState.ALLOCATED:
        return _release(ledger, seen)
    if seen.pod is not None and is_scheduled(seen.pod) and seen.pod.metadata.uid != ledger.podUID:
        return _allocation(ledger, seen.pod, seen)
    return _change_of_mind(ledger, seen)


def _release(ledger: Usage, seen: _Sight) -> Move | None:
    """The end of what is held.

    Of a Pod that went unseen nobody knows when it did: no later than its successor came,
    and if there is none it counts until now.
    """
    pod = seen.pod
    if pod is None:
        return Move(to=seen.wished, at=seen.now)
    if pod.metadata.uid != ledger.podUID:
        return Move(to=UsageState.PENDING, at=seen.at(pod.metadata.creationTimestamp))
    return Move(to=seen.wished, at=_ended_at(pod, seen)) if has_ended(pod) else None


def _allocation(ledger: Usage, pod: Pod, seen: _Sight) -> Move:
    """The begin of what *pod* holds; if it was made for a start, that comes first."""
    if ledger.state is UsageState.STOPPED and _made_since(ledger, pod, seen):
        return Move(to=UsageState.PENDING, at=seen.at(pod.metadata.creationTimestamp))
    return Move(
        to=UsageState.ALLOCATED,
        at=_scheduled_at(pod, seen),
        charge=charge_of(seen.instance, pod),
        pod=pod.metadata.uid,
    )


def _change_of_mind(ledger: Usage, seen: _Sight) -> Move | None:
    """A start or a stop of what holds nothing: a Pod made since tells when it was started."""
    if ledger.state is seen.wished:
        return None
    pod, starts = seen.pod, seen.wished is UsageState.PENDING
    if pod is not None and starts and _made_since(ledger, pod, seen):
        return Move(to=seen.wished, at=seen.at(pod.metadata.creationTimestamp))
    return Move(to=seen.wished, at=seen.now)


def _made_since(ledger: Usage, pod: Pod, seen: _Sight) -> bool:
    """Whether *pod* was made in the open interval: a stop leaves one behind that is going."""
    made, going = pod.metadata.creationTimestamp, pod.metadata.deleting
    new = pod.metadata.uid != ledger.podUID and not going
    return new and made is not None and seen.at(made) >= moment(ledger.since)


def _scheduled_at(pod: Pod, seen: _Sight) -> datetime:
    told = condition_of(pod.status.conditions, SCHEDULED)
    bound = told.lastTransitionTime if told is not None and told.status == "True" else None
    return seen.at(bound or pod.status.startTime or pod.metadata.creationTimestamp)


def _ended_at(pod: Pod, seen: _Sight) -> datetime:
    """When the last container of *pod* ended, or its node could tell of it again."""
    ends = (held.state.terminated for held in pod.status.containerStatuses)
    told = [seen.at(end.finishedAt) for end in ends if end and end.finishedAt]
    answers = condition_of(seen.node.status.conditions, READY) if seen.node else None
    if told and answers is not None and answers.status == "True" and answers.lastTransitionTime:
        told.append(seen.at(answers.lastTransitionTime))
    return max(told, default=seen.now)
