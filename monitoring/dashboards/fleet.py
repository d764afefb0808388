"""All Instances: how many there are, what keeps them, what they use."""

from gpustack_ctrl.metering import families as f
from monitoring import recording as r
from monitoring.dashboards import scope
from monitoring.dashboards.board import Board, Section
from monitoring.dashboards.panels import (
    FAULTS,
    HALF,
    THIRD,
    WARNINGS,
    WHOLE,
    Curve,
    Figure,
    Rows,
    Trend,
)
from monitoring.dashboards.scope import OF_INSTANCE, OF_NAMESPACES
from monitoring.recording import NAMED

_OF_TYPE = f"* on ({NAMED}) group_left (type) {r.INFO}"
_JOB = scope.EXPORTERS
_NAMESPACES = scope.NAMESPACES

_NOW = Section(
    "Now",
    (
        Figure(
            title="Instances",
            meaning="All Instances of the chosen namespaces, stopped ones included.",
            unit="short",
            curves=(Curve(f"sum({r.FLEET}{OF_NAMESPACES})"),),
        ),
        Figure(
            title="Ready",
            meaning="Instances that people can use.",
            unit="short",
            curves=(Curve(f"sum({r.READY}{OF_INSTANCE})"),),
        ),
        Figure(
            title="Not Ready",
            meaning="Instances that should be Ready and are not; see why below.",
            unit="short",
            steps=WARNINGS,
            curves=(Curve(f"sum({r.UNREADY}{OF_INSTANCE})"),),
        ),
        Figure(
            title="Accelerators held",
            meaning="Cards, shares, slices and partitions of Instances that have a Pod.",
            unit="short",
            curves=(Curve(f"sum({r.HELD}{OF_INSTANCE})"),),
        ),
        Figure(
            title="Unhealthy accelerators",
            meaning="Held ones that are ill, as their source tells.",
            unit="short",
            steps=FAULTS,
            curves=(Curve(f"sum({f.DEVICE_UNHEALTHY.name}{{{_JOB}, {_NAMESPACES}}})"),),
        ),
        Figure(
            title="Sources that fail",
            meaning="Sources of nodes that cannot be read: their figures are absent.",
            unit="short",
            steps=WARNINGS,
            curves=(Curve(f"count({f.COLLECTOR_SUCCESS.name}{{{_JOB}}} == 0) or vector(0)"),),
        ),
    ),
)
_LIFE = Section(
    "What keeps them",
    (
        Trend(
            title="Instances by phase",
            meaning="Where in their life the Instances are.",
            unit="short",
            stacked=True,
            curves=(Curve(f"sum by (phase) ({r.FLEET}{OF_NAMESPACES})", "{{phase}}"),),
        ),
        Trend(
            title="Instances held back, by gate",
            meaning="The first gate that is shut, as status.blocker tells it.",
            unit="short",
            stacked=True,
            curves=(
                Curve(f"sum by (gate, reason) ({r.BLOCKED}{OF_INSTANCE})", "{{gate}}: {{reason}}"),
            ),
        ),
        Rows(
            title="What is not Ready, and why",
            meaning="Each Instance that is held back; owner tells who can help.",
            unit="short",
            hidden=("instance_uid",),
            span=WHOLE,
            curves=(Curve(f"{r.BLOCKED}{OF_INSTANCE}"),),
        ),
        Trend(
            title="Restarts of workloads",
            meaning="Per hour. Those that are stopped and started by users do not count.",
            unit="short",
            curves=(
                Curve(
                    "sum by (namespace)"
                    f" (max by ({NAMED}) (increase({f.RESTARTS.name}{OF_INSTANCE}[1h])))",
                    "{{namespace}}",
                ),
            ),
        ),
        Trend(
            title="Instances by type",
            meaning="Types that Instances name, stopped ones included.",
            unit="short",
            stacked=True,
            curves=(Curve(f"count by (type) ({r.INFO}{OF_INSTANCE})", "{{type}}"),),
        ),
    ),
)
_USE = Section(
    "Use",
    (
        Trend(
            title="CPU by namespace",
            meaning="Cores in use, averaged over five minutes.",
            unit="short",
            span=THIRD,
            curves=(Curve(f"sum by (namespace) ({r.CPU_USE}{OF_INSTANCE})", "{{namespace}}"),),
        ),
        Trend(
            title="Memory by namespace",
            meaning="Memory that cannot be taken back under pressure.",
            unit="bytes",
            span=THIRD,
            curves=(Curve(f"sum by (namespace) ({r.MEMORY_USE}{OF_INSTANCE})", "{{namespace}}"),),
        ),
        Trend(
            title="Local storage by namespace",
            meaning="Written files, logs and ephemeral volumes.",
            unit="bytes",
            span=THIRD,
            curves=(Curve(f"sum by (namespace) ({r.STORAGE_USE}{OF_INSTANCE})", "{{namespace}}"),),
        ),
        Trend(
            title="Network",
            meaning="Bytes a second over the interfaces of all Pods, in and out.",
            unit="Bps",
            curves=(
                Curve(
                    f"sum(rate({f.NETWORK_RECEIVE.name}{{{_JOB}, {_NAMESPACES}}}"
                    "[$__rate_interval]))",
                    "in",
                ),
                Curve(
                    f"sum(rate({f.NETWORK_TRANSMIT.name}{{{_JOB}, {_NAMESPACES}}}"
                    "[$__rate_interval]))",
                    "out",
                ),
            ),
        ),
        Rows(
            title="Nearest to their memory limit",
            meaning="The ten Instances that use the largest part of what they may.",
            unit="percentunit",
            hidden=("instance_uid",),
            value="Used",
            span=HALF,
            curves=(Curve(f"topk(10, {r.MEMORY_RATIO}{OF_INSTANCE})"),),
        ),
    ),
)
_ACCELERATORS = Section(
    "Accelerators",
    (
        Trend(
            title="Accelerators held, by type",
            meaning="What Instances with a Pod have been given.",
            unit="short",
            stacked=True,
            curves=(
                Curve(f"sum by (type, family) ({r.HELD}{OF_INSTANCE})", "{{type}}, {{family}}"),
            ),
        ),
        Trend(
            title="Use of accelerators, by type",
            meaning="How busy they are, of all; only those count that somebody measures.",
            unit="percentunit",
            curves=(Curve(f"avg by (type) ({r.UTILIZATION}{OF_INSTANCE} {_OF_TYPE})", "{{type}}"),),
        ),
    ),
)

BOARD = Board(
    name="fleet",
    title="GPUStack / Fleet",
    meaning="All Instances: how many there are, what keeps them, what they use.",
    variables=(scope.exporter_job(), scope.namespace(), scope.instance()),
    sections=(_NOW, _LIFE, _USE, _ACCELERATORS),
)
