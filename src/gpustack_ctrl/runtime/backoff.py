"""How long a reflector waits after a failure."""

from collections.abc import Callable

import attrs

BASE_SECONDS = 0.8
CAP_SECONDS = 30.0
QUIET_SECONDS = 120.0


@attrs.define(kw_only=True)
class RelistBackoff:
    """Waits that double from 0.8 s to 30 s, each stretched by up to as much again.

    They start over once nothing has failed for two minutes. *random* gives numbers in
    [0, 1): it keeps the replicas of an operator from coming back all at once.
    """

    random: Callable[[], float]
    _delay: float = BASE_SECONDS
    _quiet_from: float | None = None

    def next(self, now: float) -> float:
        """Seconds to wait after a failure at *now* (monotonic)."""
        if self._quiet_from is not None and now - self._quiet_from >= QUIET_SECONDS:
            self._delay = BASE_SECONDS
        wait = self._delay * (1 + self.random())
        self._delay = min(2 * self._delay, CAP_SECONDS)
        self._quiet_from = now + wait
        return wait
