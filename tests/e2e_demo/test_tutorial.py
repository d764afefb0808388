"""The tutorial is the demo by hand: the same commands, and outputs that pass the same checks."""

from pathlib import Path

from e2e.demo import by_hand
from e2e.demo.judge import judge
from e2e.demo.people import EVERYBODY
from e2e.demo.script import Seen, StartOperator, Step
from e2e.demo.story import STORY
from tests.e2e_demo.tutorial import TUTORIAL, blocks, languages, typed

DIRECTORY = Path("/tmp/demo")  # noqa: S108  As the tutorial calls it; nothing is made there.
ARGUMENTS = by_hand.operator_arguments(
    DIRECTORY / "kubeconfig", metrics="127.0.0.1:8080", probes="127.0.0.1:8081"
)
STEPS = [step for chapter in STORY for step in chapter.steps]


def line(step: Step | StartOperator) -> tuple[str, str]:
    if isinstance(step, StartOperator):
        return step.person.name, by_hand.start_operator(ARGUMENTS)
    return step.person.name, step.command


def test_the_tutorial_has_the_commands_of_the_demo_in_the_same_order() -> None:
    assert [line(step) for step in STEPS] == [(one.person, one.command) for one in typed()]


def test_the_tutorial_begins_and_ends_as_the_demo_does_by_itself() -> None:
    make, activate, *ours = [line for block in blocks("sh") for line in block.splitlines()]

    assert ("make cluster", ". .venv/bin/activate") == (make, activate)
    assert [
        by_hand.start_cluster(DIRECTORY),
        *(by_hand.become(person, DIRECTORY) for person in EVERYBODY),
        by_hand.end_cluster(DIRECTORY),
    ] == ours


def test_every_block_of_the_tutorial_is_one_that_is_checked() -> None:
    """Those of bash by the tests of the real node."""
    assert {"sh", "console", "bash"} == languages()


def test_what_the_tutorial_shows_passes_the_checks_of_the_demo() -> None:
    earlier: dict[str, str] = {}
    for step, one in zip(STEPS, typed(), strict=True):
        if isinstance(step, StartOperator):
            continue
        judge(step, Seen(one.output, earlier), failed=step.refused)
        if step.remembered:
            earlier[step.remembered] = one.output


def test_every_chapter_has_its_heading() -> None:
    headings = [line[3:] for line in TUTORIAL.read_text("utf-8").splitlines() if line[:3] == "## "]

    told = [f"{number}. {chapter.title}" for number, chapter in enumerate(STORY, start=1)]
    after = ["End it", "Log in", "Where to go from here"]
    assert ["Before you start", *told, *after] == headings
