"""Every file under `deploy/monitoring/` that is generated: where it lies and what it holds."""

import json
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from gpustack_ctrl.api.names import PRODUCT
from gpustack_ctrl.gen.outputs import NAMESPACE
from gpustack_ctrl.gen.text import manifest
from monitoring import alerts, recording
from monitoring.dashboards import BOARDS

RUNBOOKS = "docs/runbooks"
"""Where the runbooks are: in this repository, unless told otherwise."""
HERE = PurePosixPath("deploy/monitoring")


def outputs(runbooks: str = RUNBOOKS) -> Mapping[PurePosixPath, str]:
    """The text of each file, by its path from the root of the repository."""
    return dict((*_rules(runbooks), *_dashboards()))


def rules(runbooks: str = RUNBOOKS) -> dict[str, Any]:
    """All groups, as a rule file holds them."""
    groups = (*recording.GROUPS, *alerts.GROUPS)
    return {"groups": [group.wire(runbooks) for group in groups]}


def _rules(runbooks: str) -> Iterator[tuple[PurePosixPath, str]]:
    yield HERE / "rules.yaml", manifest([rules(runbooks)])
    yield HERE / "prometheusrule.yaml", manifest([_prometheus_rule(runbooks)])


def _prometheus_rule(runbooks: str) -> dict[str, Any]:
    labels = {"app.kubernetes.io/name": PRODUCT}
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": PRODUCT, "namespace": NAMESPACE, "labels": labels},
        "spec": rules(runbooks),
    }


def _dashboards() -> Iterator[tuple[PurePosixPath, str]]:
    for board in BOARDS:
        text = json.dumps(board.wire(), indent=2, sort_keys=True, ensure_ascii=False)
        yield HERE / "dashboards" / f"{board.name}.json", f"{text}\n"
