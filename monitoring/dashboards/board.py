"""A dashboard: its variables, its sections, and the links to the others."""

import json
import zlib
from collections.abc import Iterator
from typing import Any

import attrs
from grafana_foundation_sdk.builders import dashboard as builder
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard

from gpustack_ctrl.gen.text import BANNER
from monitoring.dashboards.panels import SOURCE, Panel

TAG = "gpustack"
Variable = Builder[dashboard.VariableModel]


@attrs.frozen
class Section:
    """Panels beneath one heading."""

    title: str
    panels: tuple[Panel, ...]


@attrs.frozen(kw_only=True)
class Board:
    """A dashboard; *name* is its file and, after `gpustack-`, its address in Grafana."""

    name: str
    title: str
    meaning: str
    variables: tuple[Variable, ...]
    sections: tuple[Section, ...]
    since: str = "now-6h"

    def wire(self) -> dict[str, Any]:
        """The dashboard, as Grafana imports it; equal for equal contents."""
        made = self._head()
        for variable in (datasource(), *self.variables):
            made = made.with_variable(variable)
        for section in self.sections:
            made = made.with_row(builder.Row(section.title))
            for panel in section.panels:
                made = made.with_panel(panel.build())
        return _numbered(json.loads(JSONEncoder().encode(made.build())))

    def _head(self) -> builder.Dashboard:
        made = builder.Dashboard(self.title).uid(f"{TAG}-{self.name}").tags([TAG])
        made = made.description(f"{self.meaning} {BANNER}.").timezone("browser")
        made = made.time(self.since, "now").refresh("1m").link(_others())
        return made.tooltip(dashboard.DashboardCursorSync.CROSSHAIR)


def _numbered(board: dict[str, Any]) -> dict[str, Any]:
    """Each panel has an id of its title: one that is put in front changes no other."""
    for panel in board["panels"]:
        panel["id"] = zlib.crc32(panel["title"].encode()) >> 1
    return board


def _others() -> builder.DashboardLink:
    made = builder.DashboardLink("GPUStack").type(dashboard.DashboardLinkType.DASHBOARDS)
    return made.tags([TAG]).as_dropdown(True).include_vars(True).keep_time(True)


def datasource() -> Variable:
    """Which Prometheus is asked."""
    return builder.DatasourceVariable("datasource").label("Data source").type("prometheus")


def choice(name: str, label: str, query: str, *, several: bool = True) -> Variable:
    """A variable of the values that *query* finds; of *several*, all are the first choice."""
    made = builder.QueryVariable(name).label(label).query(query).datasource(SOURCE)
    made = made.refresh(dashboard.VariableRefresh.ON_TIME_RANGE_CHANGED)
    made = made.sort(dashboard.VariableSort.ALPHABETICAL_ASC)
    if not several:
        return made
    every = dashboard.VariableOption(selected=True, text="All", value="$__all")
    return made.multi(True).include_all(True).all_value(".*").current(every)


def entry(name: str, label: str, default: str) -> Variable:
    """A variable that people type."""
    return builder.TextBoxVariable(name).label(label).default_value(default)


def panels(board: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The panels of *board* that ask something."""
    return (panel for panel in board["panels"] if panel["type"] != "row")
