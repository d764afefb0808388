"""One Instance: what it is, what it uses, and what of it is not known."""

from gpustack_ctrl.metering import families as f
from gpustack_ctrl.metering.families import Family
from monitoring import recording as r
from monitoring.dashboards import scope
from monitoring.dashboards.board import Board, Section
from monitoring.dashboards.panels import (
    EIGHTH,
    FAULTS,
    QUARTER,
    THIRD,
    WARNINGS,
    WHOLE,
    Curve,
    Figure,
    Rows,
    Step,
    Trend,
)
from monitoring.dashboards.scope import OF_INSTANCE
from monitoring.recording import NAMED
from monitoring.rules import names


def _here(family: Family, *labels: str) -> str:
    """*family* of the chosen Instance, once, by *labels*."""
    return f"max by ({names(('instance_name', *labels))}) ({family.name}{OF_INSTANCE})"


def _rate(family: Family) -> str:
    return f"sum by (instance_name) (rate({family.name}{OF_INSTANCE}[$__rate_interval]))"


def _hours(family: Family) -> str:
    grown = f"max by ({NAMED}) (increase({family.name}{OF_INSTANCE}[$__range]))"
    return f"sum({grown}) / 3600"


_WHAT = Section(
    "What it is",
    (
        Figure(
            title="Ready",
            meaning="1 when people can use it.",
            unit="short",
            span=EIGHTH,
            curves=(Curve(f"min({r.READY}{OF_INSTANCE})"),),
        ),
        Figure(
            title="Not Ready though it should be",
            meaning="1 when something holds it back: see the gate below.",
            unit="short",
            span=EIGHTH,
            steps=WARNINGS,
            curves=(Curve(f"max({r.UNREADY}{OF_INSTANCE})"),),
        ),
        Figure(
            title="Login",
            meaning="1 when one can log in, where there is a key or a port for it.",
            unit="short",
            span=EIGHTH,
            curves=(Curve(f"min({f.SSH_READY.name}{OF_INSTANCE})"),),
        ),
        Figure(
            title="Isolated",
            meaning="1 when the policy of its namespace is in place, where isolation is on.",
            unit="short",
            span=EIGHTH,
            curves=(Curve(f"min({r.ISOLATED}{OF_INSTANCE})"),),
        ),
        Figure(
            title="Running for",
            meaning="Since its Pod was started.",
            unit="s",
            span=EIGHTH,
            curves=(Curve(f"time() - max({r.STARTED}{OF_INSTANCE})"),),
        ),
        Figure(
            title="Restarts",
            meaning="Of the workload, inside its present Pod.",
            unit="short",
            span=EIGHTH,
            steps=WARNINGS,
            curves=(Curve(f"max({f.RESTARTS.name}{OF_INSTANCE})"),),
        ),
        Figure(
            title="Accelerators",
            meaning="What it asks for, also while it is stopped.",
            unit="short",
            span=EIGHTH,
            curves=(Curve(f"sum({r.ACCELERATORS}{OF_INSTANCE})"),),
        ),
        Figure(
            title="Processes",
            meaning="In its Pod.",
            unit="short",
            span=EIGHTH,
            curves=(Curve(f"max({f.PROCESSES.name}{OF_INSTANCE})"),),
        ),
        Rows(
            title="Type, node and image",
            meaning="The digest is that of the image that runs.",
            unit="short",
            span=WHOLE,
            curves=(
                Curve(
                    f"max by ({NAMED}, type, node, image, image_digest)"
                    f" ({f.INFO.name}{OF_INSTANCE})"
                ),
            ),
        ),
        Trend(
            title="Phase",
            meaning="Where in its life it is.",
            unit="short",
            most=1,
            curves=(Curve(f"max by (phase) ({r.PHASE}{OF_INSTANCE})", "{{phase}}"),),
        ),
        Trend(
            title="What holds it back",
            meaning="The first gate that is shut, as status.blocker tells it.",
            unit="short",
            most=1,
            curves=(
                Curve(
                    f"max by (gate, reason, owner) ({r.BLOCKED}{OF_INSTANCE})",
                    "{{gate}}: {{reason}} ({{owner}})",
                ),
            ),
        ),
    ),
)
_USE = Section(
    "What it uses",
    (
        Trend(
            title="CPU",
            meaning="Cores in use, and what it may use.",
            unit="short",
            span=THIRD,
            curves=(
                Curve(_rate(f.CPU_USAGE), "used"),
                Curve(_here(f.CPU_LIMIT), "limit"),
                Curve(_here(f.CPU_REQUEST), "request"),
            ),
        ),
        Trend(
            title="Memory",
            meaning="The working set counts against the limit: above it, the workload is killed.",
            unit="bytes",
            span=THIRD,
            curves=(
                Curve(_here(f.MEMORY_WORKING_SET), "working set"),
                Curve(_here(f.MEMORY_RSS), "anonymous"),
                Curve(_here(f.MEMORY_LIMIT), "limit"),
                Curve(_here(f.MEMORY_REQUEST), "request"),
            ),
        ),
        Trend(
            title="Local storage",
            meaning="Written files, logs and ephemeral volumes: above the limit it is evicted.",
            unit="bytes",
            span=THIRD,
            curves=(
                Curve(_here(f.STORAGE_USED), "used"),
                Curve(_here(f.STORAGE_LIMIT), "limit"),
            ),
        ),
        Trend(
            title="Traffic",
            meaning="Bytes a second over the interfaces of its Pod.",
            unit="Bps",
            curves=(
                Curve(_rate(f.NETWORK_RECEIVE), "in"),
                Curve(_rate(f.NETWORK_TRANSMIT), "out"),
            ),
        ),
        Trend(
            title="Volumes",
            meaning="How full each volume is.",
            unit="percentunit",
            most=1,
            curves=(Curve(f"max by (volume) ({r.VOLUME_RATIO}{OF_INSTANCE})", "{{volume}}"),),
        ),
    ),
)
_ACCELERATORS = Section(
    "Its accelerators",
    (
        Trend(
            title="Use of cores",
            meaning="Of its own grant: a slice tells its share. It may exceed 100 %.",
            unit="percentunit",
            curves=(Curve(_here(f.DEVICE_UTILIZATION, "id"), "{{id}}"),),
        ),
        Trend(
            title="Device memory",
            meaning="What it uses, and what it was granted.",
            unit="bytes",
            curves=(
                Curve(_here(f.DEVICE_MEMORY_USED, "id"), "{{id}} used"),
                Curve(_here(f.DEVICE_MEMORY_LIMIT, "id"), "{{id}} granted"),
            ),
        ),
        Trend(
            title="Temperature",
            meaning="Of the whole device, whoever else uses it.",
            unit="celsius",
            span=THIRD,
            curves=(Curve(_here(f.DEVICE_TEMPERATURE, "id"), "{{id}}"),),
        ),
        Trend(
            title="Power",
            meaning="Of the whole device, whoever else uses it.",
            unit="watt",
            span=THIRD,
            curves=(Curve(_here(f.DEVICE_POWER, "id"), "{{id}}"),),
        ),
        Figure(
            title="Unhealthy",
            meaning="Of its accelerators, those that are ill.",
            unit="short",
            span=THIRD,
            steps=FAULTS,
            curves=(Curve(f"sum({_here(f.DEVICE_UNHEALTHY, 'id')})"),),
        ),
    ),
)
_ACCOUNT = Section(
    "In the chosen time",
    (
        Figure(
            title="Hours with a place",
            meaning="Its Pod held a place on a node.",
            unit="h",
            span=QUARTER,
            curves=(Curve(_hours(f.ALLOCATED)),),
        ),
        Figure(
            title="Hours of accelerators",
            meaning="The same, times the accelerators that it held.",
            unit="h",
            span=QUARTER,
            curves=(Curve(_hours(f.ACCELERATOR_ALLOCATED)),),
        ),
        Figure(
            title="Hours of waiting",
            meaning="It wanted to run, and held nothing.",
            unit="h",
            span=QUARTER,
            steps=(Step(1, "orange"),),
            curves=(Curve(_hours(f.PENDING)),),
        ),
        Figure(
            title="Hours of rest",
            meaning="It was stopped.",
            unit="h",
            span=QUARTER,
            curves=(Curve(_hours(f.STOPPED)),),
        ),
        Rows(
            title="What is not known, and why",
            meaning="Sources that tell nothing of it, though it runs.",
            unit="short",
            span=WHOLE,
            curves=(Curve(_here(f.MISSING, "node", "source", "reason")),),
        ),
    ),
)

BOARD = Board(
    name="instance",
    title="GPUStack / Instance",
    meaning="One Instance: what it is, what it uses, and what of it is not known.",
    variables=(scope.namespace(), scope.instance(several=False)),
    sections=(_WHAT, _USE, _ACCELERATORS, _ACCOUNT),
)
