"""What the demo says: in colour on a terminal, plain in a log."""

import os
import textwrap
from collections.abc import Mapping
from typing import TextIO

import attrs

_WIDTH = 88
_MARGIN = "  "
_RESET = "\033[0m"
_BOLD = "\033[1m"
_FAINT = "\033[2m"
_GREEN = "\033[32m"
_CYAN = "\033[36m"
_OF_PERSON = {"red": "\033[31m", "blue": "\033[34m"}


@attrs.define(kw_only=True)
class Narrator:
    """Tells a story on *out*, and counts what it told."""

    out: TextIO
    colour: bool
    tick: str
    chapters: int = 0
    commands: int = 0
    facts: int = 0

    def chapter(self, title: str, says: str) -> None:
        """Begin a chapter with one sentence."""
        self.chapters += 1
        self._print("")
        self._print(self._in(_BOLD, f"{self.chapters}. {title}"))
        self.paragraph(says)

    def paragraph(self, text: str) -> None:
        """Say *text*, in lines that are not too long."""
        self._print(textwrap.indent(textwrap.fill(text, _WIDTH), _MARGIN))

    def command(self, person: str, line: str) -> None:
        """Show what *person* types."""
        self.commands += 1
        prompt = self._in(_OF_PERSON.get(person, _FAINT), f"{person}$")
        self._print(f"\n{_MARGIN}{prompt} {self._in(_CYAN, line)}")

    def output(self, text: str) -> None:
        """Show what a command printed."""
        self._print(textwrap.indent(text.strip("\n"), _MARGIN))

    def fact(self, says: str) -> None:
        """Say something that was just checked."""
        self.facts += 1
        self._print(f"{_MARGIN}{self._in(_GREEN, self.tick)} {says}")

    def end(self, *lines: str) -> None:
        """Say the last words, with room for what may be copied from them."""
        self._print("\n" + "\n".join(lines))

    def _in(self, style: str, text: str) -> str:
        return f"{style}{text}{_RESET}" if self.colour else text

    def _print(self, text: str) -> None:
        print(text, file=self.out, flush=True)


def narrator(out: TextIO, environ: Mapping[str, str] = os.environ) -> Narrator:
    """Return a narrator that suits *out*: colour is for a terminal whose user wants it.

    See https://no-color.org for the variable NO_COLOR.
    """
    dumb = environ.get("TERM", "dumb") == "dumb"
    return Narrator(
        out=out,
        colour=out.isatty() and not dumb and not environ.get("NO_COLOR"),
        tick="✓" if _can_write("✓", out) else "ok:",
    )


def _can_write(text: str, out: TextIO) -> bool:
    try:
        text.encode(out.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
