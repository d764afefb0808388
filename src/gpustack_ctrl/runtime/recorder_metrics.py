"""The series `event_recorder_*`."""

from prometheus_client import CollectorRegistry, Counter

from gpustack_ctrl.runtime.recorder import Fate


class RecorderSeries:
    """The series of the recorder: its `RecorderMetrics`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        events = Counter(
            "event_recorder_events_total",
            "Events by what became of them: written, counted in a series, or dropped.",
            ("result",),
            registry=registry,
        )
        self._events = {fate: events.labels(fate.value) for fate in Fate}

    def came_to(self, fate: Fate) -> None:
        """One occurrence, or one write, came to *fate*."""
        self._events[fate].inc()
