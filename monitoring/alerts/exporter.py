"""Alerts about figures that are not read."""

from gpustack_ctrl.metering import families as f
from monitoring import recording as r
from monitoring import thresholds
from monitoring.recording import NAMED
from monitoring.rules import Alert, Group, Severity, once

EXPORTER = f'job=~"{thresholds.EXPORTER_JOB}"'
FAILING = f"{once(f.COLLECTOR_SUCCESS, *f.COLLECTION)} == 0"

DOWN = Alert(
    name="GpustackExporterDown",
    expr=f"up{{{EXPORTER}}} == 0 or absent(up{{{EXPORTER}}})",
    wait="5m",
    severity=Severity.WARNING,
    summary="{{ with $labels.instance }}Exporter {{ . }}{{ else }}No exporter{{ end }}"
    "{{ if $labels.instance }} does not answer Prometheus{{ else }} is scraped{{ end }}",
    description=(
        "What its Instances use is not known, and not billed by use. See whether its Pod runs, and"
        " whether Prometheus may scrape it: with protection on, it needs the role for it."
    ),
)
BLIND = Alert(
    name="GpustackExporterBlind",
    expr=FAILING,
    wait="10m",
    severity=Severity.WARNING,
    summary="{{ $labels.source }} of node {{ $labels.node }} cannot be read",
    description=(
        "Instances on that node have no figures of this source."
        f" {f.COLLECTOR_FAILURE.name} tells the reason in one word."
    ),
)
NODE_LOST = Alert(
    name="GpustackNodeLost",
    expr=(
        f"count by (node) ({r.INFO} and on ({NAMED}) ({r.UNREADY} == 1)) and on (node) ({FAILING})"
    ),
    wait="5m",
    severity=Severity.CRITICAL,
    summary="Node {{ $labels.node }} does not answer; Instances on it that are down: {{ $value }}",
    description=(
        "The kubelet answers neither us nor, it seems, the API server. Bring the node back; if it"
        " is gone for good, delete its Node, and the Instances start elsewhere."
    ),
)

GROUP = Group(name="gpustack-exporter", rules=(DOWN, BLIND, NODE_LOST))
