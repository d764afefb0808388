"""Since when the progress of an Instance waits to be told."""

import attrs

from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.reconcilers.status.reporting import due


@attrs.frozen
class Patience:
    """Remembers, for each Instance, untold progress and the last telling of it.

    Times are seconds of a monotonic clock. Losing this memory costs a write, no more.
    """

    _noticed: dict[ObjectKey, float] = attrs.field(factory=dict, init=False)
    _written: dict[ObjectKey, float] = attrs.field(factory=dict, init=False)

    def wait(self, key: ObjectKey, now: float) -> float:
        """Seconds until the progress that was just noticed should be written."""
        noticed = self._noticed.setdefault(key, now)
        written, others = self._written.get(key), len(self._noticed) - 1
        return max(0.0, due(noticed=noticed, written=written, others=others) - now)

    def wrote(self, key: ObjectKey, now: float) -> None:
        """All that was noticed is told."""
        self._written[key] = now
        self.settle(key)

    def settle(self, key: ObjectKey) -> None:
        """Nothing waits any more."""
        self._noticed.pop(key, None)

    def forget(self, key: ObjectKey) -> None:
        """The Instance is gone."""
        self.settle(key)
        self._written.pop(key, None)
