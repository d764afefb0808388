"""Every query that dashboards and alerts put to Prometheus, ready to be put."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from monitoring import alerts, recording
from monitoring.dashboards import BOARDS
from monitoring.dashboards.board import panels
from monitoring.rules import Recording

VARIABLES: Mapping[str, str] = {
    "namespace": ".*",
    "instance": ".*",
    "job": ".*",
    "price": "1",
    "__rate_interval": "5m",
    "__range": "1h",
}
"""Values that leave nothing out, for the variables of Grafana that our panels use."""
_VARIABLE = re.compile(r"\$(\w+)|\$\{(\w+)\}")
_VALUES = re.compile(r"label_values\((?P<expr>.+), *\w+\)")


@attrs.frozen
class Query:
    """A query; *where* tells what asks it, in words."""

    where: str
    expr: str


def queries(variables: Mapping[str, str] = VARIABLES) -> tuple[Query, ...]:
    """All queries, of recording rules, alerts, panels and variables, in that order.

    *variables* are put in for Grafana's; one that is not given raises KeyError.
    """
    asked = (*recordings(), *alerted(), *pictured())
    return tuple(Query(one.where, _filled(one.expr, variables)) for one in asked)


def recordings() -> Iterator[Query]:
    """The queries of recording rules."""
    for group in recording.GROUPS:
        for rule in group.rules:
            if isinstance(rule, Recording):
                yield Query(f"rule {rule.record}", rule.expr)


def alerted() -> Iterator[Query]:
    """The queries of alerts: what they answer fires, if it lasts."""
    return (Query(f"alert {alert.name}", alert.expr) for alert in alerts.alerts())


def pictured() -> Iterator[Query]:
    """The queries of dashboards, of panels and of variables, as Grafana has them."""
    for board in BOARDS:
        wire = board.wire()
        for panel in panels(wire):
            for target in panel["targets"]:
                yield Query(f"{board.name}: {panel['title']} ({target['refId']})", target["expr"])
        yield from _variables(board.name, wire)


def _variables(board: str, wire: Mapping[str, Any]) -> Iterator[Query]:
    for variable in wire["templating"]["list"]:
        found = _VALUES.fullmatch(str(variable.get("query", "")))
        if found:
            yield Query(f"{board}: variable {variable['name']}", found["expr"])


def _filled(expr: str, variables: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: variables[found[1] or found[2]], expr)
