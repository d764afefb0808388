"""The objects of one resource as last seen, with indexes.

One informer writes; everyone else reads through `Lister`. Nothing here awaits, so a
reader sees each change whole or not at all.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, Protocol, TypeAlias, TypeVar

from gpustack_ctrl.api.meta import Object, ObjectKey
from gpustack_ctrl.runtime.revision import revision_of

T = TypeVar("T", bound=Object)
T_co = TypeVar("T_co", bound=Object, covariant=True)

Indexer: TypeAlias = Callable[[T], Iterable[str]]
Bucket: TypeAlias = dict[ObjectKey, T]
Fault: TypeAlias = Callable[[str, Exception], None]

NAMESPACE = "namespace"
OWNER = "owner"


class Lister(Protocol[T_co]):
    """The reader's face of a store. What it returns is shared and must not be changed."""

    def get(self, key: ObjectKey) -> T_co | None:
        """The object under *key*, if there is one."""
        ...

    def list(self) -> tuple[T_co, ...]:
        """All objects, in no particular order."""
        ...

    def by_index(self, index: str, value: str) -> tuple[T_co, ...]:
        """The objects for which *index* gives *value*; raise `KeyError` without such an index."""
        ...

    def __len__(self) -> int: ...

    @property
    def revision(self) -> int | None:
        """The resource version that the content reflects, if it can be compared."""
        ...


def by_namespace(obj: Object) -> Iterable[str]:
    """The namespace that *obj* is in."""
    return (obj.metadata.namespace,)


def by_owner(obj: Object) -> Iterable[str]:
    """The UIDs of all owners of *obj*."""
    return [owner.uid for owner in obj.metadata.ownerReferences]


class Store(Generic[T]):
    """A `Lister` that its informer can write to.

    It is indexed by namespace, by the UID of each owner, and by *indexers*. An indexer
    that raises gives no value for that object and is reported to *fault*.
    """

    def __init__(
        self, indexers: Mapping[str, Indexer[T]] | None = None, *, fault: Fault | None = None
    ) -> None:
        self._indexers: dict[str, Indexer[T]] = {
            NAMESPACE: by_namespace,
            OWNER: by_owner,
            **(indexers or {}),
        }
        self._fault = fault
        self._objects: Bucket[T] = {}
        self._indexes: dict[str, dict[str, Bucket[T]]] = {name: {} for name in self._indexers}
        self._revision: int | None = None

    def get(self, key: ObjectKey) -> T | None:
        """The object under *key*, if there is one."""
        return self._objects.get(key)

    def list(self) -> tuple[T, ...]:
        """All objects, in no particular order."""
        return tuple(self._objects.values())

    def by_index(self, index: str, value: str) -> tuple[T, ...]:
        """The objects for which *index* gives *value*; raise `KeyError` without such an index."""
        bucket = self._index(index).get(value)
        return tuple(bucket.values()) if bucket else ()

    def index_values(self, index: str) -> tuple[str, ...]:
        """The values under which *index* holds anything; raise `KeyError` without it."""
        return tuple(self._index(index))

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[ObjectKey]:
        return iter(self._objects)

    @property
    def revision(self) -> int | None:
        """The resource version that the content reflects, if it can be compared."""
        return self._revision

    def replace(self, objects: Iterable[T], *, resource_version: str) -> None:
        """Hold exactly *objects*, as the server did at *resource_version*."""
        fresh: Bucket[T] = {obj.metadata.key: obj for obj in objects}
        indexes: dict[str, dict[str, Bucket[T]]] = {name: {} for name in self._indexers}
        for key, obj in fresh.items():
            for name in self._indexers:
                _insert(indexes[name], self._values(name, obj), key, obj)
        self._objects, self._indexes = fresh, indexes
        self.advance(resource_version)

    def upsert(self, key: ObjectKey, obj: T) -> None:
        """Hold *obj* under *key*, in place of what was there."""
        old = self._objects.get(key)
        self._objects[key] = obj
        for name, index in self._indexes.items():
            values = self._values(name, obj)
            if old is not None and (former := self._values(name, old)) != values:
                _drop(index, former, key)
            _insert(index, values, key, obj)
        self.advance(obj.metadata.resourceVersion)

    def remove(self, key: ObjectKey, *, resource_version: str) -> T | None:
        """Hold nothing under *key*; return what was there."""
        old = self._objects.pop(key, None)
        if old is not None:
            for name, index in self._indexes.items():
                _drop(index, self._values(name, old), key)
        self.advance(resource_version)
        return old

    def advance(self, resource_version: str) -> None:
        """Take note that the content is that of *resource_version*."""
        if resource_version:
            self._revision = revision_of(resource_version)

    def _index(self, name: str) -> dict[str, Bucket[T]]:
        """The index *name*; raise `KeyError` without it."""
        if name not in self._indexes:
            known = ", ".join(sorted(self._indexes))
            raise KeyError(f"no index {name!r}; the store has {known}: declare it as an indexer")
        return self._indexes[name]

    def _values(self, name: str, obj: T) -> tuple[str, ...]:
        """What the index *name* gives for *obj*."""
        try:
            return tuple(self._indexers[name](obj))
        except Exception as error:  # noqa: BLE001 -- a bad indexer must not stop the cache.
            if self._fault:
                self._fault(f"index {name}", error)
            return ()


def _insert(index: dict[str, Bucket[T]], values: Iterable[str], key: ObjectKey, obj: T) -> None:
    for value in values:
        index.setdefault(value, {})[key] = obj


def _drop(index: dict[str, Bucket[T]], values: Iterable[str], key: ObjectKey) -> None:
    for value in values:
        bucket = index.get(value)
        if bucket is not None and bucket.pop(key, None) is not None and not bucket:
            del index[value]
