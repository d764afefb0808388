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
    names = tuple(field.name for field in attrs.fields(kind))
    telling = {field.name for field in attrs.fields(kind) if _empty_would_tell(field.default)}

    def unstructure(value: object) -> dict[str, Any]:
        pairs = ((name, getattr(value, name)) for name in names)
        return {
            name: _converter.unstructure(held)
            for name, held in pairs
            if held not in _EMPTY or (name in telling and held is not None)
        }

    return unstructure


_converter = cattrs.Converter(unstruct_collection_overrides={tuple: list})
# For StrEnum by name: cattrs would take its members for plain strings and keep them.
_converter.register_unstructure_hook(StrEnum, lambda member: member.value)
_converter.register_unstructure_hook_factory(attrs.has, _unstructurer)
