"""Types and bounds of a schema, in words."""

from collections.abc import Iterator

from gpustack_ctrl.gen.schema import Schema

_UNITS = {
    "string": ("minLength", "maxLength", "character"),
    "array": ("minItems", "maxItems", "entry"),
    "object": ("minProperties", "maxProperties", "entry"),
    "integer": ("minimum", "maximum", ""),
}
_PLURALS = {"character": "characters", "entry": "entries", "": ""}


def type_in_words(schema: Schema) -> str:
    """What a value is: a quantity, a list of strings, …"""
    if is_quantity(schema):
        return "quantity"
    if "items" in schema:
        return f"list of {_many(type_in_words(schema['items']))}"
    if "additionalProperties" in schema:
        return f"map of {_many(type_in_words(schema['additionalProperties']))}"
    return "time" if is_time(schema) else str(schema["type"])


def bounds_in_words(schema: Schema) -> str:
    """What a value must be beyond its type; code spans stand in backquotes."""
    return "; ".join(_bounds(schema))


def is_quantity(schema: Schema) -> bool:
    """Whether a value is a Kubernetes quantity."""
    return "x-kubernetes-int-or-string" in schema


def is_time(schema: Schema) -> bool:
    """Whether a value is a point in time."""
    return schema.get("format") == "date-time"


def _many(singular: str) -> str:
    return _PLURALS.get(singular, f"{singular}s")


def _bounds(schema: Schema) -> Iterator[str]:
    if is_quantity(schema) or is_time(schema):
        return
    if "enum" in schema:
        yield ", ".join(f"`{choice}`" for choice in schema["enum"])
    yield from _range(schema)
    if "pattern" in schema:
        yield f"`{schema['pattern']}`"
    if "x-kubernetes-list-map-keys" in schema:
        yield f"no two with the same {' and '.join(schema['x-kubernetes-list-map-keys'])}"
    entry = schema.get("items") or schema.get("additionalProperties")
    if entry:
        yield from (f"each {bound}" for bound in _bounds(entry))


def _range(schema: Schema) -> Iterator[str]:
    if schema["type"] not in _UNITS:
        return
    least_key, most_key, unit = _UNITS[schema["type"]]
    least, most = schema.get(least_key), schema.get(most_key)
    units = _PLURALS[unit]
    if least is not None and most is not None:
        yield f"{least} to {most} {units}".strip()
    elif most is not None:
        yield f"at most {most} {units}".strip()
    elif least is not None:
        yield f"at least {least} {units}".strip()
