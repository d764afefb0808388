"""The last words: what was shown, what is left of it, how to use and to end it."""

import shlex
import sys
from collections.abc import Iterator

from e2e.demo.by_hand import become, end_cluster
from e2e.demo.narrator import Narrator
from e2e.demo.operator import CHECKOUT
from e2e.demo.people import EVERYBODY
from e2e.demo.stage import Stage


def summary(narrator: Narrator, seconds: float) -> str:
    """Return how much was told, in *seconds*."""
    return (
        f"{narrator.chapters} chapters, {narrator.commands} commands, {narrator.facts} facts"
        f" checked in {seconds:.0f} s."
    )


def farewell(stage: Stage) -> Iterator[str]:
    """Yield lines on how to go on with *stage*, which is left standing, and how to end it."""
    directory = stage.cluster.directory
    yield "Everything is still running. In a shell of your own, be one of these:"
    yield ""
    for person in EVERYBODY:
        yield f"  {become(person, directory)}  # {person.name}"
    yield ""
    if stage.operator is not None:
        yield f"Metrics: http://{stage.operator.metrics}/metrics"
    yield f"Logs:    {stage.cluster.layout.log}"
    yield "To end it all:"
    yield ""
    yield f"  cd {shlex.quote(str(CHECKOUT))}"
    if stage.operator is not None:
        yield f"  kill {stage.operator.process.pid}"
    yield f"  {shlex.quote(sys.executable)} {end_cluster(directory).removeprefix('python ')}"
