"""Statements about an object, and the conditions that they become."""

from collections.abc import Iterable
from datetime import datetime

import attrs

from gpustack_ctrl.api.meta import Condition, ConditionStatus, condition_of

LONGEST = 4096
"""The characters of a message that the API server takes."""


@attrs.frozen
class Statement:
    """A condition without its history."""

    type: str
    status: ConditionStatus
    reason: str
    message: str = ""


def stated(
    statements: Iterable[Statement],
    before: Iterable[Condition],
    *,
    generation: int | None,
    now: datetime,
) -> tuple[Condition, ...]:
    """The conditions that *statements* become: only a new status has a new time."""
    history = tuple(before)
    return tuple(
        Condition(
            type=said.type,
            status=said.status,
            reason=said.reason,
            message=said.message[:LONGEST],
            lastTransitionTime=_since(said, condition_of(history, said.type), now),
            observedGeneration=generation,
        )
        for said in statements
    )


def timestamp(moment: datetime) -> str:
    """*moment* as the API server writes it: UTC, whole seconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _since(said: Statement, before: Condition | None, now: datetime) -> str | None:
    if before is not None and before.status == said.status:
        return before.lastTransitionTime
    return timestamp(now)
