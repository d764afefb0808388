"""The series `controller_runtime_*`, with the names and buckets of the field's dashboards."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from gpustack_ctrl.runtime.outcome import LABELS as RESULTS
from gpustack_ctrl.runtime.outcome import Outcome

BUCKETS = (
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.15,
    0.2,
    0.25,
    0.3,
    0.35,
    0.4,
    0.45,
    0.5,
    0.6,
    0.7,
    0.8,
    0.9,
    1.0,
    1.25,
    1.5,
    1.75,
    2.0,
    2.5,
    3.0,
    3.5,
    4.0,
    4.5,
    5.0,
    6.0,
    7.0,
    8.0,
    9.0,
    10.0,
    15.0,
    20.0,
    25.0,
    30.0,
    40.0,
    50.0,
    60.0,
)  # fmt: skip -- one number a line says no more.

LABELS = ("controller",)


class ControllerFamilies:
    """All series of all controllers, in one registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.reconciles = Counter(
            "controller_runtime_reconcile_total",
            "Passes by how they ended; a write that lost a race ends in requeue.",
            (*LABELS, "result"),
            registry=registry,
        )
        self.seconds = Histogram(
            "controller_runtime_reconcile_time_seconds",
            "How long a pass takes.",
            LABELS,
            buckets=BUCKETS,
            registry=registry,
        )
        self.errors = _counter(registry, "reconcile_errors", "Passes that failed.")
        self.terminal = _counter(
            registry, "terminal_reconcile_errors", "Failures that a retry cannot mend."
        )
        self.panics = _counter(
            registry, "reconcile_panics", "Failures nobody foresaw: defects of this program."
        )
        self.timeouts = _counter(
            registry, "reconcile_timeouts", "Passes cancelled at their time limit."
        )
        self.maximum = Gauge(
            "controller_runtime_max_concurrent_reconciles",
            "How many passes may run at once.",
            LABELS,
            registry=registry,
        )
        self.active = Gauge(
            "controller_runtime_active_workers",
            "How many passes are running.",
            LABELS,
            registry=registry,
        )
        self.overdue = Gauge(
            "controller_overdue_reconciles",
            "Passes that go on though they were cancelled at their time limit.",
            LABELS,
            registry=registry,
        )


class ControllerSeries:
    """The series of the controller *name* with so many *workers*: its `ControllerMetrics`."""

    def __init__(self, families: ControllerFamilies, name: str, *, workers: int) -> None:
        self._results = {label: families.reconciles.labels(name, label) for label in RESULTS}
        self._seconds = families.seconds.labels(name)
        self._errors = families.errors.labels(name)
        self._terminal = families.terminal.labels(name)
        self._panics = families.panics.labels(name)
        self._timeouts = families.timeouts.labels(name)
        self._active = families.active.labels(name)
        self._overdue = families.overdue.labels(name)
        families.maximum.labels(name).set(workers)

    def started(self) -> None:
        """A worker began a pass."""
        self._active.inc()

    def finished(self, outcome: Outcome, seconds: float) -> None:
        """A pass came to *outcome* after so many seconds."""
        self._active.dec()
        self._seconds.observe(seconds)
        self._results[outcome.label].inc()
        if outcome.label == "error":
            self._errors.inc()
        if outcome.terminal:
            self._terminal.inc()
        if not outcome.foreseen:
            self._panics.inc()

    def interrupted(self) -> None:
        """A pass was cancelled because the controller stops."""
        self._active.dec()

    def timed_out(self) -> None:
        """A pass reached its time limit and was cancelled."""
        self._timeouts.inc()

    def overdue(self, passes: int) -> None:
        """So many passes have been cancelled at their time limit, and still run."""
        self._overdue.set(passes)


def _counter(registry: CollectorRegistry, name: str, documentation: str) -> Counter:
    return Counter(f"controller_runtime_{name}_total", documentation, LABELS, registry=registry)
