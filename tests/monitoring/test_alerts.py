"""Each alert fires when it should, and says what is the matter; else it keeps still."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitoring.alerts import alerts
from monitoring.outputs import RUNBOOKS
from monitoring.rules import Alert
from monitoring.thresholds import EXPORTER_JOB, OPERATOR_JOB
from tests.monitoring.cases import CASES, EXPORTER, OPERATOR, Case, Series
from tests.monitoring.promtool import needs_promtool, promtool

RULES = Path(__file__).parents[2] / "deploy/monitoring/rules.yaml"


@needs_promtool
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.alert.name)
def test_an_alert_fires_once_and_tells_what_is_the_matter(case: Case, tmp_path: Path) -> None:
    _run(tmp_path, case.series, _expected(case, at=case.at, alerts=[_fired(case)]))


@needs_promtool
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.alert.name)
def test_an_alert_keeps_still_where_it_should(case: Case, tmp_path: Path) -> None:
    _run(tmp_path, case.quiet, _expected(case, at=case.quiet_at or case.at, alerts=[]))


@needs_promtool
def test_a_reason_that_changes_does_not_put_off_the_alert(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.alert.name == "GpustackInstanceNotReady")
    blocked = next(name for name in case.series if "blocked" in name)
    earlier = blocked.replace("ImagePullBackOff", "ErrImagePull")
    series = {**case.series, earlier: "1x12 _x40", blocked: "_x12 1x40"}

    _run(tmp_path, series, _expected(case, at="25m", alerts=[_fired(case)]))


@needs_promtool
def test_what_operator_and_exporter_both_tell_fires_once(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.alert.name == "GpustackInstanceNotReady")
    twice = {name.replace(OPERATOR, EXPORTER): values for name, values in case.series.items()}

    _run(tmp_path, {**case.series, **twice}, _expected(case, at=case.at, alerts=[_fired(case)]))


@needs_promtool
def test_an_instance_that_is_held_back_by_nothing_known_fires_too(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.alert.name == "GpustackInstanceNotReady")
    series = {name: values for name, values in case.series.items() if "blocked" not in name}
    fired = _fired(case)
    for label in ("gate", "reason", "owner"):
        del fired["exp_labels"][label]
    fired["exp_annotations"]["summary"] = "red/box is not Ready for 15m"

    _run(tmp_path, series, _expected(case, at=case.at, alerts=[fired]))


def test_every_alert_has_a_case() -> None:
    assert {alert.name for alert in alerts()} == {case.alert.name for case in CASES}


def test_there_are_at_least_twelve_alerts_and_no_two_of_a_name() -> None:
    names = [alert.name for alert in alerts()]

    assert len(names) >= 12
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("job", ["", "-metrics"])
@pytest.mark.parametrize("monitor", ["", "gpustack-system/"])
def test_the_operator_is_known_however_it_is_scraped(job: str, monitor: str) -> None:
    name = f"{monitor}gpustack-ctrl{job}"

    assert re.fullmatch(OPERATOR_JOB, name)
    assert not re.fullmatch(EXPORTER_JOB, name)


@pytest.mark.parametrize("monitor", ["", "gpustack-system/"])
def test_so_is_the_exporter(monitor: str) -> None:
    name = f"{monitor}gpustack-ctrl-exporter"

    assert re.fullmatch(EXPORTER_JOB, name)
    assert not re.fullmatch(OPERATOR_JOB, name)


@pytest.mark.parametrize("alert", tuple(alerts()), ids=lambda alert: alert.name)
def test_an_alert_says_what_is_the_matter_and_what_to_do(alert: Alert) -> None:
    assert alert.name.startswith("Gpustack")
    assert not alert.summary.endswith(".")
    assert alert.description.endswith(".")
    assert "{{" not in alert.description


def _expected(case: Case, *, at: str, alerts: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    return {"eval_time": at, "alertname": case.alert.name, "exp_alerts": alerts}


def _fired(case: Case) -> dict[str, Any]:
    told = case.alert.rule(RUNBOOKS)
    return {
        "exp_labels": {**told["labels"], **case.labels},
        "exp_annotations": {**told["annotations"], "summary": case.summary},
    }


def _run(folder: Path, series: Series, expected: Mapping[str, Any]) -> None:
    given = [{"series": name, "values": values} for name, values in series.items()]
    test = {"interval": "1m", "input_series": given, "alert_rule_test": [expected]}
    document = {"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [test]}
    file = folder / "test.yaml"
    file.write_text(yaml.safe_dump(document))
    promtool("test", "rules", file)
