"""What an annotation may say about a field, beside its type.

The bounds come from `annotated_types` (`Ge`, `Le`, `MinLen`, `MaxLen`); the markers
below say the rest. One reading of them gives the CRD schema, the reference page and
the validators, so that none of the three can disagree.
"""

from typing import Annotated

import attrs
from annotated_types import MaxLen


@attrs.frozen
class Doc:
    """What a field means, as users read it in `kubectl explain`."""

    text: str


@attrs.frozen
class Pattern:
    """A regular expression that the whole string matches; RE2 and Python agree on it."""

    regex: str


@attrs.frozen
class ListMap:
    """Entries of the list are told apart by these fields, never by their position."""

    keys: tuple[str, ...]


@attrs.frozen
class QuantityOf:
    """The string or number is a quantity of 0 or more, such as `1`, `500m` or `16Gi`."""


@attrs.frozen
class DateTime:
    """The string is a time as RFC 3339 writes it, such as `2026-11-30T12:00:00Z`."""


@attrs.frozen
class Rule:
    """A CEL expression that must hold, and the sentence a user reads where it does not."""

    cel: str
    message: str
    field: str = ""
    """The field at fault, from the object that carries the rule; empty: the object itself."""
    forbidden: bool = False
    """Whether the write is not allowed now, rather than its value wrong at any time."""


@attrs.frozen
class Column:
    """A column of `kubectl get`."""

    name: str
    path: str
    type: str = "string"
    wide: bool = False


Quantity = Annotated[int | str, QuantityOf()]
Timestamp = Annotated[str, DateTime(), MaxLen(64)]
