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
def markers_of(kind: type) -> Mapping[str, tuple[Any, ...]]:
    """The markers of each field of *kind*, by field name."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: flat_markers(hints[field.name]) for field in attrs.fields(kind)}


def flat_markers(hint: object) -> tuple[Any, ...]:
    """All markers of one annotation, those behind an optional type included."""
    if get_origin(hint) is Annotated:
        inner, *own = get_args(hint)
        return (*own, *flat_markers(inner))
    optional = type(None) in get_args(hint)
    return flat_markers(get_args(hint)[0]) if optional else ()


def _in_fields(value: Any, path: str) -> Iterator[Violation]:
    kind: type = type(value)
    for name, markers in markers_of(kind).items():
        held = getattr(value, name)
        here = f"{path}.{name}" if path else name
        if held is not None and held != "":
            yield from _of_markers(held, markers, here)
            yield from _inside(held, here)


def _inside(held: object, path: str) -> Iterator[Violation]:
    if attrs.has(type(held)):
        yield from _in_fields(held, path)
    if isinstance(held, tuple):
        for index, entry in enumerate(held):
            yield from _inside(entry, f"{path}[{index}]")


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
    return f"{twice} is listed more than once" if twice else ""


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
