"""The series `workqueue_*`, with the names and buckets of the field's dashboards."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from gpustack_ctrl.runtime.schedule import Priority

DECADES = (
    1e-08,
    1e-07,
    1e-06,
    9.999999999999999e-06,
    9.999999999999999e-05,
    0.001,
    0.01,
    0.1,
    1.0,
    10.0,
    100.0,
    1000.0,
)  # fmt: skip -- one line for each half; the odd ones are what Go prints for 1e-05 and 1e-04.

LABELS = ("name", "controller")
"""Both carry the queue's name: dashboards of two generations ask for one or the other."""


class QueueFamilies:
    """All series of all queues, in one registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.depth = Gauge(
            "workqueue_depth",
            "Keys that are ready to be handed out.",
            (*LABELS, "priority"),
            registry=registry,
        )
        self.adds = Counter(
            "workqueue_adds_total", "Keys that became ready.", LABELS, registry=registry
        )
        self.queue_duration = Histogram(
            "workqueue_queue_duration_seconds",
            "How long a key is ready before it is handed out.",
            LABELS,
            buckets=DECADES,
            registry=registry,
        )
        self.work_duration = Histogram(
            "workqueue_work_duration_seconds",
            "How long a worker holds a key.",
            LABELS,
            buckets=DECADES,
            registry=registry,
        )
        self.unfinished = Gauge(
            "workqueue_unfinished_work_seconds",
            "For how long the held keys have been held, added up.",
            LABELS,
            registry=registry,
        )
        self.longest = Gauge(
            "workqueue_longest_running_processor_seconds",
            "For how long the key that is held longest has been held.",
            LABELS,
            registry=registry,
        )
        self.retries = Counter(
            "workqueue_retries_total", "Keys added with a delay.", LABELS, registry=registry
        )


class QueueSeries:
    """The series of the queue *name*: its `QueueMetrics`."""

    def __init__(self, families: QueueFamilies, name: str) -> None:
        self._depths = {p: families.depth.labels(name, name, str(int(p))) for p in Priority}
        self._adds = families.adds.labels(name, name)
        self._queue_duration = families.queue_duration.labels(name, name)
        self._work_duration = families.work_duration.labels(name, name)
        self._unfinished = families.unfinished.labels(name, name)
        self._longest = families.longest.labels(name, name)
        self._retries = families.retries.labels(name, name)

    def depth(self, priority: Priority, ready: int) -> None:
        """So many keys of that class are ready."""
        self._depths[priority].set(ready)

    def added(self, keys: int) -> None:
        """So many keys have become ready."""
        if keys:
            self._adds.inc(keys)

    def handed_out(self, waited: float) -> None:
        """A worker got a key that had been ready for that long."""
        self._queue_duration.observe(waited)

    def finished(self, worked: float) -> None:
        """A worker let go of a key after that long."""
        self._work_duration.observe(worked)

    def retried(self) -> None:
        """A key was added with a delay."""
        self._retries.inc()

    def observe_running(self, ages: Callable[[], tuple[float, ...]]) -> None:
        """Ask *ages* at each scrape: it is as long as there are workers."""
        self._unfinished.set_function(lambda: sum(ages()))
        self._longest.set_function(lambda: max(ages(), default=0.0))
