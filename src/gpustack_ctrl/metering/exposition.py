"""Series as Prometheus and OpenMetrics write them.

The lines of series are the same in both formats; only what stands above a family differs.
So lines are made once, long before anybody scrapes.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gpustack_ctrl.metering.families import Family, Kind

PLAIN = "text/plain; version=0.0.4; charset=utf-8"
OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
END = b"# EOF\n"
"""What ends a page of OpenMetrics."""

_LONGEST_INTEGER = 1e15
_ESCAPED = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
_ESCAPED_HELP = {True: _ESCAPED, False: str.maketrans({"\\": r"\\", "\n": r"\n"})}
"""OpenMetrics also escapes quotes there; the older format would keep the backslash."""


class Sample(NamedTuple):
    """A value of *family*, with a value for each of its labels."""

    family: Family
    labels: tuple[str, ...]
    value: float


Lines = Mapping[Family, bytes]
"""The series of each family, one a line."""


def lines(samples: Iterable[Sample]) -> Lines:
    """*samples* by family, in the order in which they come."""
    found: defaultdict[Family, list[str]] = defaultdict(list)
    for family, labels, value in samples:
        found[family].append(f"{family.name}{_labels(family, labels)} {number(value)}\n")
    return {family: "".join(held).encode() for family, held in found.items()}


def head(family: Family, *, open_metrics: bool) -> bytes:
    """What stands above the series of *family*."""
    name = family.name
    if open_metrics and family.kind is Kind.COUNTER:
        name = name.removesuffix("_total")
    meaning = family.meaning.translate(_ESCAPED_HELP[open_metrics])
    return f"# HELP {name} {meaning}\n# TYPE {name} {family.kind}\n".encode()


def number(value: float) -> str:
    """*value* as both formats write it: whole ones without a point."""
    if abs(value) < _LONGEST_INTEGER and value == int(value):
        return str(int(value))
    if math.isfinite(value):
        return repr(float(value))
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"


def _labels(family: Family, values: tuple[str, ...]) -> str:
    pairs = zip(family.labels, values, strict=True)
    return "{" + ",".join([f'{name}="{_escaped(value)}"' for name, value in pairs]) + "}"


def _escaped(value: str) -> str:
    return value.translate(_ESCAPED) if "\\" in value or '"' in value or "\n" in value else value
