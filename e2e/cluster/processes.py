"""Processes that end with the one that started them."""

import ctypes
import os
import signal
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
# Loaded before any fork: the code between fork and exec must not import.
_LIBC = ctypes.CDLL(None, use_errno=True)


def ends_with_parent(order: signal.Signals) -> Callable[[], None]:
    """Return a function for a new process to call before it becomes its program.

    From then on the kernel sends it *order* when the thread that made it ends,
    however that happens.
    """
    parent = os.getpid()

    def prepare() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(order))
        if os.getppid() != parent:
            os._exit(1)  # The parent was gone before the kernel knew of our wish.

    return prepare
