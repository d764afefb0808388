"""What Grafana demands of a dashboard, and what we demand of ours."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from monitoring.dashboards import BOARDS
from monitoring.dashboards.board import TAG, panels

FOLDER = Path(__file__).parents[2] / "deploy/monitoring/dashboards"
FILES = tuple(sorted(FOLDER.glob("*.json")))
WIDTH = 24
UNITS = {
    "short",
    "none",
    "bytes",
    "Bps",
    "s",
    "h",
    "ops",
    "reqps",
    "percentunit",
    "celsius",
    "watt",
}
"""Keys of Grafana's value formats; any other word would be shown behind the number."""
BUILT_IN = {"__range", "__rate_interval"}
Wire = dict[str, Any]

each_dashboard = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


def _board(file: Path) -> Wire:
    board: Wire = json.loads(file.read_text(encoding="utf-8"))
    return board


def test_there_is_a_file_for_each_dashboard() -> None:
    assert {board.name for board in BOARDS} == {file.stem for file in FILES}
    assert {"fleet", "instance", "waste", "operator"} <= {file.stem for file in FILES}


@each_dashboard
def test_a_dashboard_can_be_imported_again_and_again(file: Path) -> None:
    board = _board(file)

    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", board["uid"])
    assert f"{TAG}-{file.stem}" == board["uid"]
    assert "id" not in board  # It is the data base's.
    assert "__inputs" not in board
    assert board["schemaVersion"] >= 36


@each_dashboard
def test_a_dashboard_says_what_it_is_and_leads_to_the_others(file: Path) -> None:
    board = _board(file)
    (link,) = board["links"]

    assert board["title"].startswith("GPUStack / ")
    assert board["description"]
    assert [TAG] == board["tags"] == link["tags"]
    assert {"dashboards", True} == {link["type"], link["keepTime"], link["includeVars"]}
    assert "browser" == board["timezone"]
    assert {"from", "to"} == set(board["time"])


@each_dashboard
def test_every_panel_asks_the_chosen_datasource(file: Path) -> None:
    for asked in _askers(_board(file)):
        assert {"type": "prometheus", "uid": "${datasource}"} == asked["datasource"], asked


def _askers(board: Wire) -> Iterator[Wire]:
    for panel in panels(board):
        yield panel
        yield from panel["targets"]
    yield from (one for one in board["templating"]["list"] if one["type"] == "query")


@each_dashboard
def test_ids_are_numbers_and_no_two_panels_share_one(file: Path) -> None:
    ids = [panel["id"] for panel in _board(file)["panels"]]

    assert all(isinstance(number, int) and 0 < number < 2**31 for number in ids)
    assert len(set(ids)) == len(ids)


@each_dashboard
def test_every_panel_says_what_it_shows_in_a_unit(file: Path) -> None:
    for panel in panels(_board(file)):
        assert panel["title"]
        assert panel["description"].endswith("."), panel["title"]
        assert panel["fieldConfig"]["defaults"]["unit"] in UNITS, panel["title"]


@each_dashboard
def test_every_panel_is_of_a_kind_that_grafana_brings_along(file: Path) -> None:
    assert {"timeseries", "stat", "table"} == {panel["type"] for panel in panels(_board(file))}


@each_dashboard
def test_thresholds_begin_without_a_value_and_rise(file: Path) -> None:
    for panel in panels(_board(file)):
        if "thresholds" not in panel["fieldConfig"]["defaults"]:
            continue
        first, *steps = panel["fieldConfig"]["defaults"]["thresholds"]["steps"]
        values = [step["value"] for step in steps]

        assert first["value"] is None
        assert sorted(values) == values


@each_dashboard
def test_queries_of_a_panel_have_letters_of_their_own_and_names_for_their_lines(
    file: Path,
) -> None:
    for panel in panels(_board(file)):
        letters = [target["refId"] for target in panel["targets"]]
        unnamed = [target for target in panel["targets"] if not target.get("legendFormat")]

        assert letters
        assert len(set(letters)) == len(letters)
        assert "timeseries" != panel["type"] or not unnamed, panel["title"]


@each_dashboard
def test_tables_and_figures_ask_for_now_and_lines_for_a_time(file: Path) -> None:
    for panel in panels(_board(file)):
        for target in panel["targets"]:
            assert ("timeseries" == panel["type"]) == target.get("range", False)
            assert ("timeseries" != panel["type"]) == target.get("instant", False)


@each_dashboard
def test_panels_fit_the_grid_and_none_covers_another(file: Path) -> None:
    taken: set[tuple[int, int]] = set()
    for panel in _board(file)["panels"]:
        cells = _cells(panel["gridPos"])
        assert not cells & taken, panel["title"]
        assert all(0 <= column < WIDTH for column, _ in cells), panel["title"]
        taken |= cells


def _cells(at: Mapping[str, int]) -> set[tuple[int, int]]:
    columns = range(at["x"], at["x"] + at["w"])
    return {(x, y) for x in columns for y in range(at["y"], at["y"] + at["h"])}


@each_dashboard
def test_panels_are_in_the_order_in_which_they_are_read(file: Path) -> None:
    at = [(panel["gridPos"]["y"], panel["gridPos"]["x"]) for panel in _board(file)["panels"]]

    assert all(one < other for one, other in pairwise(at))


@each_dashboard
def test_every_variable_that_is_asked_for_is_there_and_the_other_way_round(file: Path) -> None:
    board = _board(file)
    text = json.dumps(board["panels"]) + json.dumps(board["templating"])
    asked = {one or other for one, other in re.findall(r"\$(?:\{(\w+)\}|(\w+))", text)}

    assert {one["name"] for one in board["templating"]["list"]} == asked - BUILT_IN - {"__all"}


@each_dashboard
def test_the_datasource_is_chosen_first(file: Path) -> None:
    first = _board(file)["templating"]["list"][0]

    assert ("datasource", "datasource", "prometheus") == (
        first["name"],
        first["type"],
        first["query"],
    )


def test_a_panel_keeps_its_id_when_another_is_put_in_front() -> None:
    first, second = (
        {panel["title"]: panel["id"] for panel in board.wire()["panels"]} for board in BOARDS[:2]
    )

    assert {first["Ready"]} == {second["Ready"]}
