"""No query names what nobody tells: a family, or a label of one."""

from pathlib import Path

import pytest
import yaml

from gpustack_ctrl.metering import families
from monitoring import alerts, recording
from monitoring.known import series
from monitoring.promql import Checker, MistakeError, asked
from monitoring.queries import Query, pictured, queries
from monitoring.rules import Alert
from tests.monitoring.promtool import needs_promtool, promtool

CHECKER = Checker(series())
ID = frozenset({"namespace", "instance_name", "instance_uid"})
TARGET = frozenset({"job", "instance"})


@pytest.mark.parametrize("query", queries(), ids=lambda query: query.where)
def test_a_query_asks_for_series_and_labels_that_there_are(query: Query) -> None:
    CHECKER.labels(query.expr)


@needs_promtool
def test_prometheus_can_parse_every_query(tmp_path: Path) -> None:
    rules = [
        {"record": f"query:number:{number}", "expr": query.expr}
        for number, query in enumerate(queries())
    ]
    file = tmp_path / "queries.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}))

    assert f"{len(rules)} rules found" in promtool("check", "rules", file)


@needs_promtool
def test_prometheus_takes_the_rule_file() -> None:
    file = Path(__file__).parents[2] / "deploy/monitoring/rules.yaml"
    count = sum(len(group.rules) for group in (*recording.GROUPS, *alerts.GROUPS))

    assert f"{count} rules found" in promtool("check", "rules", file)


@pytest.mark.parametrize(
    ("query", "mistake"),
    [
        ("gpustack_instance_happiness", "names gpustack_instance_happiness"),
        ("sum(rate(gpustack_instance_happiness_total[5m])) / 2", "names gpustack_instance_happ"),
        ("instance:gpustack_instance_happiness:max > 1", "names instance:gpustack_instance_happi"),
        ("workqueue_queue_duration_seconds", "names workqueue_queue_duration_seconds"),
        ('gpustack_instance_ready{phase="Ready"}', "has no label phase of gpustack_instance_rea"),
        ('{__name__="gpustack_instance_ready"}', "names "),
        ("sum by (node) (gpustack_instance_ready)", "has no label node to sum by"),
        ("sum without (node) (gpustack_instance_ready)", "has no label node to sum by"),
        ("gpustack_instance_ready and on (node) gpustack_instance_info", "has no label node to ma"),
        ("gpustack_instance_ready / gpustack_instance_info", "to match both sides on"),
        (
            "gpustack_instance_phase * on (job) group_left (cluster) gpustack_instance_info",
            "has no label cluster to bring over from the right",
        ),
        (
            "gpustack_instance_info * on (job) group_right (cluster) gpustack_instance_phase",
            "has no label cluster to bring over from the left",
        ),
        ("sum(sum(gpustack_instance_ready)) by (job)", "has no label job to sum by"),
        ("gpustack_instance_ready[5m", "is no PromQL"),
    ],
)
def test_a_mistake_is_found(query: str, mistake: str) -> None:
    with pytest.raises(MistakeError) as found:
        CHECKER.labels(query)

    assert mistake in str(found.value)


@pytest.mark.parametrize(
    ("query", "labels"),
    [
        ("gpustack_instance_ready", ID | TARGET),
        ("-(gpustack_instance_ready)", ID | TARGET),
        ("time() - gpustack_instance_ready", ID | TARGET),
        ("time()", frozenset()),
        ("sum(gpustack_instance_ready)", frozenset()),
        ("topk(3, gpustack_instance_ready)", ID | TARGET),
        ("sum by (job) (gpustack_instance_ready)", {"job"}),
        ("sum without (job) (gpustack_instance_ready)", ID | {"instance"}),
        ("max_over_time(sum by (job) (gpustack_instance_ready)[5m:1m])", {"job"}),
        ("gpustack_instance_ready and on (job) up", ID | TARGET),
        ("gpustack_instance_ready or up", ID | TARGET),
        ("gpustack_instance_ready * on (job) up", {"job"}),
        ("gpustack_instance_ready * ignoring (job) gpustack_instance_ready", ID | {"instance"}),
        (
            "gpustack_instance_ready * on (instance_uid) group_left (type) gpustack_instance_info",
            ID | TARGET | {"type"},
        ),
        ('absent(up{job="a", instance=~"b"})', {"job"}),
        ('absent(up{job="a"} == 1)', frozenset()),
        ('label_replace(up, "host", "$1", "instance", "(.*):.*")', TARGET | {"host"}),
        (
            "histogram_quantile(0.9, sum by (le, name) (workqueue_queue_duration_seconds_bucket))",
            {"name"},
        ),
        ("vector(0)", frozenset()),
    ],
)
def test_the_labels_of_a_result(query: str, labels: frozenset[str]) -> None:
    assert labels == CHECKER.labels(query)


@pytest.mark.parametrize("alert", tuple(alerts.alerts()), ids=lambda alert: alert.name)
def test_a_summary_names_labels_that_its_alert_has(alert: Alert) -> None:
    named = {
        word.strip("}").removeprefix("$labels.")
        for word in alert.summary.split()
        if "$labels." in word
    }

    assert named <= CHECKER.labels(alert.expr)


def test_each_family_of_use_and_state_is_looked_at_by_something() -> None:
    """A figure that is in no picture and no rule is looked for by nobody."""
    shown = frozenset[str]().union(*(asked(query.expr) for query in queries()))
    left = {family.name for family in families.catalogue()} - shown
    theirs = {
        family.name for family in families.catalogue() if family.group == families.Group.REFERENCE
    }

    assert set() == left - theirs


def test_the_series_that_a_query_asks_for_are_all_found() -> None:
    query = 'sum(rate(a{x="up"}[5m])) / on () (b:c or max_over_time(d[1h:1m])) unless time() - e'

    assert {"a", "b:c", "d", "e"} == asked(query)


def test_a_variable_that_is_given_no_value_is_named() -> None:
    with pytest.raises(KeyError, match="namespace"):
        queries({})


def test_the_variables_of_panels_are_put_in_and_nothing_else_is_left() -> None:
    assert any("$" in query.expr for query in pictured())
    assert not any("$" in query.expr.replace("$1", "") for query in queries())
