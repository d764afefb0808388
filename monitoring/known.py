"""Every series that a query of ours may name, with its labels."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from gpustack_ctrl.metering.families import catalogue
from monitoring import recording
from monitoring.promql import Checker, Labels
from monitoring.rules import Recording

PAGE = Path(__file__).parents[1] / "docs/reference/metrics.md"
"""The operator's own families; a test of the real operator holds it to what is served."""
TARGET = frozenset({"job", "instance"})
"""What Prometheus adds to each series."""
_ROW = re.compile(r"^\| `(\w+)` \| (\w+) \| ([^|]*) \|", re.MULTILINE)
_PARTS = {"_bucket": frozenset({"le"}), "_sum": frozenset[str](), "_count": frozenset[str]()}


def series() -> Mapping[str, Labels]:
    """The labels of each series, by its name: scraped ones, and those of our own rules."""
    known = {"up": TARGET, **dict(_operator()), **dict(_instances())}
    for group in recording.GROUPS:
        for rule in group.rules:
            if isinstance(rule, Recording):
                known[rule.record] = Checker(known).labels(rule.expr)
    return known


def _instances() -> Iterator[tuple[str, Labels]]:
    return ((family.name, TARGET | frozenset(family.labels)) for family in catalogue())


def _operator() -> Iterator[tuple[str, Labels]]:
    for name, kind, labels in _ROW.findall(PAGE.read_text(encoding="utf-8")):
        held = TARGET | frozenset(re.findall(r"`(\w+)`", labels))
        if kind != "histogram":
            yield name, held
            continue
        for part, more in _PARTS.items():
            yield f"{name}{part}", held | more
