"""The page on threats names tests that exist, and a number wherever a test carries one."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/explanation/threat-model.md").read_text()
NAMED = re.compile(r"`([a-z_/]+\.py)`((?: [A-Z][0-9]+,?)*)")
UNITS = ("reconcilers/", "runtime/", "gen/")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| R")]


def file_of(name: str) -> Path:
    """Where the page says that a test lies."""
    below = "tests" if name.startswith(UNITS) else "tests/integration"
    return ROOT / below / name


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split()[1])
def test_each_row_names_tests_that_exist_and_carry_its_numbers(row: str) -> None:
    proof = row.split("|")[4]
    named = NAMED.findall(proof)

    assert named, proof
    for name, numbers in named:
        text = file_of(name).read_text()
        for number in re.findall(r"[A-Z][0-9]+", numbers):
            assert f"_{number.lower()}_" in text, f"{name} proves no {number}"


def test_each_number_of_a_threat_that_a_test_carries_has_a_row() -> None:
    told = {row.split()[1] for row in ROWS}
    carried = {
        number.upper()
        for path in Path(__file__).parent.glob("test_*.py")
        for name in re.findall(r"def (test_\w+)", path.read_text())
        for number in re.findall(r"(?<=_)r[0-9]+(?=_)", name)
    }

    assert carried <= told
    assert {"R1", "R26"} <= carried
