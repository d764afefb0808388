"""Between the bytes of the API server and our types.

Reading goes through msgspec, straight from bytes into attrs classes: fields that a
class does not declare cost next to nothing. Writing goes through one cattrs converter
that leaves out what is None or empty: to the API server an absent field and an empty
one mean the same. Where they do not, because a field is required or has a default that
is not empty, the empty value is written.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, cast

import attrs
import cattrs
import msgspec

T = TypeVar("T")
Json = Mapping[str, Any]

_EMPTY: tuple[object, ...] = (None, "", (), {})
_FACTORY: object = attrs.Factory(dict)


@cache
def reader(kind: type[T]) -> Callable[[bytes], T]:
    """A function that reads one object of *kind*; it raises `msgspec.ValidationError`."""
    return msgspec.json.Decoder(kind).decode


def from_wire(value: object, kind: type[T]) -> T:
    """Read *value*, a decoded JSON value, as *kind*."""
    return msgspec.convert(value, kind)


def to_wire(value: object) -> dict[str, Any]:
    """*value* as the JSON object that the API server expects."""
    return cast("dict[str, Any]", _converter.unstructure(value))


def encode(value: object) -> bytes:
    """The canonical bytes of a JSON value: keys sorted, no spaces."""
    return msgspec.json.encode(value, order="sorted")


def decode(body: bytes | str) -> Any:
    """A JSON value from its bytes."""
    return msgspec.json.decode(body)


def _empty_would_tell(default: object) -> bool:
    """Whether an empty field would be read as something else, were it left out."""
    return default not in _EMPTY and not isinstance(default, type(_FACTORY))


def _unstructurer(kind: type) -> Callable[[Any], dict[str, Any]]:
    """How objects of the attrs class *kind* are written.

    Most fields of most objects are scalars or empty, so these take the short way.
    """
    telling = {field.name: _empty_would_tell(field.default) for field in attrs.fields(kind)}

    def unstructure(value: object) -> dict[str, Any]:
        wire: dict[str, Any] = {}
        for name, tells in telling.items():
            held = getattr(value, name)
            if held is None or (not tells and _is_empty(held)):
                continue
            wire[name] = held if type(held) in _SCALARS else _converter.unstructure(held)
        return wire

    return unstructure


def _is_empty(held: object) -> bool:
    return type(held) in _SIZED and not held


_SCALARS = frozenset({str, int, bool, float})
_SIZED = frozenset({str, tuple, dict})
_converter = cattrs.Converter(unstruct_collection_overrides={tuple: list})
# For StrEnum by name: cattrs would take its members for plain strings and keep them.
_converter.register_unstructure_hook(StrEnum, lambda member: member.value)
_converter.register_unstructure_hook(dict, dict)  # What it holds is JSON already.
_converter.register_unstructure_hook_factory(attrs.has, _unstructurer)
