"""What becomes of an occurrence: a new Event, a count in one that is there, or nothing.

Nothing here waits or writes. Times of day are for people; *at* is in seconds of a
monotonic clock. One correlator serves one process, so the reporting controller and its
instance, which are the same for all of them, tell no series from another.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Literal

import attrs

FINISH_SECONDS = 360.0
REFRESH_SECONDS = 1800.0
MOST_UNTOLD = 1000
MOST_SERIES = 4096
BURST = 25
REFILL_SECONDS = 300.0

EventType = Literal["Normal", "Warning"]
_FIRST_REPETITION = 2
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@attrs.frozen(kw_only=True)
class ObjectReference:
    """An object that an Event speaks of; *namespace* is empty for a cluster-scoped one."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    uid: str = ""


@attrs.frozen(kw_only=True)
class Occurrence:
    """Something happened: *reason* is one CamelCase word, *action* a verb."""

    regarding: ObjectReference
    type: EventType
    reason: str
    action: str
    note: str = ""
    related: ObjectReference | None = None

    @property
    def key(self) -> "Occurrence":
        """What it has in common with its repetitions: everything but the *note*."""
        return attrs.evolve(self, note="")


class Verdict(Enum):
    """What is done about an occurrence."""

    WRITE = "written at once"
    COUNT = "counted, and written later"
    SPAM = "dropped: there were too many of this object"
    OVERFLOW = "dropped: too many wait for the API server"


@attrs.define(kw_only=True)
class Series:
    """An occurrence and its repetitions: one Event.

    *told* is the count that the API server knows of, 0 while it does not have the Event.
    """

    first: Occurrence
    name: str
    began: datetime
    last: datetime
    heard: float
    count: int = 1
    told: int = 0
    told_at: float = 0.0
    tries: int = 0

    @property
    def key(self) -> Occurrence:
        """What all its occurrences have in common."""
        return self.first.key

    def hear(self, *, now: datetime, at: float) -> Verdict:
        """Count a repetition: the first one is told at once."""
        self.count += 1
        self.last = now
        self.heard = at
        at_once = self.told == 1 and self.count == _FIRST_REPETITION
        return Verdict.WRITE if at_once else Verdict.COUNT

    def is_over(self, at: float) -> bool:
        """Whether it has been quiet for so long that another occurrence is a new Event."""
        return at - self.heard >= FINISH_SECONDS

    def is_due(self, at: float) -> bool:
        """Whether the API server should be told now."""
        if self.count == self.told:
            return False
        return self.told <= 1 or self.is_over(at) or at - self.told_at >= REFRESH_SECONDS

    def wait(self, at: float) -> float:
        """The seconds until it is due, or over, if nothing more happens."""
        end = self.heard + FINISH_SECONDS
        due = end if self.count == self.told else min(end, self.told_at + REFRESH_SECONDS)
        return max(0.0, due - at)


@attrs.define
class Allowance:
    """How many new Events one object may still have."""

    left: float
    counted_at: float

    def take(self, at: float) -> bool:
        """Use one up, if there is one."""
        earned = (at - self.counted_at) / REFILL_SECONDS
        self.left = min(self.left + earned, float(BURST))
        self.counted_at = at
        if self.left < 1:
            return False
        self.left -= 1
        return True


@attrs.define
class Correlator:
    """The series under way, by the key of their occurrences.

    Guarantees: a key has one Event until all of it is told and it was quiet for
    `FINISH_SECONDS`; of one object
    come at most `BURST` new Events at once and one each `REFILL_SECONDS` after that; no
    more than `MOST_UNTOLD` wait to be created; memory is bounded.
    """

    _series: dict[Occurrence, Series] = attrs.field(factory=dict, init=False)
    _untold: set[Occurrence] = attrs.field(factory=set, init=False)
    _allowances: dict[ObjectReference, Allowance] = attrs.field(factory=dict, init=False)
    _named: int = attrs.field(default=0, init=False)

    def note(self, occurrence: Occurrence, *, now: datetime, at: float) -> Verdict:
        """Take in *occurrence*, and say what is to be done about it."""
        held = self._series.get(occurrence.key)
        if held is not None and (held.count > held.told or not held.is_over(at)):
            return held.hear(now=now, at=at)
        if len(self._untold) >= MOST_UNTOLD:
            return Verdict.OVERFLOW
        if not self._allowed(occurrence.regarding, at):
            return Verdict.SPAM
        self._begin(occurrence, now=now, at=at)
        return Verdict.WRITE

    def get(self, key: Occurrence) -> Series | None:
        """The series of *key*, if one is under way."""
        return self._series.get(key)

    def told(self, held: Series, count: int, *, at: float) -> None:
        """The API server knows that *held* occurred *count* times."""
        held.told, held.told_at, held.tries = count, at, 0
        if self._is_under_way(held):
            self._untold.discard(held.key)

    def gone(self, held: Series, *, now: datetime) -> None:
        """The Event of *held* is not there any more: another one must be made."""
        held.told, held.name = 0, self._name(held.key, now)
        if self._is_under_way(held):
            self._untold.add(held.key)

    def forget(self, held: Series) -> None:
        """End the series *held*; a later one of the same key lives on."""
        if self._is_under_way(held):
            del self._series[held.key]
            self._untold.discard(held.key)

    def unfinished(self) -> Iterator[Occurrence]:
        """The keys of which the API server does not know all."""
        return iter([key for key, held in self._series.items() if held.count > held.told])

    def __len__(self) -> int:
        """How many series are under way."""
        return len(self._series)

    def _is_under_way(self, held: Series) -> bool:
        return self._series.get(held.key) is held

    def _begin(self, occurrence: Occurrence, *, now: datetime, at: float) -> None:
        key = occurrence.key
        self._series.pop(key, None)  # So that it counts as the youngest.
        if len(self._series) >= MOST_SERIES:
            self.forget(next(iter(self._series.values())))
        name = self._name(key, now)
        self._series[key] = Series(first=occurrence, name=name, began=now, last=now, heard=at)
        self._untold.add(key)

    def _allowed(self, regarding: ObjectReference, at: float) -> bool:
        held = self._allowances.pop(regarding, None) or Allowance(float(BURST), at)
        if len(self._allowances) >= MOST_SERIES:
            del self._allowances[next(iter(self._allowances))]
        self._allowances[regarding] = held  # The last one used is the last one dropped.
        return held.take(at)

    def _name(self, key: Occurrence, now: datetime) -> str:
        """A name that no other Event has: the object's, and the time in hexadecimal."""
        self._named = max(self._named + 1, (now - _EPOCH) // timedelta(microseconds=1))
        return f"{key.regarding.name[:200].rstrip('.-')}.{self._named:x}"
