"""What a queue told of itself."""

from collections.abc import Callable

import attrs

from gpustack_ctrl.runtime.schedule import Priority


@attrs.define
class RecordedQueueMetrics:
    """Remembers all that a queue reports."""

    depths: dict[Priority, int] = attrs.field(factory=lambda: dict.fromkeys(Priority, 0))
    adds: int = 0
    waits: list[float] = attrs.field(factory=list)
    works: list[float] = attrs.field(factory=list)
    retries: int = 0

    def depth(self, priority: Priority, ready: int) -> None:
        assert ready >= 0
        self.depths[priority] = ready

    def added(self, keys: int) -> None:
        assert keys >= 0
        self.adds += keys

    def handed_out(self, waited: float) -> None:
        self.waits.append(waited)

    def finished(self, worked: float) -> None:
        self.works.append(worked)

    def retried(self) -> None:
        self.retries += 1

    def observe_running(self, ages: Callable[[], tuple[float, ...]]) -> None:
        assert () == ages()
