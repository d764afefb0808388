"""Every picture shows something, where every series is told: no join comes to nothing."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from gpustack_ctrl.metering.families import Group, catalogue
from monitoring.known import series
from monitoring.promql import Labels
from monitoring.queries import Query, queries
from tests.monitoring.promtool import needs_promtool, promtool

RULES = Path(__file__).parents[2] / "deploy/monitoring/rules.yaml"
SAID = {
    "namespace": "red",
    "instance_name": "box",
    "instance_uid": "u1",
    "node": "n1",
    "type": "h100",
    "family": "Whole",
    "phase": "Starting",
    "id": "GPU-1",
    "source": "kubelet",
    "instance": "10.0.0.1:8080",
}
"""What labels say; one that is not here says `x`."""
TOLD = {
    "gpustack_instance_ready": "0x120",
    "gpustack_instance_accelerator_utilization_ratio": "0.01x120",
    "gpustack_instance_start_time_seconds": "0x120",
}
"""Values that matter; a counter grows, and all else is 1."""
GROW = ("_total", "_bucket")
OPERATOR, EXPORTER = "gpustack-ctrl", "gpustack-ctrl-exporter"
JOBS = {
    family.name: OPERATOR if family.group in {Group.STATE, Group.USAGE} else EXPORTER
    for family in catalogue()
}
ASKED = tuple(query for query in queries() if not query.where.startswith("alert "))
"""Alerts are answered only where something is the matter: their own cases hold them."""


@needs_promtool
def test_every_query_is_answered(tmp_path: Path) -> None:
    promtool("test", "rules", _document(tmp_path, ASKED))


@needs_promtool
def test_a_join_that_comes_to_nothing_is_found(tmp_path: Path) -> None:
    query = "gpustack_instance_ready and on (instance) gpustack_instance_processes > 1"
    file = _document(tmp_path, [Query("made up", query)])

    with pytest.raises(AssertionError, match="got: nil"):
        promtool("test", "rules", file)


def _document(folder: Path, asked: Iterable[Query]) -> Path:
    given = [{"series": name, "values": values} for name, values in _world()]
    told = [_answered(query) for query in asked]
    test = {"interval": "1m", "input_series": given, "promql_expr_test": told}
    document = {"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [test]}
    file = folder / "test.yaml"
    file.write_text(yaml.safe_dump(document))
    return file


def _answered(query: Query) -> Mapping[str, object]:
    some = {"labels": "{}", "value": 1}
    expr = f"count({query.expr}) > bool 0"
    return {"expr": expr, "eval_time": "100m", "exp_samples": [some]}


def _world() -> Iterator[tuple[str, str]]:
    """One series of each name that is scraped, and an Instance that nobody measures."""
    for name, labels in series().items():
        if ":" in name:
            continue
        for bound in ("1", "+Inf") if "le" in labels else ("",):
            yield _told(name, labels, le=bound)
        if name in JOBS and JOBS[name] == OPERATOR:
            yield _told(name, labels, instance_name="other", instance_uid="u2")


def _told(name: str, labels: Labels, **more: str) -> tuple[str, str]:
    said = {**SAID, "job": JOBS.get(name, OPERATOR), **more}
    held = ", ".join(f'{label}="{said.get(label, "x")}"' for label in sorted(labels))
    return f"{name}{{{held}}}", TOLD.get(name, "0+60x120" if name.endswith(GROW) else "1x120")
