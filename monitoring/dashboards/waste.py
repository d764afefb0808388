"""What is held and not used: accelerators, memory, CPU, and the time spent waiting."""

from gpustack_ctrl.metering import families as f
from gpustack_ctrl.metering.families import Family
from monitoring import recording as r
from monitoring.dashboards import scope
from monitoring.dashboards.board import Board, Section, entry
from monitoring.dashboards.panels import (
    HALF,
    QUARTER,
    THIRD,
    Curve,
    Figure,
    Rows,
    Step,
    Trend,
)
from monitoring.dashboards.scope import OF_INSTANCE
from monitoring.recording import HOUR, NAMED
from monitoring.rules import Recording


def _hours(recording: Recording, by: str = "") -> str:
    """Accelerators times hours: one sample is taken each minute."""
    each = f"sum_over_time({recording}{OF_INSTANCE}[$__range])"
    return f"sum{by} ({each}) / {HOUR}"


def _grown(family: Family, by: str) -> str:
    once = f"max by ({NAMED}) (increase({family.name}{OF_INSTANCE}[$__range]))"
    return f"sum by ({by}) ({once}) / 3600"


_COUNTED = f"({_hours(r.HELD)} - ({_hours(r.UNMEASURED)} or vector(0)))"
"""Hours of which it is known whether they were idle."""
_NAMESPACE = " by (namespace)"
_NAMED = " by (namespace, instance_name)"

_SUM = Section(
    "In the chosen time",
    (
        Figure(
            title="Held",
            meaning="Hours of accelerators, of Instances that had a Pod.",
            unit="h",
            curves=(Curve(_hours(r.HELD)),),
        ),
        Figure(
            title="Idle",
            meaning="Of these, hours in which next to nothing was done on them.",
            unit="h",
            steps=(Step(1, "orange"),),
            curves=(Curve(_hours(r.IDLE)),),
        ),
        Figure(
            title="Not measured",
            meaning="Of these, hours of which nobody knows: they count as neither.",
            unit="h",
            curves=(Curve(f"{_hours(r.UNMEASURED)} or vector(0)"),),
        ),
        Figure(
            title="Idle share",
            meaning="Idle hours, of the measured ones.",
            unit="percentunit",
            steps=(Step(0.2, "orange"), Step(0.5, "red")),
            curves=(Curve(f"{_hours(r.IDLE)} / ({_COUNTED} > 0)"),),
        ),
        Figure(
            title="Cost of idle hours",
            meaning="Idle hours times the price that is entered above, in its currency.",
            unit="none",
            curves=(Curve(f"{_hours(r.IDLE)} * $price"),),
        ),
        Figure(
            title="Cost of held hours",
            meaning="Held hours times the price that is entered above, in its currency.",
            unit="none",
            curves=(Curve(f"{_hours(r.HELD)} * $price"),),
        ),
    ),
)
_ACCELERATORS = Section(
    "Accelerators",
    (
        Trend(
            title="Held and idle",
            meaning="The gap between them is what works, or is not measured.",
            unit="short",
            curves=(
                Curve(f"sum({r.HELD}{OF_INSTANCE})", "held"),
                Curve(f"sum({r.IDLE}{OF_INSTANCE})", "idle"),
                Curve(f"sum({r.UNMEASURED}{OF_INSTANCE})", "not measured"),
            ),
        ),
        Rows(
            title="Most idle hours",
            meaning="The twenty Instances that wasted most in the chosen time.",
            unit="h",
            value="Idle hours",
            curves=(Curve(f"topk(20, {_hours(r.IDLE, _NAMED)} > 0)"),),
        ),
        Rows(
            title="Idle hours by namespace",
            meaning="Hours of accelerators in which next to nothing was done on them.",
            unit="h",
            value="Idle hours",
            curves=(Curve(_hours(r.IDLE, _NAMESPACE)),),
        ),
        Trend(
            title="Device memory granted and used",
            meaning="Only of grants whose use is measured.",
            unit="bytes",
            curves=(
                Curve(
                    f"sum(max by ({NAMED}, id) ({f.DEVICE_MEMORY_LIMIT.name}{OF_INSTANCE})"
                    f" and max by ({NAMED}, id) ({f.DEVICE_MEMORY_USED.name}{OF_INSTANCE}))",
                    "granted",
                ),
                Curve(
                    f"sum(max by ({NAMED}, id) ({f.DEVICE_MEMORY_USED.name}{OF_INSTANCE}))", "used"
                ),
            ),
        ),
    ),
)
_REST = Section(
    "CPU and memory",
    (
        Trend(
            title="CPU allowed and used",
            meaning="Cores of Instances whose use is measured.",
            unit="short",
            span=THIRD,
            curves=(
                Curve(f"sum({r.CPU_LIMIT}{OF_INSTANCE} and {r.CPU_USE})", "limit"),
                Curve(f"sum({r.CPU_USE}{OF_INSTANCE})", "used"),
            ),
        ),
        Trend(
            title="Memory allowed and used",
            meaning="Of Instances whose use is measured.",
            unit="bytes",
            span=THIRD,
            curves=(
                Curve(f"sum({r.MEMORY_LIMIT}{OF_INSTANCE} and {r.MEMORY_USE})", "limit"),
                Curve(f"sum({r.MEMORY_USE}{OF_INSTANCE})", "used"),
            ),
        ),
        Trend(
            title="Local storage allowed and used",
            meaning="Of Instances whose use is measured.",
            unit="bytes",
            span=THIRD,
            curves=(
                Curve(f"sum({r.STORAGE_LIMIT}{OF_INSTANCE} and {r.STORAGE_USE})", "limit"),
                Curve(f"sum({r.STORAGE_USE}{OF_INSTANCE})", "used"),
            ),
        ),
    ),
)
_TIME = Section(
    "Time, in the chosen time",
    (
        Rows(
            title="Hours with a place",
            meaning="A Pod held a place on a node, by namespace.",
            unit="h",
            span=QUARTER,
            value="Hours",
            curves=(Curve(_grown(f.ALLOCATED, "namespace")),),
        ),
        Rows(
            title="Hours of waiting",
            meaning="Instances wanted to run and held nothing, by namespace.",
            unit="h",
            span=QUARTER,
            value="Hours",
            curves=(Curve(_grown(f.PENDING, "namespace")),),
        ),
        Rows(
            title="Longest stopped",
            meaning="Their ports and volumes are still kept: the twenty that rested most.",
            unit="h",
            span=HALF,
            value="Hours",
            curves=(Curve(f"topk(20, {_grown(f.STOPPED, 'namespace, instance_name')} > 0)"),),
        ),
    ),
)

BOARD = Board(
    name="waste",
    title="GPUStack / Waste",
    meaning="What is held and not used: accelerators, memory, CPU, and the time spent waiting.",
    variables=(
        scope.namespace(),
        scope.instance(),
        entry("price", "Price of an accelerator's hour", "1"),
    ),
    sections=(_SUM, _ACCELERATORS, _REST, _TIME),
    since="now-7d",
)
