"""Values of API classes within their bounds, made from the same annotations as the schema."""

import typing
from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal, TypeVar

import annotated_types as at
import attrs
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from gpustack_ctrl.api.markers import DateTime, ListMap, Pattern, QuantityOf
from gpustack_ctrl.api.meta import ObjectMeta
from gpustack_ctrl.api.quantity import UNSIGNED_PATTERN
from gpustack_ctrl.gen.fields import Hint, hint_of

T = TypeVar("T")

FEW = 3
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""For tests that build whole objects: the machine may be busy."""
TEXT = st.characters(codec="utf-8", exclude_characters="\0")


def values(kind: type[T]) -> st.SearchStrategy[T]:
    """Values of *kind* that its markers allow; its CEL rules are not considered."""
    hints = typing.get_type_hints(kind, include_extras=True)
    fields = {it.name: _field(it.default, hint_of(hints[it.name])) for it in _declared(kind)}
    return st.builds(kind, **fields)


def quantities() -> st.SearchStrategy[int | str]:
    """Quantities as users write them: 0 or more, as a number or a text."""
    return st.integers(0, 1 << 40) | st.from_regex(UNSIGNED_PATTERN, fullmatch=True)


def _declared(kind: type) -> list[Any]:
    return list(attrs.fields(kind))


def _field(default: object, hint: Hint) -> st.SearchStrategy[Any]:
    made = _of_hint(hint)
    if default is attrs.NOTHING or type(default) is attrs.Factory:
        return made
    return st.just(default) | made


def _of_hint(hint: Hint) -> st.SearchStrategy[Any]:
    origin: object = typing.get_origin(hint.kind)
    if hint.marker(QuantityOf):
        return quantities()
    if origin is tuple:
        return _tuple(hint)
    if origin is Mapping:
        key, value = map(hint_of, typing.get_args(hint.kind))
        return st.dictionaries(_of_hint(key), _of_hint(value), max_size=FEW)
    if origin is Literal:
        return st.sampled_from(typing.get_args(hint.kind))
    return _of_class(hint)


def _of_class(hint: Hint) -> st.SearchStrategy[Any]:
    kind: Any = hint.kind
    if kind is ObjectMeta:
        return st.builds(ObjectMeta, name=st.just("work"), namespace=st.just("team"))
    if attrs.has(kind):
        return values(kind)
    if issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    return _scalar(hint)


def _tuple(hint: Hint) -> st.SearchStrategy[Any]:
    entry = _of_hint(hint_of(typing.get_args(hint.kind)[0]))
    keyed = hint.marker(ListMap)
    unique_by = _key(keyed.keys) if keyed else None
    return st.lists(entry, max_size=FEW, unique_by=unique_by).map(tuple)


def _key(names: tuple[str, ...]) -> Any:
    return lambda entry: tuple(getattr(entry, name) for name in names)


def _scalar(hint: Hint) -> st.SearchStrategy[Any]:
    if hint.kind is bool:
        return st.booleans()
    if hint.kind is int:
        least, most = hint.marker(at.Ge), hint.marker(at.Le)
        return st.integers(
            typing.cast("int", least.ge) if least else 0,
            typing.cast("int", most.le) if most else 1 << 31,
        )
    return _text(hint)


def _text(hint: Hint) -> st.SearchStrategy[str]:
    least, most, pattern = hint.marker(at.MinLen), hint.marker(at.MaxLen), hint.marker(Pattern)
    if hint.marker(DateTime):
        return st.datetimes().map(lambda time: f"{time.isoformat(timespec='seconds')}Z")
    longest = most.max_length if most else FEW
    if pattern:
        texts = st.from_regex(pattern.regex, fullmatch=True, alphabet=TEXT)
        return texts.filter(lambda text: len(text) <= longest)
    return st.text(TEXT, min_size=least.min_length if least else 0, max_size=min(longest, 12))
