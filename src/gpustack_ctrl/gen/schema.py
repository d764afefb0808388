"""From annotations to the structural OpenAPI schema that the API server enforces."""

from collections.abc import Callable, Mapping
from enum import Enum
from inspect import cleandoc
from typing import Any, Literal, get_args, get_origin

import annotated_types as at
import attrs

from gpustack_ctrl.api.markers import DateTime, ListMap, Pattern, QuantityOf, Rule
from gpustack_ctrl.api.meta import ObjectMeta
from gpustack_ctrl.api.quantity import UNSIGNED_PATTERN
from gpustack_ctrl.gen.fields import Field, Hint, fields_of, hint_of

Schema = dict[str, Any]

LONGEST_QUANTITY = 64


def object_schema(kind: type) -> Schema:
    """The schema of *kind*, with the rules that it declares for itself."""
    fields = fields_of(kind)
    required = [field.name for field in fields if field.required and not _is_metadata(field)]
    rules: tuple[Rule, ...] = getattr(kind, "rules", ())
    schema: Schema = {
        "description": "\n\n".join(_paragraphs(kind)),
        "type": "object",
        "required": required,
        "properties": {field.name: _property(field) for field in fields},
        "x-kubernetes-validations": [_validation(rule) for rule in rules],
    }
    return {keyword: value for keyword, value in schema.items() if value != []}


def without_defaults(schema: Schema) -> Schema:
    """*schema* as a status needs it: what nobody observed must not be made up."""
    kept = {keyword: value for keyword, value in schema.items() if keyword != "default"}
    if "properties" in kept:
        within = kept["properties"].items()
        kept["properties"] = {name: without_defaults(inner) for name, inner in within}
    if "items" in kept:
        kept["items"] = without_defaults(kept["items"])
    return kept


def _paragraphs(kind: type) -> tuple[str, ...]:
    """The docstring of *kind*, each paragraph on one line and without emphasis."""
    paragraphs = cleandoc(kind.__doc__ or "").split("\n\n")
    return tuple(" ".join(text.replace("*", "").split()) for text in paragraphs)


def _detail(kind: Any) -> tuple[str, ...]:
    """What the docstring of *kind* adds to its first line, which the field's own replaces."""
    return _paragraphs(kind)[1:] if attrs.has(kind) else ()


def _is_metadata(field: Field) -> bool:
    return field.hint.kind is ObjectMeta


def _property(field: Field) -> Schema:
    if _is_metadata(field):
        return {"type": "object"}
    schema = _of_hint(field.hint)
    if field.doc:
        said = "\n\n".join((field.doc, *_detail(field.hint.kind)))
        schema = {"description": said} | schema | {"description": said}
    if field.default is not None:
        schema["default"] = field.default
    return schema


def _of_hint(hint: Hint) -> Schema:
    if hint.marker(QuantityOf):
        return _quantity()
    schema = _of_type(hint)
    bounds: Schema = {}
    for marker in hint.markers:
        bounds |= _keywords(marker, schema["type"])
    return {"type": schema.pop("type"), **bounds, **schema}


def _of_type(hint: Hint) -> Schema:
    kind = hint.kind
    origin: object = get_origin(kind)
    if origin is tuple:
        return _array(hint)
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _of_hint(hint_of(get_args(kind)[1]))}
    if origin is Literal:
        return {"type": "string", "enum": list(get_args(kind))}
    if attrs.has(kind):
        return object_schema(kind)
    if issubclass(kind, Enum):
        return {"type": "string", "enum": [member.value for member in kind]}
    return {"type": _SCALARS[kind]}


def _array(hint: Hint) -> Schema:
    keys = hint.marker(ListMap)
    schema: Schema = {
        "type": "array",
        "items": _of_hint(hint_of(get_args(hint.kind)[0])),
        "x-kubernetes-list-type": "map" if keys else "atomic",
    }
    return {**schema, "x-kubernetes-list-map-keys": list(keys.keys)} if keys else schema


def _quantity() -> Schema:
    return {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "x-kubernetes-int-or-string": True,
        "minimum": 0,
        "maxLength": LONGEST_QUANTITY,
        "pattern": _anchored(UNSIGNED_PATTERN),
    }


def _keywords(marker: object, kind: str) -> Schema:
    keywords = _KEYWORDS.get(type(marker))
    return keywords(marker, kind) if keywords else {}


def _anchored(regex: str) -> str:
    return f"^(?:{regex})$"


def _validation(rule: Rule) -> Schema:
    schema: Schema = {"rule": rule.cel, "message": rule.message}
    if rule.field:
        schema["fieldPath"] = rule.field
    if rule.forbidden:
        schema["reason"] = "FieldValueForbidden"
    return schema


_SCALARS: Mapping[type, str] = {str: "string", int: "integer", bool: "boolean"}
_LEAST = {"string": "minLength", "array": "minItems", "object": "minProperties"}
_MOST = {"string": "maxLength", "array": "maxItems", "object": "maxProperties"}
_KEYWORDS: Mapping[type, Callable[[Any, str], Schema]] = {
    at.Ge: lambda bound, _: {"minimum": bound.ge},
    at.Le: lambda bound, _: {"maximum": bound.le},
    at.MinLen: lambda bound, kind: {_LEAST[kind]: bound.min_length},
    at.MaxLen: lambda bound, kind: {_MOST[kind]: bound.max_length},
    Pattern: lambda pattern, _: {"pattern": _anchored(pattern.regex)},
    DateTime: lambda _, __: {"format": "date-time"},
}
