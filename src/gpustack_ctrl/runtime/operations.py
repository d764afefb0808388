"""What a list or a watch event does to a store."""

from typing import Generic, TypeAlias, TypeVar

import attrs

from gpustack_ctrl.api.meta import ObjectKey

T_co = TypeVar("T_co", covariant=True)


@attrs.frozen(kw_only=True)
class Replace(Generic[T_co]):
    """The server held exactly *objects* at *resource_version*.

    Those under the keys *unreadable* exist as well, but could not be decoded: what the
    store knows of them stays.
    """

    objects: tuple[T_co, ...]
    resource_version: str
    unreadable: frozenset[ObjectKey] = frozenset()


@attrs.frozen(kw_only=True)
class Upsert(Generic[T_co]):
    """The object exists and looks like this since *resource_version*."""

    object: T_co
    resource_version: str


@attrs.frozen(kw_only=True)
class Remove(Generic[T_co]):
    """No object is under *key* since *resource_version*; *last* is its final state."""

    key: ObjectKey
    last: T_co | None
    resource_version: str


@attrs.frozen(kw_only=True)
class Bookmark:
    """Nothing that we follow changed up to *resource_version*."""

    resource_version: str


Change: TypeAlias = Upsert[T_co] | Remove[T_co] | Bookmark
