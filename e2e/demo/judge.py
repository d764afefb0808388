"""Whether a step went as the story tells it."""

from e2e.demo.errors import NotSoError
from e2e.demo.script import Seen, Step


def judge(step: Step, seen: Seen, *, failed: bool) -> None:
    """Return if *step*, which *failed* or not, left *seen* as it should.

    Raises NotSoError with what is wrong.
    """
    if failed != step.refused:
        words = seen.output.strip().splitlines() or ["it said nothing"]
        verb = "failed" if failed else "should be refused, but was done"
        raise NotSoError(f"this {verb}: {words[-1]}")
    for fact in step.facts:
        try:
            fact.check(seen)
        except NotSoError as error:
            raise NotSoError(f"“{fact.says}” does not hold: {error}") from error
