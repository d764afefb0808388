"""What the tutorial tells to type, and what it shows, by the blocks of its Markdown."""

import re
from collections.abc import Iterator
from pathlib import Path

import attrs

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial" / "first-instance.md"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TYPED = re.compile(r"^(admin|red|blue)\$ (.*)\n", re.MULTILINE)


@attrs.frozen
class Typed:
    """A line that somebody types, and what is shown below it."""

    person: str
    command: str
    output: str


def blocks(language: str) -> list[str]:
    return [body for kind, body in _BLOCK.findall(TUTORIAL.read_text("utf-8")) if kind == language]


def languages() -> set[str]:
    return {kind for kind, _ in _BLOCK.findall(TUTORIAL.read_text("utf-8"))}


def typed() -> Iterator[Typed]:
    for block in blocks("console"):
        before, *found = _TYPED.split(block)
        assert "" == before, f"this block does not begin with a prompt: {block}"
        for person, command, output in zip(found[::3], found[1::3], found[2::3], strict=True):
            yield Typed(person, command, output.strip("\n") + "\n")
