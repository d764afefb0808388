"""The command line of the demo."""

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from types import FrameType

from e2e.cluster import ClusterError
from e2e.demo.closing import farewell, summary
from e2e.demo.errors import DemoError
from e2e.demo.lifetime import lasting_stage, passing_stage
from e2e.demo.narrator import Narrator, narrator
from e2e.demo.story import STORY

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(arguments: Sequence[str] | None = None) -> int:
    """Show the demo and return the exit code: 0 if everything was as told."""
    options = _parser().parse_args(arguments)
    for number in _ENDING:
        signal.signal(number, _interrupt)
    try:
        show(narrator(sys.stdout), keep=options.keep)
    except (DemoError, ClusterError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    except Interrupted as order:
        print("demo: interrupted, and cleaned up", file=sys.stderr)
        return 128 + order.number
    except BrokenPipeError:  # Whoever read our output has read enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def show(teller: Narrator, *, keep: bool) -> None:
    """Have *teller* tell the whole story; afterwards nothing is left, unless asked to *keep* it.

    Raises DemoError or ClusterError when something is not as told.
    """
    started = time.monotonic()
    teller.paragraph("Starting a Kubernetes control plane. The very first time it is compiled.")
    with (lasting_stage if keep else passing_stage)(teller) as stage:
        for chapter in STORY:
            stage.play(chapter)
    told = summary(teller, time.monotonic() - started)
    teller.end(told, *(("", *farewell(stage)) if keep else ("Nothing is left running.",)))


class Interrupted(BaseException):
    """Somebody wants the demo to end, by the signal *number*."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _interrupt(number: int, _frame: FrameType | None) -> None:
    # Once is enough: a second one must not cut the cleaning short.
    for one in _ENDING:
        signal.signal(one, signal.SIG_IGN)
    raise Interrupted(number)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m e2e.demo",
        description="Shows the operator at work on the embedded cluster, and checks it.",
    )
    parser.add_argument("--keep", action="store_true", help="leave everything running")
    return parser
