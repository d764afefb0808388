"""Interrupts, also where a shell runs the tests in the background."""

import signal


def heed_interrupts() -> None:
    """Let an interrupt end us and what we start: the background jobs of a shell ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
