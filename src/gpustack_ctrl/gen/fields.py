"""The fields of an API class, as its annotations declare them."""

from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import attrs

from gpustack_ctrl.api.codec import to_wire
from gpustack_ctrl.api.markers import Doc

M = TypeVar("M")
_FACTORY: object = attrs.Factory
_EMPTY: tuple[object, ...] = (None, "", [], {})


@attrs.frozen(kw_only=True)
class Hint:
    """A type without the option of None, and the markers around it."""

    kind: Any
    markers: tuple[object, ...]

    def marker(self, kind: type[M]) -> M | None:
        """The marker of class *kind*, if there is one."""
        return next((marker for marker in self.markers if isinstance(marker, kind)), None)


@attrs.frozen(kw_only=True)
class Field:
    """One field of an API class."""

    name: str
    hint: Hint
    default: Any
    """The wire form of its default; None where there is none or it is empty."""
    required: bool

    @property
    def doc(self) -> str:
        """What the field means."""
        doc = self.hint.marker(Doc)
        return doc.text if doc else ""


def fields_of(kind: type) -> tuple[Field, ...]:
    """The fields of *kind* in the order of the class."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple(_field(attribute, hints[attribute.name]) for attribute in attrs.fields(kind))


def hint_of(annotation: Any) -> Hint:
    """*annotation* taken apart; markers inside an optional type count as its own."""
    if get_origin(annotation) is Annotated:
        inner, *own = get_args(annotation)
        deeper = hint_of(inner)
        return Hint(kind=deeper.kind, markers=(*own, *deeper.markers))
    if get_origin(annotation) in (Union, UnionType):
        held = [option for option in get_args(annotation) if option is not NoneType]
        if len(held) == 1:
            return hint_of(held[0])
    return Hint(kind=annotation, markers=())


def _field(attribute: Any, annotation: object) -> Field:
    return Field(
        name=attribute.name,
        hint=hint_of(annotation),
        default=_wire_default(attribute.default),
        required=attribute.default is attrs.NOTHING,
    )


def _wire_default(default: object) -> object:
    if default is attrs.NOTHING or type(default) is _FACTORY:
        return None
    wired: object = to_wire(default)
    if wired in _EMPTY:
        return None
    # The fields of an object bring their own defaults.
    return {} if attrs.has(type(default)) else wired
