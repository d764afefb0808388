"""Which events deserve a pass. A predicate tells by an event whether it matters.

Predicates only compare two states of one object. A creation, a deletion, a change of
identity and the beginning of a deletion pass whatever a predicate says, also through
`all_of`, `any_of` and `negate`: a reconciler that missed one would never catch up.
"""

from collections.abc import Callable, Hashable
from typing import TypeAlias, TypeVar

from gpustack_ctrl.api.meta import Object
from gpustack_ctrl.runtime.informer import Event

T = TypeVar("T", bound=Object)

Predicate: TypeAlias = Callable[[Event[T]], bool]


def always_matters(event: Event[Object]) -> bool:
    """Whether no predicate may drop *event*."""
    old, new = event.old, event.new
    if old is None or new is None or old.metadata.uid != new.metadata.uid:
        return True
    return new.metadata.deleting and not old.metadata.deleting


def changed(read: Callable[[T], object]) -> Predicate[T]:
    """Passes an update if what *read* gives differs: a digest of what a handler needs."""

    def differs(event: Event[T]) -> bool:
        old, new = event.old, event.new
        if old is None or new is None or always_matters(event):
            return True
        return read(old) != read(new)

    return differs


def all_of(*predicates: Predicate[T]) -> Predicate[T]:
    """Passes what every one of *predicates* passes."""
    return lambda event: always_matters(event) or all(passes(event) for passes in predicates)


def any_of(*predicates: Predicate[T]) -> Predicate[T]:
    """Passes what one of *predicates* passes."""
    return lambda event: always_matters(event) or any(passes(event) for passes in predicates)


def negate(predicate: Predicate[T]) -> Predicate[T]:
    """Passes what *predicate* drops."""
    return lambda event: always_matters(event) or not predicate(event)


def _generation(obj: Object) -> Hashable:
    return obj.metadata.generation


def _resource_version(obj: Object) -> Hashable:
    return obj.metadata.resourceVersion


def _labels(obj: Object) -> object:
    return obj.metadata.labels


def _annotations(obj: Object) -> object:
    return obj.metadata.annotations


generation_changed: Predicate[Object] = changed(_generation)
"""Passes a change of the spec, of a kind whose status is a subresource."""

resource_version_changed: Predicate[Object] = changed(_resource_version)
"""Passes any change at all."""

labels_changed: Predicate[Object] = changed(_labels)
"""Passes a change of the labels."""

annotations_changed: Predicate[Object] = changed(_annotations)
"""Passes a change of the annotations."""
