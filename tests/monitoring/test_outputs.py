"""The generated files are fresh, for Prometheus and for its operator alike."""

import json
from pathlib import Path

import pytest
import yaml

from gpustack_ctrl.gen.text import BANNER
from monitoring.__main__ import main
from monitoring.outputs import outputs

ROOT = Path(__file__).parents[2]
HERE = ROOT / "deploy/monitoring"


def test_the_files_of_the_repository_are_fresh(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["--check", "--root", str(ROOT)]), capsys.readouterr().err


def test_a_stale_file_and_one_too_many_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--root", str(tmp_path)])
    (tmp_path / "deploy/monitoring/rules.yaml").write_text("edited")
    (tmp_path / "deploy/monitoring/dashboards/old.json").write_text(f'{{"d": "{BANNER}"}}')
    (tmp_path / "deploy/monitoring/dashboards/mine.json").write_text("{}")
    capsys.readouterr()

    assert 1 == main(["--check", "--root", str(tmp_path)])
    assert [
        "deploy/monitoring/rules.yaml is stale: run make gen",
        "deploy/monitoring/dashboards/old.json is not generated any more: run make gen",
    ] == capsys.readouterr().err.splitlines()


def test_every_file_says_that_it_is_generated() -> None:
    for path, text in outputs().items():
        assert BANNER in text, path
        assert text.endswith("\n"), path


def test_the_operator_of_prometheus_is_given_the_same_groups() -> None:
    plain = yaml.safe_load((HERE / "rules.yaml").read_text())
    wrapped = yaml.safe_load((HERE / "prometheusrule.yaml").read_text())

    assert plain == wrapped["spec"]
    assert ("monitoring.coreos.com/v1", "PrometheusRule") == (
        wrapped["apiVersion"],
        wrapped["kind"],
    )


def test_runbooks_may_lie_elsewhere(tmp_path: Path) -> None:
    main(["--runbooks", "https://wiki.example/gpu", "--root", str(tmp_path)])
    text = (tmp_path / "deploy/monitoring/rules.yaml").read_text()

    assert "runbook_url: https://wiki.example/gpu/operator-down.md\n" in text
    assert "docs/runbooks" not in text


def test_the_kustomization_brings_every_dashboard() -> None:
    held = yaml.safe_load((HERE / "kustomization.yaml").read_text())
    brought = {file for maps in held["configMapGenerator"] for file in maps["files"]}
    there = {path.stem for path in HERE.glob("dashboards/*.json")}

    assert {f"gpustack-{name}.json=dashboards/{name}.json" for name in there} == brought


def test_a_dashboard_fits_into_what_kubectl_keeps_of_it() -> None:
    """Its annotation of what was last applied may have 256 KiB."""
    for path in HERE.glob("dashboards/*.json"):
        assert len(json.dumps(path.read_text())) < 200_000, path
