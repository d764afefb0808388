"""When to try again: exponential back-off for each key, and one budget for all retries."""

import math
import random
from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar

import attrs

from gpustack_ctrl.runtime.clock import Clock

K = TypeVar("K", bound=Hashable)
K_contra = TypeVar("K_contra", bound=Hashable, contravariant=True)


class RateLimiter(Protocol[K_contra]):
    """Decides how long a key that failed waits, and remembers which keys did."""

    def when(self, key: K_contra) -> float:
        """Count one failure of *key*; the seconds until it may run again."""
        ...

    def forget(self, key: K_contra) -> None:
        """Take *key* for one that never failed."""
        ...

    def __len__(self) -> int:
        """How many keys are remembered."""
        ...


@attrs.frozen(kw_only=True)
class Backoff:
    """The waits after the first, second, ... failure: *base* · *factor*^n, at most *maximum*.

    Each is spread by ± *jitter* (a share of it), so that keys which failed together do
    not come back together; with it a wait can exceed *maximum* by that share.
    """

    base: float = 0.005
    factor: float = 2.0
    maximum: float = 60.0
    jitter: float = 0.15

    def delay(self, failures: int, *, at: float = 0.5) -> float:
        """Seconds to wait after *failures* earlier ones; *at* in [0, 1] places it in its spread."""
        return self._plain(failures) * (1 + self.jitter * (2 * at - 1))

    def _plain(self, failures: int) -> float:
        if failures >= self._steps_to_maximum:
            return self.maximum
        return min(self.base * self.factor**failures, self.maximum)

    @property
    def _steps_to_maximum(self) -> int:
        """From here on the power is not computed: it would overflow."""
        return math.ceil(math.log(self.maximum / self.base, self.factor))


class ItemBackoff(Generic[K]):
    """A wait for each key that doubles with each of its failures, and that success resets."""

    def __init__(
        self, backoff: Backoff | None = None, *, chance: Callable[[], float] = random.random
    ) -> None:
        self._backoff = backoff or Backoff()
        self._chance = chance
        self._failures: dict[K, int] = {}

    def when(self, key: K) -> float:
        """Count one failure of *key*; the seconds until it may run again."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        return self._backoff.delay(failures, at=self._chance())

    def forget(self, key: K) -> None:
        """Start again from the base wait."""
        self._failures.pop(key, None)

    def __len__(self) -> int:
        return len(self._failures)


LONGEST_QUEUE_SECONDS = 10.0


class TokenBucket:
    """At most *burst* at once and *rate* a second in the long run.

    Whoever finds the bucket empty reserves a coming token and is told when it comes. The
    queue for tokens has an end, so that the many failures of one do not stop another.
    """

    def __init__(self, *, clock: Clock, rate: float = 50.0, burst: int = 200) -> None:
        self._clock = clock
        self._rate = rate
        self._burst = burst
        self._tokens = float(burst)
        self._counted_at = clock.monotonic()

    def reserve(self) -> float:
        """Take one token; the seconds until it is there."""
        now = self._clock.monotonic()
        earned = (now - self._counted_at) * self._rate
        self._counted_at = now
        debt = -self._rate * LONGEST_QUEUE_SECONDS
        self._tokens = max(min(self._tokens + earned, self._burst) - 1, debt)
        return max(0.0, -self._tokens / self._rate)


class RetryLimiter(Generic[K]):
    """The longer of a key's own back-off and the wait for the budget that all keys share."""

    def __init__(self, items: ItemBackoff[K], overall: TokenBucket) -> None:
        self._items = items
        self._overall = overall

    def when(self, key: K) -> float:
        """Count one failure of *key*; the seconds until it may run again."""
        return max(self._items.when(key), self._overall.reserve())

    def forget(self, key: K) -> None:
        """Take *key* for one that never failed."""
        self._items.forget(key)

    def __len__(self) -> int:
        return len(self._items)


def retry_limiter(clock: Clock) -> RetryLimiter[Hashable]:
    """The limiter a controller has unless it asks for another; never shared between two."""
    return RetryLimiter(ItemBackoff(), TokenBucket(clock=clock))
