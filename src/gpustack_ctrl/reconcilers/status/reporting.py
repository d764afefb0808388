"""When a changed status is worth a write.

What only tells that a start gets on, or that we are about to mend something, is soon
overtaken: it waits a little and is mostly never written. So does the same news in other
words: sentences may hold figures, or an identity of the request, that never are the same
twice, and each write wakes the next pass. All else is told at once.
"""

import attrs

from gpustack_ctrl.api.instance_status import InstanceStatus, Phase
from gpustack_ctrl.api.meta import condition_of
from gpustack_ctrl.api.usage import UsageState

FIRST_WAIT_SECONDS = 1.0
FOR_EACH_OTHER_SECONDS = 0.05
LONGEST_SECONDS = 30.0
BETWEEN_SECONDS = 5.0

_ON_THE_WAY = frozenset({None, Phase.PENDING, Phase.STARTING})
_PASSING = frozenset({"PolicyPending", "ServicePending"})
"""What we are about to mend ourselves, in no time."""


def only_progress(before: InstanceStatus, after: InstanceStatus) -> bool:
    """Whether *after* tells no more than what will be over before anybody reads it."""
    if _holder_is_going(before, after):
        return False
    if _reason(after) in _PASSING and before.phase is Phase.READY:
        return True
    return _on_the_way(before) and _on_the_way(after)


def only_words(before: InstanceStatus, after: InstanceStatus) -> bool:
    """Whether *after* tells the same as *before*, in other sentences."""
    return before != after and _without_words(before) == _without_words(after)


def due(*, noticed: float, written: float | None, others: int = 0) -> float:
    """When progress that was *noticed* first may be written, the last time being *written*.

    The more *others* are on their way, the longer each takes, and the longer it waits.
    """
    first = noticed + min(FIRST_WAIT_SECONDS + others * FOR_EACH_OTHER_SECONDS, LONGEST_SECONDS)
    return first if written is None else max(first, written + BETWEEN_SECONDS)


def _without_words(told: InstanceStatus) -> InstanceStatus:
    held = told.blocker
    return attrs.evolve(
        told,
        message="",
        blocker=attrs.evolve(held, message="") if held else None,
        conditions=tuple(attrs.evolve(said, message="") for said in told.conditions),
    )


def _on_the_way(told: InstanceStatus) -> bool:
    held_back = told.blocker is not None and told.blocker.reason not in _PASSING
    return told.phase in _ON_THE_WAY and not held_back


def _holder_is_going(before: InstanceStatus, after: InstanceStatus) -> bool:
    """Whether a Pod is going of which nobody would know any more what it held."""
    held, noted = after.usage, before.usage.podUID if before.usage else ""
    if held is None or held.state is not UsageState.ALLOCATED or held.podUID == noted:
        return False
    return after.phase is Phase.PENDING


def _reason(told: InstanceStatus) -> str:
    ready = condition_of(told.conditions, "Ready")
    return ready.reason if ready else ""
