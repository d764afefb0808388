"""From an event to the requests it causes.

Whatever an event names, its old and its new state are both asked, so that an object
which changed hands wakes its former owner too. What a first list names waits behind
live changes.
"""

from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias, TypeVar

from gpustack_ctrl.api.meta import Object, ObjectKey, OwnerReference, Resource
from gpustack_ctrl.runtime.informer import Event, Handler
from gpustack_ctrl.runtime.predicates import Predicate
from gpustack_ctrl.runtime.reconcile import Request
from gpustack_ctrl.runtime.schedule import Priority

T = TypeVar("T", bound=Object)

Mapping: TypeAlias = Callable[[T], Iterable[Request]]


class RequestQueue(Protocol):
    """What a handler needs of a workqueue."""

    def add(self, key: Request, *, priority: Priority) -> None:
        """Have *key* handed out."""
        ...


def enqueue_object(queue: RequestQueue, *, predicate: Predicate[T] | None = None) -> Handler[T]:
    """Requests the object itself."""
    return enqueue_mapped(queue, _itself, predicate=predicate)


def enqueue_owner(
    queue: RequestQueue, resource: Resource, *, predicate: Predicate[T] | None = None
) -> Handler[T]:
    """Requests the owner that controls the object, if it is of the kind *resource*."""

    def owner_of(obj: T) -> tuple[Request, ...]:
        owner = obj.metadata.controller
        if owner is None or not _is_kind(owner, resource):
            return ()
        namespace = obj.metadata.namespace if resource.namespaced else ""
        return (ObjectKey(namespace, owner.name),)

    return enqueue_mapped(queue, owner_of, predicate=predicate)


def enqueue_mapped(
    queue: RequestQueue, mapping: Mapping[T], *, predicate: Predicate[T] | None = None
) -> Handler[T]:
    """Requests what *mapping* gives for the old and for the new state, each once."""

    def handle(event: Event[T]) -> None:
        if predicate is not None and not predicate(event):
            return
        priority = Priority.LOW if event.initial else Priority.HIGH
        for request in _named_by(event, mapping):
            queue.add(request, priority=priority)

    return handle


def _named_by(event: Event[T], mapping: Mapping[T]) -> Iterable[Request]:
    """What *mapping* gives for either state of *event*, in order and without repetition."""
    old = () if event.old is None else mapping(event.old)
    new = () if event.new is None else mapping(event.new)
    return dict.fromkeys((*old, *new))


def _itself(obj: Object) -> tuple[Request, ...]:
    return (obj.metadata.key,)


def _is_kind(owner: OwnerReference, resource: Resource) -> bool:
    """Whether *owner* is of the kind *resource*, in whatever version it was written."""
    group, slash, _ = owner.apiVersion.rpartition("/")
    return owner.kind == resource.kind and (group if slash else "") == resource.group
