"""Where the story is played: a cluster, the operator, and what was seen so far."""

import os
import shlex
import subprocess
import time
from typing import assert_never

import attrs

from e2e.cluster import Cluster
from e2e.demo import operator
from e2e.demo.errors import NotSoError
from e2e.demo.judge import judge
from e2e.demo.narrator import Narrator
from e2e.demo.operator import CHECKOUT, Operator
from e2e.demo.script import Chapter, Person, Seen, StartOperator, Step

_PATIENCE = 60.0
_PAUSE = 0.1


@attrs.define(kw_only=True)
class Stage:
    """Plays chapters at *cluster* and has *narrator* tell them.

    The operator is left to the caller to end; without *keep* it ends with this process.
    """

    cluster: Cluster
    narrator: Narrator
    keep: bool = False
    patience: float = _PATIENCE
    operator: Operator | None = None
    _earlier: dict[str, str] = attrs.field(factory=dict, init=False)

    def play(self, chapter: Chapter) -> None:
        """Take every step of *chapter*.

        Raises NotSoError, which names the chapter, when one is not as it should be.
        """
        self.narrator.chapter(chapter.title, chapter.says)
        for step in chapter.steps:
            match step:
                case StartOperator():
                    self._start_operator(step)
                case Step():
                    self._take(step, within=chapter)
                case _:
                    assert_never(step)

    def _start_operator(self, step: StartOperator) -> None:
        self.operator = operator.start(self.cluster, outlives_us=self.keep)
        self.narrator.command(step.person.name, self.operator.command)

    def _take(self, step: Step, *, within: Chapter) -> None:
        self.narrator.command(step.person.name, step.command)
        output, complaint = self._seen(step)
        self.narrator.output(output)
        if complaint is not None:
            raise NotSoError(f"{within.title}: {complaint} (after `{step.command}`)")
        for fact in step.facts:
            self.narrator.fact(fact.says)
        if step.remembered:
            self._earlier[step.remembered] = output

    def _seen(self, step: Step) -> tuple[str, NotSoError | None]:
        """What *step* prints in the end, and what is wrong with it."""
        deadline = time.monotonic() + self.patience
        while True:
            if self.operator is not None:
                self.operator.check()
            output, failed = self._run(step.person, step.command)
            try:
                judge(step, Seen(output, self._earlier), failed=failed)
            except NotSoError as error:
                if not step.again or time.monotonic() > deadline:
                    return output, error
            else:
                return output, None
            time.sleep(_PAUSE)

    def _run(self, person: Person, command: str) -> tuple[str, bool]:
        """What *command* prints and whether it fails."""
        done = subprocess.run(
            shlex.split(command),
            cwd=CHECKOUT,
            env={**os.environ, **self.cluster.environment(person.user)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout, done.returncode != 0
