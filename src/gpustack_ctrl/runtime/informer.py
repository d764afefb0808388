"""A cache of one resource that tells its handlers of each change.

The store is changed first and the handlers are told second, so a handler, and any
reconciler it wakes, reads at least what it was told of.
"""

import asyncio
import random
from collections.abc import Callable, Mapping
from typing import Generic, TypeAlias, TypeVar

import attrs
import structlog

from gpustack_ctrl.api.meta import Object, ObjectKey, Resource
from gpustack_ctrl.runtime.clock import Clock, SystemClock
from gpustack_ctrl.runtime.decoding import Decode
from gpustack_ctrl.runtime.informer_metrics import InformerMetrics, Unmetered
from gpustack_ctrl.runtime.operations import Bookmark, Change, Remove, Replace, Upsert
from gpustack_ctrl.runtime.reflector import ListWatch, Reflector
from gpustack_ctrl.runtime.revision import supersedes
from gpustack_ctrl.runtime.store import Indexer, Lister, Store

T = TypeVar("T", bound=Object)
T_co = TypeVar("T_co", bound=Object, covariant=True)

EVENTS_PER_TURN = 250

log = structlog.get_logger()


@attrs.frozen(kw_only=True)
class Event(Generic[T_co]):
    """The object that was *old* is *new* now.

    *old* is None when it was created, or is *initial*: there when the cache was filled.
    *new* is None when it was deleted, *old* being its last known state. Two states with
    different UIDs are two objects: the first was deleted, the second has its name.
    """

    old: T_co | None
    new: T_co | None
    initial: bool = False


Handler: TypeAlias = Callable[[Event[T]], None]


@attrs.define(kw_only=True, eq=False)
class Informer(Generic[T]):
    """Keeps `store` equal to what *list_watch* tells, and its handlers up to date.

    Guarantees: a handler hears of the changes of one key in order, though not of every
    state in between; never of a state that the store does not hold yet; of a deletion
    exactly once. A handler that raises is counted and logged, and stops nothing.
    """

    resource: Resource
    list_watch: ListWatch
    decode: Decode[T]
    indexers: Mapping[str, Indexer[T]] = attrs.field(factory=dict)
    clock: Clock = attrs.field(factory=SystemClock)
    random: Callable[[], float] = random.random
    current: bool = False
    """Whether the first list must show all that was written before it was asked for."""
    metrics: InformerMetrics = attrs.field(factory=Unmetered)
    _handlers: list[Handler[T]] = attrs.field(factory=list, init=False)
    _synced: asyncio.Event = attrs.field(factory=asyncio.Event, init=False)
    _store: Store[T] = attrs.field(init=False)
    _reflector: Reflector[T] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._store = Store(self.indexers, fault=self._fault)
        self._reflector = Reflector(
            resource=self.resource,
            list_watch=self.list_watch,
            decode=self.decode,
            sink=self,
            clock=self.clock,
            random=self.random,
            current=self.current,
            metrics=self.metrics,
        )

    @property
    def name(self) -> str:
        """What people call it: the resource it follows."""
        return self.resource.full_name

    @property
    def store(self) -> Lister[T]:
        """What is known of the resource."""
        return self._store

    @property
    def synced(self) -> bool:
        """Whether the first list is in the store and was handed to every handler."""
        return self._synced.is_set()

    @property
    def trouble(self) -> str:
        """Why the last list or watch failed; empty when all is well."""
        return self._reflector.trouble

    @property
    def silence(self) -> float | None:
        """Seconds since the server last told anything; None before it ever did."""
        heard = self._reflector.heard_at
        return None if heard is None else self.clock.monotonic() - heard

    def add_handler(self, handler: Handler[T]) -> None:
        """Tell *handler* of each change; only before `run`, so that it misses none."""
        if self._reflector.heard_at is not None:
            raise RuntimeError(
                f"the informer of {self.resource.full_name} runs: add handlers before"
            )
        self._handlers.append(handler)

    async def wait_synced(self) -> None:
        """Return once `synced`."""
        await self._synced.wait()

    async def run(self) -> None:
        """Follow the resource until cancelled."""
        await self._reflector.run()

    async def replace(self, operation: Replace[T]) -> None:
        """Hold what a list said, and tell the handlers how it differs."""
        held = {key: obj for key in self._store if (obj := self._store.get(key)) is not None}
        kept = [held[key] for key in operation.unreadable if key in held]
        self._store.replace(
            (*operation.objects, *kept), resource_version=operation.resource_version
        )
        initial = not self.synced
        for number, event in enumerate(_difference(held, self._store, initial=initial), start=1):
            self._tell(event)
            if number % EVENTS_PER_TURN == 0:
                await self.clock.sleep(0)
        self._synced.set()

    def apply(self, operation: Change[T]) -> None:
        """Hold what a watch event said, and tell the handlers."""
        match operation:
            case Upsert(object=obj):
                self._upsert(obj)
            case Remove(key=key, last=last, resource_version=version):
                self._remove(key, last, version)
            case Bookmark(resource_version=version):
                self._store.advance(version)

    def _upsert(self, new: T) -> None:
        key = new.metadata.key
        old = self._store.get(key)
        if old is not None and not _supersedes(new, old):
            return
        self._store.upsert(key, new)
        self._tell(Event(old=old, new=new))

    def _remove(self, key: ObjectKey, last: T | None, version: str) -> None:
        held = self._store.remove(key, resource_version=version)
        if held is not None:
            self._tell(Event(old=last or held, new=None))

    def _tell(self, event: Event[T]) -> None:
        for handler in self._handlers:
            try:
                handler(event)
            except Exception as error:  # noqa: BLE001 -- one bad handler must not stop the others.
                self._fault("handler", error)

    def _fault(self, where: str, error: Exception) -> None:
        self.metrics.faulted()
        log.error(
            "handler or indexer raised",
            resource=self.resource.full_name,
            where=where,
            exc_info=error,
        )


def _supersedes(new: Object, old: Object) -> bool:
    """Whether *new* is news to one who knows *old*."""
    if new.metadata.uid != old.metadata.uid:
        return True
    return supersedes(new.metadata.resourceVersion, old.metadata.resourceVersion)


def _difference(held: Mapping[ObjectKey, T], store: Store[T], *, initial: bool) -> list[Event[T]]:
    """The events that lead from *held* to *store*: deletions first."""
    gone = [Event(old=old, new=None) for key, old in held.items() if store.get(key) is None]
    changed = [
        Event(old=old, new=new, initial=initial)
        for new in store.list()
        if (old := held.get(new.metadata.key)) is None or _differs(new, old)
    ]
    return [*gone, *changed]


def _differs(new: Object, old: Object) -> bool:
    """Whether *new* is another state than *old*, be it later or earlier."""
    return (new.metadata.uid, new.metadata.resourceVersion) != (
        old.metadata.uid,
        old.metadata.resourceVersion,
    )
