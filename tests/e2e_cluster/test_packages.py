"""What tests take of the machine: which packages, how they come, and what happens without."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.node.requirements import FILES, PROGRAMS

CHECKOUT = Path(__file__).parents[2]
LIST = CHECKOUT / "e2e" / "packages.txt"
INSTALL = CHECKOUT / "e2e" / "install-packages.sh"
STANDINS = {
    "id": 'echo "$WHO"',
    "dpkg-query": '[ "$3" != missing ] && [ "$3" != lost ] && echo installed',
    "dpkg": "true",
    "apt-get": 'echo apt-get "$@" >> "$CALLS"; exit "$FAILS"',
}


def install(folder: Path, *packages: str, who: int = 0, fails: int = 0) -> tuple[int, list[str]]:
    """Return the exit code of the script and what it asked of apt-get, all played by stand-ins."""
    for name, script in STANDINS.items():
        program = folder / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    calls = folder / "calls"
    calls.touch()
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    told = {"PATH": path, "CALLS": str(calls), "WHO": str(who), "FAILS": str(fails)}
    done = subprocess.run((INSTALL, *packages), env=told, capture_output=True, check=False)
    return done.returncode, calls.read_text().splitlines()


def test_every_package_that_a_real_node_takes_is_in_the_list() -> None:
    listed = {line.split()[0] for line in LIST.read_text().splitlines() if line[:1] != "#"}

    assert {*PROGRAMS.values(), *FILES.values()} <= listed


def test_packages_that_are_missing_are_installed(tmp_path: Path) -> None:
    code, calls = install(tmp_path, "there", "missing", "lost")

    assert 0 == code
    assert ["apt-get update", "apt-get install"] == [call[:15].strip() for call in calls]
    assert calls[1].endswith(" missing lost")


def test_nothing_is_asked_for_where_nothing_is_missing(tmp_path: Path) -> None:
    assert (0, []) == install(tmp_path, "there")


def test_nothing_is_installed_by_who_may_not(tmp_path: Path) -> None:
    assert (0, []) == install(tmp_path, "missing", who=1000)


def test_a_package_that_cannot_be_installed_is_an_error(tmp_path: Path) -> None:
    code, _ = install(tmp_path, "missing", fails=100)

    assert 100 == code


@pytest.mark.parametrize("order", ["prepare", "tests"])
def test_a_machine_without_the_programs_says_so_in_one_line(order: str) -> None:
    """And every test counts as skipped."""
    module = ("e2e.node", "prepare") if order == "prepare" else ("pytest", "e2e/tests", "-q", "-ra")
    done = subprocess.run(
        (sys.executable, "-m", *module),
        cwd=CHECKOUT,
        env={"PATH": "/nowhere", "HOME": os.environ["HOME"]},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    (told,) = [line for line in lines if "takes root" in line or "packages are missing" in line]

    assert (0, "") == (done.returncode, done.stderr)
    if order == "tests":
        count, *rest = lines[-1].split()
        assert ["skipped", "in"] == rest[:2], "and none passed or failed"
        assert told.startswith(f"SKIPPED [{count}] ")
