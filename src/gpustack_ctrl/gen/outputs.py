"""Every generated file of the repository: where it lies and what it holds."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from gpustack_ctrl.gen import chart, rbac, reference, series
from gpustack_ctrl.gen.crd import KINDS, crds
from gpustack_ctrl.gen.policies import policies
from gpustack_ctrl.gen.text import manifest

NAMESPACE = "gpustack-system"
"""Where the plain manifests put the operator."""
NAMESPACE_PER_NODE = "gpustack-exporter"
"""Where they put exporters that look into their node, which the other namespace forbids."""
RELEASE_NAMESPACE = "{{ .Release.Namespace }}"

_DEPLOY = PurePosixPath("deploy")
_CHART = PurePosixPath("helm/gpustack-ctrl/templates")
_REFERENCE = PurePosixPath("docs/reference")

_EXPORTER = ".Values.exporter.enabled"
_PROTECTED = '(include "gpustack-ctrl.protected" .)'

Output = tuple[PurePosixPath, str]


def outputs() -> Mapping[PurePosixPath, str]:
    """The text of each generated file, by its path from the root of the repository."""
    return dict((*_crds(), *_rbac(), *_policies(), *_reference()))


def _crds() -> Iterator[Output]:
    for definition in crds():
        name = _file_name(definition)
        yield _DEPLOY / "crds" / name, manifest([definition])
        yield _CHART / "crds" / name, chart.crd_template(definition)


def _file_name(definition: Mapping[str, Any]) -> str:
    return f"{definition['metadata']['name']}.yaml"


def _rbac() -> Iterator[Output]:
    yield _DEPLOY / "rbac" / "operator.yaml", manifest(rbac.operator(NAMESPACE))
    yield _DEPLOY / "rbac" / "tenants.yaml", manifest(rbac.tenants())
    yield _DEPLOY / "rbac" / "crd-installer.yaml", manifest(rbac.crd_installer(NAMESPACE))
    yield _DEPLOY / "rbac" / "exporter.yaml", manifest(rbac.exporter(NAMESPACE))
    yield _DEPLOY / "rbac" / "metrics-guard.yaml", manifest(rbac.metrics_guard(NAMESPACE))
    yield _DEPLOY / "rbac" / "metrics-reader.yaml", manifest(rbac.metrics_reader())
    bindings = rbac.exporter_per_node(NAMESPACE_PER_NODE, NAMESPACE)
    yield _DEPLOY / "exporter-per-node" / "rbac.yaml", manifest(bindings)
    yield from _chart_rbac()


def _chart_rbac() -> Iterator[Output]:
    yield _CHART / "rbac.yaml", chart.rbac_template(rbac.operator(RELEASE_NAMESPACE))
    yield _CHART / "rbac-tenants.yaml", chart.rbac_template(rbac.tenants())
    exporter = chart.rbac_template(rbac.exporter(RELEASE_NAMESPACE), where=_EXPORTER)
    yield _CHART / "rbac-exporter.yaml", exporter
    guard = chart.rbac_template(rbac.metrics_guard(RELEASE_NAMESPACE), where=_PROTECTED)
    yield _CHART / "rbac-metrics-guard.yaml", guard
    yield _CHART / "rbac-metrics-reader.yaml", chart.rbac_template(rbac.metrics_reader())


def _policies() -> Iterator[Output]:
    yield _DEPLOY / "policies.yaml", manifest(policies(NAMESPACE))
    yield _CHART / "policies.yaml", chart.policies_template(policies(RELEASE_NAMESPACE))


def _reference() -> Iterator[Output]:
    for kind in KINDS:
        yield _REFERENCE / f"{kind.resource.plural}.md", reference.kind_page(kind)
    yield _REFERENCE / "permissions.md", reference.permissions_page()
    yield _REFERENCE / "instance-metrics.md", series.series_page()
