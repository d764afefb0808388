"""Whether the caches have seen what we wrote.

After a write the cache still shows the world before it, and a pass that believes it
creates twice or undoes its own work. So a pass notes what it wrote, and the next one is
put off until the caches are that far. This only ever delays: after a bounded time, or
where versions cannot be compared, the gate is open, and the API server's own checks
(names, UIDs, preconditions) are what is left.
"""

from collections.abc import Callable
from typing import Protocol, TypeAlias

import attrs

from gpustack_ctrl.api.meta import Object, ObjectKey
from gpustack_ctrl.runtime.revision import revision_of

LONGEST_WAIT_SECONDS = 5.0


class Cache(Protocol):
    """What is asked of a store."""

    @property
    def revision(self) -> int | None:
        """The resource version that the content reflects, if it can be compared."""
        ...

    def get(self, key: ObjectKey) -> Object | None:
        """The object under *key*, if there is one."""
        ...


Seen: TypeAlias = Callable[[], bool]


@attrs.frozen
class _Write:
    seen: Seen
    expires: float


class Freshness:
    """The writes of each owner, named by UID, that the caches may not show yet.

    Times are seconds of a monotonic clock. A write is remembered for 5 s at most, and an
    owner only while it has writes to wait for: until `fresh` says so, or `forget`, or the
    writes of others take its place.
    """

    def __init__(self) -> None:
        self._pending: dict[str, list[_Write]] = {}

    def __len__(self) -> int:
        return len(self._pending)

    def wrote(self, owner: str, store: Cache, resource_version: str, *, now: float) -> None:
        """For *owner*, an object that *store* caches now has *resource_version*."""
        revision = revision_of(resource_version)
        if revision is not None:
            self._await(owner, lambda: _reached(store, revision), now)

    def deleted(self, owner: str, store: Cache, key: ObjectKey, uid: str, *, now: float) -> None:
        """For *owner*, the object *uid* under *key* was deleted, or begins to be."""
        self._await(owner, lambda: _going(store, key, uid), now)

    def fresh(self, owner: str, now: float) -> bool:
        """Whether the caches show every write for *owner*, as far as can be told."""
        left = [
            write
            for write in self._pending.pop(owner, ())
            if now < write.expires and not write.seen()
        ]
        if left:
            self._pending[owner] = left
        return not left

    def forget(self, owner: str) -> None:
        """*owner* is gone: nobody will ask for it again."""
        self._pending.pop(owner, None)

    def _await(self, owner: str, seen: Seen, now: float) -> None:
        self._forget_oldest(now)
        write = _Write(seen, now + LONGEST_WAIT_SECONDS)
        self._pending.setdefault(owner, []).append(write)

    def _forget_oldest(self, now: float) -> None:
        """An owner that was deleted just after a write is never asked for again."""
        oldest = next(iter(self._pending), None)
        if oldest is not None and all(write.expires <= now for write in self._pending[oldest]):
            del self._pending[oldest]


def _reached(store: Cache, revision: int) -> bool:
    """Whether *store* shows *revision*, or cannot tell."""
    return store.revision is None or store.revision >= revision


def _going(store: Cache, key: ObjectKey, uid: str) -> bool:
    """Whether *store* shows the end of the object *uid*, or its beginning."""
    held = store.get(key)
    return held is None or held.metadata.uid != uid or held.metadata.deleting
