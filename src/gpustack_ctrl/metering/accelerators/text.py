"""Prometheus text, read for a few families only.

prometheus-client's parser takes a second for a page of 4 MiB. So only the lines of the
families asked for get that far; the others are looked at just enough to know that this
is such a page at all.
"""

import re
from collections.abc import Collection, Iterator, Mapping

import attrs
from prometheus_client.parser import text_string_to_metric_families

from gpustack_ctrl.metering.accelerators.adapter import UnreadableError
from gpustack_ctrl.metering.accelerators.readings import Reason

_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")


@attrs.frozen
class Line:
    """One series of a page and its value."""

    family: str
    labels: Mapping[str, str]
    value: float


def read_lines(text: str, families: Collection[str]) -> tuple[Line, ...]:
    """The series of *families* in *text*.

    Raises UnreadableError where the page ends in the middle of a line, holds a line that
    is no series, or has none of the families.
    """
    wanted = tuple(_wanted(text, families))
    if not text.endswith("\n"):
        raise UnreadableError(Reason.TRUNCATED, "the page ends in the middle of a line")
    if not wanted:
        raise UnreadableError(
            Reason.VERSION_SKEW, f"the page has no series of {', '.join(sorted(families))}"
        )
    return tuple(_parsed("\n".join(wanted) + "\n"))


def _wanted(text: str, families: Collection[str]) -> Iterator[str]:
    for line in text.split("\n"):
        stripped = line.lstrip()
        if stripped and not stripped.startswith("#") and _family(stripped) in families:
            yield stripped


def _family(line: str) -> str:
    named = _NAME.match(line)
    if named is None:
        raise UnreadableError(Reason.INVALID_DATA, f"a line is no series: {line[:60]!r}")
    return named[0]


def _parsed(text: str) -> Iterator[Line]:
    try:
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                yield Line(sample.name, sample.labels, float(sample.value))
    except (ValueError, TypeError, LookupError, ArithmeticError) as error:
        # The parser promises no error of its own; these are what it is seen to raise.
        raise UnreadableError(Reason.INVALID_DATA, f"a line cannot be read: {error}") from error
