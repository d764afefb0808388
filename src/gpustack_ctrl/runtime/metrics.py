"""What the process tells Prometheus of itself, under the names the field's dashboards know.

Every label value comes from a fixed set or from the code: none from users' objects. All
series of a part exist, at zero, from the moment the part does.
"""

from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)

from gpustack_ctrl.runtime.controller_metrics import ControllerFamilies, ControllerSeries
from gpustack_ctrl.runtime.queue_metrics import QueueFamilies, QueueSeries
from gpustack_ctrl.runtime.recorder_metrics import RecorderSeries

REQUEST_BUCKETS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)


def new_registry() -> CollectorRegistry:
    """A registry that holds what Prometheus expects of each process, and nothing else yet."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    return registry


class Metrics:
    """All series of the runtime in *registry*, which belongs to one process or one test."""

    def __init__(self, registry: CollectorRegistry) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call] # They double the series, and no dashboard asks for them.
        self.registry = registry
        self._queues = QueueFamilies(registry)
        self._controllers = ControllerFamilies(registry)
        self._elections = ElectionFamilies(registry)
        self._informers = InformerFamilies(registry)
        self.requests = RequestSeries(registry)
        self.events = RecorderSeries(registry)
        self._lag = Gauge(
            "event_loop_lag_seconds",
            "How late the event loop woke a task that slept.",
            registry=registry,
        )

    def queue(self, name: str) -> QueueSeries:
        """The series of the queue *name*."""
        return QueueSeries(self._queues, name)

    def controller(self, name: str, *, workers: int) -> ControllerSeries:
        """The series of the controller *name*, which has so many workers."""
        return ControllerSeries(self._controllers, name, workers=workers)

    def election(self, name: str) -> "ElectionSeries":
        """The series of the election for the lease *name*."""
        return ElectionSeries(self._elections, name)

    def informer(self, resource: str) -> "InformerSeries":
        """The series of the informer of *resource*."""
        return InformerSeries(self._informers, resource)

    def loop_lag(self, seconds: Callable[[], float]) -> None:
        """Ask *seconds* at each scrape."""
        self._lag.set_function(seconds)


class RequestSeries:
    """The series `rest_client_*` of all requests."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "rest_client_requests_total",
            "Requests by answer; code <error> when none came.",
            ("code", "method", "host"),
            registry=registry,
        )
        self._seconds = Histogram(
            "rest_client_request_duration_seconds",
            "How long the API server takes to answer; a watch, to begin to.",
            ("verb", "host"),
            buckets=REQUEST_BUCKETS,
            registry=registry,
        )

    def requested(self, *, method: str, host: str, code: str, seconds: float) -> None:
        """*host* answered *method* with *code*, or not at all: `<error>`."""
        self._requests.labels(code, method, host).inc()
        self._seconds.labels(method, host).observe(seconds)


class ElectionFamilies:
    """All series of all elections, in one registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.status = Gauge(
            "leader_election_master_status",
            "1 when the process leads, 0 when it does not.",
            ("name",),
            registry=registry,
        )
        self.slow_path = Counter(
            "leader_election_slowpath_total",
            "Renewals that had to read the lease first, because somebody else wrote to it.",
            ("name",),
            registry=registry,
        )


class ElectionSeries:
    """The series of the election for the lease *name*: its `ElectorMetrics`."""

    def __init__(self, families: ElectionFamilies, name: str) -> None:
        self._status = families.status.labels(name)
        self._slow_path = families.slow_path.labels(name)

    def leads(self) -> None:
        """The process leads from now on."""
        self._status.set(1)

    def follows(self) -> None:
        """The process does not lead, or no more."""
        self._status.set(0)

    def slow_path(self) -> None:
        """The lease had to be read again, because somebody else wrote to it."""
        self._slow_path.inc()


class InformerFamilies:
    """All series of all informers, in one registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, documentation: str) -> Counter:
            return Counter(
                f"informer_{name}_total", documentation, ("resource",), registry=registry
            )

        self.lists = counter("lists", "Pages of lists that were asked for.")
        self.watches = counter("watches", "Watches that were begun.")
        self.events = counter("watch_events", "Events that watches brought.")
        self.undecodable = counter("undecodable_objects", "Objects skipped as malformed.")
        self.faults = counter("handler_faults", "Errors that handlers or indexers raised.")
        self.silence = Gauge(
            "informer_silence_seconds",
            "How long ago the API server last said anything.",
            ("resource",),
            registry=registry,
        )


class InformerSeries:
    """The series of the informer of *resource*: its `InformerMetrics`."""

    def __init__(self, families: InformerFamilies, resource: str) -> None:
        self._lists = families.lists.labels(resource)
        self._watches = families.watches.labels(resource)
        self._events = families.events.labels(resource)
        self._undecodable = families.undecodable.labels(resource)
        self._faults = families.faults.labels(resource)
        self._silence = families.silence.labels(resource)

    def listed(self) -> None:
        """A list was asked for."""
        self._lists.inc()

    def watched(self) -> None:
        """A watch was asked for."""
        self._watches.inc()

    def received(self, events: int) -> None:
        """So many watch events arrived."""
        self._events.inc(events)

    def undecodable(self) -> None:
        """An object was skipped because it could not be decoded."""
        self._undecodable.inc()

    def faulted(self) -> None:
        """A handler or an indexer raised."""
        self._faults.inc()

    def observe_silence(self, seconds: Callable[[], float | None]) -> None:
        """Ask *seconds* at each scrape; None stands for nothing heard yet."""
        self._silence.set_function(lambda: _or_nan(seconds()))


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value
