"""The arithmetic of the ledger: intervals that follow one another, and what they sum up to.

Moments have whole seconds, as the API server writes them. An interval ends at the very
moment at which the next one begins, so nothing is lost to rounding.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import attrs

from gpustack_ctrl.api.usage import AllocatedTime, Charge, Usage, UsageFamily, UsageState
from gpustack_ctrl.reconcilers.conditions import timestamp

OTHERS = "*"
"""Stands for the types that a ledger has no room for; no type can be called so."""
NAMED = 59
"""Pairs of type and family that a ledger tells apart; one for each family is left."""

Key = tuple[str, UsageFamily]


@attrs.frozen(kw_only=True)
class Move:
    """The state that an Instance passes to, and when; *charge* and *pod* if it is Allocated."""

    to: UsageState
    at: datetime
    charge: Charge | None = None
    pod: str = ""


@attrs.frozen(kw_only=True)
class Held:
    """Time for which something was held, in seconds."""

    seconds: float = 0
    accelerator_seconds: float = 0


@attrs.frozen(kw_only=True)
class Totals:
    """How an Instance passed its time, in seconds; *allocated* by type and family."""

    allocated: Mapping[Key, Held]
    pending_seconds: float
    stopped_seconds: float


def metered(usage: Usage, now: datetime) -> Totals:
    """What *usage* comes to at *now*: its totals, and the time since then."""
    open_for = max(0.0, (now - moment(usage.since)).total_seconds())
    pending = open_for if usage.state is UsageState.PENDING else 0
    stopped = open_for if usage.state is UsageState.STOPPED else 0
    return Totals(
        allocated=_held(usage, open_for),
        pending_seconds=usage.pendingSeconds + pending,
        stopped_seconds=usage.stoppedSeconds + stopped,
    )


def moved(ledger: Usage, move: Move) -> Usage:
    """*ledger* with its open interval closed where the one of *move* begins.

    No interval ends before it began, whatever the clocks say.
    """
    end = max(move.at, moment(ledger.since))
    return attrs.evolve(
        _closed(ledger, int((end - moment(ledger.since)).total_seconds())),
        state=move.to,
        since=timestamp(end),
        charge=move.charge,
        podUID=move.pod or ledger.podUID,
    )


def moment(told: str) -> datetime:
    """The time *told*, in UTC and whole seconds."""
    return whole(datetime.fromisoformat(told))


def whole(time: datetime) -> datetime:
    """The second that *time* is in, in UTC."""
    return time.astimezone(UTC).replace(microsecond=0)


def _closed(ledger: Usage, seconds: int) -> Usage:
    match ledger.state:
        case UsageState.PENDING:
            return attrs.evolve(ledger, pendingSeconds=ledger.pendingSeconds + seconds)
        case UsageState.STOPPED:
            return attrs.evolve(ledger, stoppedSeconds=ledger.stoppedSeconds + seconds)
        case UsageState.ALLOCATED:
            return attrs.evolve(ledger, allocated=_entries(ledger, seconds))


def _entries(ledger: Usage, seconds: int) -> tuple[AllocatedTime, ...]:
    """The time allocated, by type and family; nothing is noted of no time at all."""
    held = ((key, time) for key, time in _held(ledger, seconds).items() if time.seconds)
    return tuple(
        AllocatedTime(
            type=kind,
            family=family,
            seconds=int(time.seconds),
            acceleratorSeconds=int(time.accelerator_seconds),
        )
        for (kind, family), time in held
    )


def _held(usage: Usage, open_for: float) -> Mapping[Key, Held]:
    """The time allocated, that of the open interval included."""
    held = {
        (told.type, told.family): Held(
            seconds=told.seconds, accelerator_seconds=told.acceleratorSeconds
        )
        for told in usage.allocated
    }
    charge = usage.charge
    if usage.state is not UsageState.ALLOCATED or charge is None:
        return held
    key = _room_for((charge.type, charge.family), held)
    before = held.get(key, Held())
    held[key] = Held(
        seconds=before.seconds + open_for,
        accelerator_seconds=before.accelerator_seconds + open_for * charge.accelerators,
    )
    return held


def _room_for(key: Key, held: Iterable[Key]) -> Key:
    """*key*, or the one for all others of its family once too many have a name."""
    named = [taken for taken in held if taken[0] != OTHERS]
    return key if key in named or len(named) < NAMED else (OTHERS, key[1])
