"""The reference page says of the command what the command says of itself."""

import re
from pathlib import Path

import pytest

from gpustack_ctrl.cli import CANNOT_START
from gpustack_ctrl.runtime.manager import Ending
from tests.cli.command import run

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "command.md"
USAGE = 2


def rows(heading: str) -> list[list[str]]:
    """The cells of the one table below *heading*, without its head and without backticks."""
    _, _, below = PAGE.read_text().partition(f"{heading}\n")
    section, _, _ = below.partition("\n## ")
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip().strip("`") for cell in line.split("|")[1:-1]] for line in lines[2:]]


@pytest.mark.parametrize("command", ["run", "exporter"])
def test_each_flag_has_a_row_that_says_what_the_help_says(command: str) -> None:
    printed = run(command, "--help").out
    told = " ".join(printed.split())
    flags = re.findall(r"^  (--[a-z-]+)", printed, re.MULTILINE)
    page = rows(f"## Flags of `gpustack-ctrl {command}`")

    assert flags == [row[0] for row in page]
    for flag, variable, default, meaning in page:
        shown = f" (default: {default})" if default else ""
        pattern = rf"{flag}( \S+|, --no-\S+)? {re.escape(f'{meaning}{shown} [{variable}]')}"

        assert re.search(pattern, told), flag


def test_each_command_has_a_row() -> None:
    told = run("--help").out

    assert [row[0].removeprefix("gpustack-ctrl ") for row in rows("# The command")] == re.findall(
        r"^    ([a-z]+) ", told, re.MULTILINE
    )


def test_each_exit_code_has_a_row() -> None:
    codes = {CANNOT_START, USAGE, *Ending}

    assert sorted(codes) == [int(row[0]) for row in rows("## Exit codes")]
