"""What the annotations of a type say about a value of it.

The API server enforces the same bounds at admission. They are read here again because
an object may have been stored under older rules, or on a server that lost them.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import annotated_types as at
import attrs

from gpustack_ctrl.api import quantity
from gpustack_ctrl.api.markers import ListMap, Pattern, QuantityOf


@attrs.frozen
class Violation:
    """One field that breaks a bound, and how."""

    path: str
    problem: str

    def __str__(self) -> str:
        """The sentence a user reads."""
        return f"{self.path}: {self.problem}"


def violations(value: object, path: str = "") -> tuple[Violation, ...]:
    """Every bound that *value*, an instance of an attrs class, breaks."""
    return tuple(_in_fields(value, path))


@cache
def _hints_of(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _markers(hint: object) -> tuple[Any, ...]:
    """All markers of one annotation, those behind an optional type included."""
    if get_origin(hint) is Annotated:
        inner, *own = get_args(hint)
        return (*own, *_markers(inner))
    return _markers(get_args(hint)[0]) if _optional(hint) else ()


def _bare(hint: Any) -> Any:
    """The type inside an annotation."""
    if get_origin(hint) is Annotated or _optional(hint):
        return _bare(get_args(hint)[0])
    return hint


def _optional(hint: object) -> bool:
    return type(None) in get_args(hint)


def _in_fields(value: Any, path: str) -> Iterator[Violation]:
    kind: type = type(value)
    hints = _hints_of(kind)
    for field in attrs.fields(kind):
        held = getattr(value, field.name)
        # An empty text that is its field's default stands for an absent one.
        if held is not None and not (held == "" == field.default):
            here = f"{path}.{field.name}" if path else field.name
            yield from _of_hint(held, hints[field.name], here)


def _of_hint(held: object, hint: object, path: str) -> Iterator[Violation]:
    yield from _of_markers(held, _markers(hint), path)
    if attrs.has(type(held)):
        yield from _in_fields(held, path)
    for name, entry, entry_hint in _entries(held, _bare(hint)):
        yield from _of_hint(entry, entry_hint, f"{path}[{name}]")


def _entries(held: object, hint: object) -> Iterator[tuple[object, object, object]]:
    if isinstance(held, tuple):
        yield from ((index, entry, get_args(hint)[0]) for index, entry in enumerate(held))
    if isinstance(held, Mapping):
        yield from ((key, entry, get_args(hint)[1]) for key, entry in held.items())


def _of_markers(held: Any, markers: tuple[Any, ...], path: str) -> Iterator[Violation]:
    for marker in markers:
        problem = _problem(held, marker)
        if problem:
            yield Violation(path, problem)


def _problem(held: Any, marker: object) -> str:
    check = _CHECKS.get(type(marker))
    return check(held, marker) if check else ""


def _duplicates(entries: tuple[object, ...], keys: tuple[str, ...]) -> str:
    seen = [tuple(getattr(entry, key) for key in keys) for entry in entries]
    twice = next((key for key in seen if seen.count(key) > 1), None)
    if twice is None:
        return ""
    named = ", ".join(f"{key} {held}" for key, held in zip(keys, twice, strict=True))
    return f"{named} is listed more than once"


def _quantity_problem(held: int | str) -> str:
    try:
        value = quantity.parse(held)
    except ValueError as error:
        return str(error)
    return "must not be negative" if value < 0 else ""


_CHECKS: Mapping[type, Callable[[Any, Any], str]] = {
    at.Ge: lambda held, bound: "" if held >= bound.ge else f"must be at least {bound.ge}",
    at.Le: lambda held, bound: "" if held <= bound.le else f"must be at most {bound.le}",
    at.MinLen: lambda held, bound: (
        "" if len(held) >= bound.min_length else f"is shorter than {bound.min_length}"
    ),
    at.MaxLen: lambda held, bound: (
        "" if len(held) <= bound.max_length else f"is longer than {bound.max_length}"
    ),
    Pattern: lambda held, pattern: (
        "" if re.fullmatch(pattern.regex, held) else f"{held!r} does not match {pattern.regex}"
    ),
    ListMap: lambda held, listing: _duplicates(held, listing.keys),
    QuantityOf: lambda held, _: _quantity_problem(held),
}
