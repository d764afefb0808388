"""Waiting for a condition, with an end."""

import time
from collections.abc import Callable

from e2e.cluster.errors import ClusterError

_TICK = 0.05


def until(condition: Callable[[], bool], complaint: str, *, seconds: float = 60.0) -> None:
    """Return as soon as *condition* holds.

    Raises ClusterError, which starts with *complaint*, when *seconds* have passed.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise ClusterError(f"{complaint} after {seconds:.0f} s")
        time.sleep(_TICK)
