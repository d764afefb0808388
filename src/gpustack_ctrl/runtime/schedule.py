"""Which keys are wanted, when, and which a worker holds: the queue without its waiting.

A key has at most one wish. The wish *waits* until it is due; then it is *ready*, or,
as long as a worker holds the key, *put off* until the worker lets go. Nothing here
reads a clock: the caller says what time it is, and never goes back.
"""

import heapq
import itertools
from collections import OrderedDict
from collections.abc import Hashable
from enum import IntEnum
from typing import Generic, TypeVar

import attrs

K = TypeVar("K", bound=Hashable)

HIGH_BETWEEN_LOW = 10
"""While low wishes are ready, one of them follows after so many high ones."""

SLACK = 64
"""Abandoned heap entries that are tolerated, beyond one for each waiting key."""


class Priority(IntEnum):
    """How urgent a wish is: live changes come before the flood of a first list."""

    LOW = -100
    HIGH = 0


@attrs.frozen
class _Waiting:
    due: float
    priority: Priority
    ticket: int


@attrs.frozen(kw_only=True)
class Taken(Generic[K]):
    """A key that was handed out, and the seconds for which it had been ready."""

    key: K
    waited: float


class Schedule(Generic[K]):
    """The wishes for keys, in the order in which they are to be granted.

    Guarantees: a held key is not handed out; wishes of one class are granted in the
    order in which they became ready; a wish is merged into an earlier one for the same
    key, which keeps the earlier time and the higher priority.
    """

    def __init__(self) -> None:
        self._waiting: dict[K, _Waiting] = {}
        self._by_time: list[tuple[float, int, K]] = []
        self._tickets = itertools.count()
        self._ready: dict[Priority, OrderedDict[K, float]] = {p: OrderedDict() for p in Priority}
        self._held: dict[K, Priority] = {}
        self._put_off: dict[K, Priority] = {}
        self._high_in_a_row = 0
        self.became_ready = 0

    def want(self, key: K, *, now: float, due: float, priority: Priority | None = None) -> None:
        """Ask for *key* once it is *due*.

        Without *priority* the wish has that of the pass which holds the key, or is high.
        """
        self.promote(now)
        wish = self._held.get(key, Priority.HIGH) if priority is None else priority
        if self._due_already(key):
            self._raise(key, wish)
            return
        earlier = self._waiting.pop(key, None)
        if earlier is not None:
            due, wish = min(due, earlier.due), max(wish, earlier.priority)
        if earlier is not None and due == earlier.due:
            self._waiting[key] = attrs.evolve(earlier, priority=wish)
        elif due <= now:
            self._become_due(key, wish, since=now)
        else:
            self._wait(key, due, wish)

    def take(self, now: float) -> Taken[K] | None:
        """Hand out the next ready key; None when there is none."""
        self.promote(now)
        priority = self._next_class()
        if priority is None:
            return None
        key, since = self._ready[priority].popitem(last=False)
        self._held[key] = priority
        return Taken(key=key, waited=now - since)

    def release(self, key: K, *, now: float) -> None:
        """End the hold on *key*; what was wanted meanwhile becomes ready.

        Raises ValueError when nobody holds *key*.
        """
        self.promote(now)
        if key not in self._held:
            raise ValueError(f"{key} is not held by any worker: done() must follow get()")
        del self._held[key]
        if key in self._put_off:
            self._become_due(key, self._put_off.pop(key), since=now)

    def promote(self, now: float) -> None:
        """Turn the wishes that are due by *now* into ready ones."""
        while (due := self.next_due()) is not None and due <= now:
            key = heapq.heappop(self._by_time)[2]
            self._become_due(key, self._waiting.pop(key).priority, since=due)

    def next_due(self) -> float | None:
        """When the next waiting wish is due; None when none waits."""
        while self._by_time and self._abandoned(self._by_time[0]):
            heapq.heappop(self._by_time)
        return self._by_time[0][0] if self._by_time else None

    def depth(self, priority: Priority) -> int:
        """How many keys of that class are ready."""
        return len(self._ready[priority])

    def __len__(self) -> int:
        """How many keys are ready."""
        return sum(len(keys) for keys in self._ready.values())

    @property
    def footprint(self) -> int:
        """How many entries are kept in all, abandoned ones included."""
        return len(self) + len(self._by_time) + len(self._held) + len(self._put_off)

    def _next_class(self) -> Priority | None:
        """Whose turn it is; counts how long the low class has been passed over."""
        high, low = self._ready[Priority.HIGH], self._ready[Priority.LOW]
        if low and (not high or self._high_in_a_row >= HIGH_BETWEEN_LOW):
            self._high_in_a_row = 0
            return Priority.LOW
        self._high_in_a_row = self._high_in_a_row + 1 if low else 0
        return Priority.HIGH if high else None

    def _due_already(self, key: K) -> bool:
        return key in self._put_off or any(key in keys for keys in self._ready.values())

    def _raise(self, key: K, priority: Priority) -> None:
        if key in self._put_off:
            self._put_off[key] = max(priority, self._put_off[key])
        elif priority is Priority.HIGH and key in self._ready[Priority.LOW]:
            self._ready[Priority.HIGH][key] = self._ready[Priority.LOW].pop(key)

    def _become_due(self, key: K, priority: Priority, *, since: float) -> None:
        if key in self._held:
            self._put_off[key] = priority
            return
        self._ready[priority][key] = since
        self.became_ready += 1

    def _wait(self, key: K, due: float, priority: Priority) -> None:
        waiting = _Waiting(due, priority, next(self._tickets))
        self._waiting[key] = waiting
        heapq.heappush(self._by_time, (due, waiting.ticket, key))
        if len(self._by_time) > 2 * len(self._waiting) + SLACK:
            self._sweep()

    def _abandoned(self, entry: tuple[float, int, K]) -> bool:
        _, ticket, key = entry
        waiting = self._waiting.get(key)
        return waiting is None or waiting.ticket != ticket

    def _sweep(self) -> None:
        """Drop abandoned entries, which a far due time would keep for hours."""
        self._by_time = [(w.due, w.ticket, key) for key, w in self._waiting.items()]
        heapq.heapify(self._by_time)
