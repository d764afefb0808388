"""Colour for a terminal whose user wants it, plain text for everything else."""

import io
from collections.abc import Mapping

import pytest

from e2e.demo.narrator import narrator

TERMINAL = {"TERM": "xterm-256color"}


class Terminal(io.TextIOWrapper):
    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding)

    def isatty(self) -> bool:
        return True

    def shown(self) -> str:
        self.seek(0)
        return self.read()


def tell(out: Terminal | io.StringIO, environ: Mapping[str, str]) -> None:
    teller = narrator(out, environ)
    teller.chapter("Stop", "A sentence.")
    teller.command("red", "kubectl get pods")
    teller.output("NAME\nnotebook\n")
    teller.fact("It is there.")


def test_a_terminal_is_given_colour_and_nothing_that_moves() -> None:
    out = Terminal()

    tell(out, TERMINAL)

    shown = out.shown()
    assert "\033[1m1. Stop\033[0m" in shown
    assert "\r" not in shown
    assert "\033[K" not in shown


@pytest.mark.parametrize("environ", [{**TERMINAL, "NO_COLOR": "1"}, {"TERM": "dumb"}, {}], ids=str)
def test_a_terminal_whose_user_wants_no_colour_is_given_none(environ: Mapping[str, str]) -> None:
    out = Terminal()

    tell(out, environ)

    assert "\033" not in out.shown()


def test_a_log_is_given_plain_text() -> None:
    out = io.StringIO()

    tell(out, TERMINAL)

    assert "\033" not in out.getvalue()
    assert "\n  red$ kubectl get pods\n  NAME\n  notebook\n" in out.getvalue()


def test_a_terminal_that_cannot_write_a_tick_is_given_a_word() -> None:
    out = Terminal("ascii")

    tell(out, {})

    assert "  ok: It is there.\n" in out.shown()


def test_what_is_told_is_counted() -> None:
    teller = narrator(io.StringIO(), {})
    teller.chapter("One", "A sentence.")
    teller.command("red", "true")
    teller.fact("It is so.")
    teller.fact("And so is that.")

    assert (1, 1, 2) == (teller.chapters, teller.commands, teller.facts)
