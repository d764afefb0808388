"""The panels that our dashboards are made of, and how Grafana is told of them."""

from abc import ABC, abstractmethod
from typing import TypeVar

import attrs
from grafana_foundation_sdk.builders import common as common_builder
from grafana_foundation_sdk.builders import dashboard as dashboard_builder
from grafana_foundation_sdk.builders import prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import common, dashboard
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

SOURCE = common.DataSourceRef(type_val="prometheus", uid="${datasource}")
"""Whatever the variable says: no dashboard knows a datasource by name."""
WHOLE, HALF, THIRD, QUARTER, SIXTH, EIGHTH = 24, 12, 8, 6, 4, 3
"""Widths, of a grid of 24 columns."""
HEIGHT = 8
LOW = 4


@attrs.frozen
class Curve:
    """What a query tells; *legend* names its series by their labels."""

    expr: str
    legend: str = ""


@attrs.frozen
class Step:
    """From *value* on, a figure has this *color*."""

    value: float
    color: str


FAULTS = (Step(1, "red"),)
WARNINGS = (Step(1, "orange"),)


@attrs.frozen(kw_only=True)
class Panel(ABC):
    """One picture: *meaning* says what it shows, and what to make of it."""

    title: str
    meaning: str
    unit: str
    curves: tuple[Curve, ...]
    span: int = HALF

    @abstractmethod
    def build(self) -> Builder[dashboard.Panel]:
        """The panel, as Grafana is told."""


@attrs.frozen(kw_only=True)
class Trend(Panel):
    """Lines over time; *stacked* ones add up to a whole."""

    stacked: bool = False
    most: float | None = None

    def build(self) -> Builder[dashboard.Panel]:
        """A time series that says nothing where nothing is known."""
        made = _titled(timeseries.Panel(), self, HEIGHT).min(0)
        made = made.legend(_legend()).tooltip(_tooltip()).fill_opacity(10).line_width(1)
        made = made.span_nulls(False).show_points(common.VisibilityMode.NEVER)
        made = made.max(self.most) if self.most is not None else made
        if self.stacked:
            mode = common.StackingMode.NORMAL
            made = made.stacking(common_builder.StackingConfig().mode(mode).group("A"))
        for at, curve in enumerate(self.curves):
            made = made.with_target(_query(at, curve).range())
        return made


@attrs.frozen(kw_only=True)
class Figure(Panel):
    """One number, as it is now; its color changes at each of *steps*."""

    span: int = SIXTH
    steps: tuple[Step, ...] = ()

    def build(self) -> Builder[dashboard.Panel]:
        """A stat of the last value."""
        last = common_builder.ReduceDataOptions().calcs(["lastNotNull"])
        made = _titled(stat.Panel(), self, LOW).reduce_options(last)
        made = made.thresholds(_thresholds(self.steps)).no_value("unknown")
        made = made.graph_mode(common.BigValueGraphMode.NONE)
        for at, curve in enumerate(self.curves):
            made = made.with_target(_query(at, curve).instant())
        return made


@attrs.frozen(kw_only=True)
class Rows(Panel):
    """A table of the series as they are now, a column for each label but *hidden*.

    *value* heads the column of their values; without it there is none, since all are 1.
    """

    value: str = ""
    hidden: tuple[str, ...] = ()

    def build(self) -> Builder[dashboard.Panel]:
        """A table, the greatest value first."""
        made = _titled(table.Panel(), self, HEIGHT).filterable(True)
        made = made.with_transformation(self._columns())
        if self.value:
            first = common_builder.TableSortByFieldState().display_name(self.value)
            made = made.sort_by([first.desc(True)])
        for at, curve in enumerate(self.curves):
            query = _query(at, curve).instant().format(PromQueryFormat.TABLE)
            made = made.with_target(query)
        return made

    def _columns(self) -> dashboard.DataTransformerConfig:
        unseen = ("Time", "__name__", *self.hidden, *(() if self.value else ("Value",)))
        renamed = {"Value": self.value} if self.value else {}
        options = {
            "excludeByName": dict.fromkeys(unseen, True),
            "indexByName": {},
            "renameByName": renamed,
        }
        return dashboard.DataTransformerConfig(id_val="organize", options=options)


_Made = TypeVar("_Made", timeseries.Panel, stat.Panel, table.Panel)


def _titled(made: _Made, told: Panel, height: int) -> _Made:
    made = made.title(told.title).description(told.meaning).unit(told.unit)
    return made.datasource(SOURCE).span(told.span).height(height)


def _query(at: int, curve: Curve) -> prometheus.Dataquery:
    made = prometheus.Dataquery().datasource(SOURCE).ref_id(chr(ord("A") + at))
    return made.expr(curve.expr).legend_format(curve.legend)


def _legend() -> common_builder.VizLegendOptions:
    made = common_builder.VizLegendOptions().show_legend(True)
    return made.display_mode(common.LegendDisplayMode.LIST).placement(common.LegendPlacement.BOTTOM)


def _tooltip() -> common_builder.VizTooltipOptions:
    made = common_builder.VizTooltipOptions().mode(common.TooltipDisplayMode.MULTI)
    return made.sort(common.SortOrder.DESCENDING)


def _thresholds(steps: tuple[Step, ...]) -> dashboard_builder.ThresholdsConfig:
    first = dashboard.Threshold(color="green" if steps else "text")
    after = [dashboard.Threshold(value=step.value, color=step.color) for step in steps]
    made = dashboard_builder.ThresholdsConfig().mode(dashboard.ThresholdsMode.ABSOLUTE)
    return made.steps([first, *after])
