"""Each alert has a page that says what to do, and what it says can be done."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitoring.alerts import alerts
from monitoring.known import series
from monitoring.promql import Checker
from monitoring.rules import Alert

DOCS = Path(__file__).parents[2] / "docs"
RUNBOOKS = DOCS / "runbooks"
PAGES = tuple(sorted(RUNBOOKS.glob("*.md")))
HEADINGS = ["What it means", "Look", "Do", "When it is harmless"]
CHECKER = Checker(series())
THEIRS = ("kubectl", "gpustack-ctrl", "helm")

each_alert = pytest.mark.parametrize("alert", tuple(alerts()), ids=lambda alert: alert.name)
each_page = pytest.mark.parametrize(
    "page", [*PAGES, DOCS / "how-to/monitor.md"], ids=lambda page: page.stem
)


@each_alert
def test_an_alert_has_a_page_that_is_up_to_date(alert: Alert) -> None:
    text = (RUNBOOKS / f"{alert.runbook}.md").read_text()
    when = "at once" if alert.wait == "0s" else f"after {alert.wait}"

    assert f"\n\n`{alert.name}`, {alert.severity}, {when}.\n\n" in text
    assert re.findall("^## (.*)$", text, re.MULTILINE) == HEADINGS


def test_no_page_is_left_of_an_alert_that_is_gone() -> None:
    assert {alert.runbook for alert in alerts()} | {"README"} == {page.stem for page in PAGES}


@each_alert
def test_the_list_names_every_alert(alert: Alert) -> None:
    row = f"]({alert.runbook}.md) | `{alert.name}` | {alert.severity} |"

    assert row in (RUNBOOKS / "README.md").read_text()


@each_page
def test_the_queries_of_a_page_ask_for_what_there_is(page: Path) -> None:
    for query in _lines(page, "promql"):
        CHECKER.labels(query)


@each_page
def test_the_commands_of_a_page_are_of_programs_that_people_have(page: Path) -> None:
    for line in _lines(page, "sh"):
        assert line.startswith(THEIRS), line


@each_page
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        assert target.startswith("http") or (page.parent / target).exists(), target


def _lines(page: Path, language: str) -> Iterator[str]:
    for block in re.findall(f"```{language}\n(.*?)```", page.read_text(), re.DOTALL):
        yield from filter(None, block.splitlines())
