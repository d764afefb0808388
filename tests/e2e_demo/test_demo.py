"""The demo as a command: it succeeds, fails and is interrupted, and leaves what it should."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

from e2e.cluster import down, until
from e2e.demo.script import Step
from e2e.demo.story import STORY

CHECKOUT = Path(__file__).parents[2]


def start(temporary: Path, *command: str) -> subprocess.Popen[str]:
    """Start a module with its arguments; all it makes lies in *temporary*."""
    return subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=CHECKOUT,
        env={**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    said, complaint = process.communicate()
    return process.returncode, said, complaint


def processes(directory: Path) -> list[str]:
    """The command lines of the living processes that have to do with *directory*."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if str(directory) in line:
            found.append(line.replace("\0", " ").strip())
    return found


def left(temporary: Path) -> list[str]:
    return [str(path) for path in temporary.iterdir()] + processes(temporary)


@pytest.fixture
def temporary(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "temporary"
    place.mkdir()
    yield place
    for cluster in place.glob("*/supervisor.pid"):  # Only after a test that failed.
        down(cluster.parent)


def test_the_demo_shows_everything_and_leaves_nothing(temporary: Path) -> None:
    code, said, complaint = finished(start(temporary, "e2e.demo"))

    assert (0, "") == (code, complaint), said
    steps = [step for chapter in STORY for step in chapter.steps if isinstance(step, Step)]
    facts = [fact.says for step in steps for fact in step.facts]
    assert facts == re.findall(r"^  (?:✓|ok:) (.*)$", said, re.MULTILINE)
    assert "\033" not in said
    assert [] == left(temporary)


def test_a_fact_that_does_not_hold_fails_the_demo_in_one_line_and_keeps_the_logs(
    temporary: Path,
) -> None:
    code, said, complaint = finished(start(temporary, "tests.e2e_demo.shortened", "false"))

    assert 1 == code, said
    found = re.fullmatch(
        r"demo: Untrue: “There is a moon\.” does not hold: 'moon' is missing"
        r" \(after `kubectl get nodes`\); logs: (\S+)\n",
        complaint,
    )
    assert found is not None, complaint
    logs = Path(found[1])
    assert {"operator", "kube-apiserver"} <= {log.name for log in logs.iterdir()}
    assert [str(logs.parent)] == left(temporary)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=str)
@pytest.mark.parametrize("arguments", [(), ("--keep",)], ids=["passing", "keep"])
def test_an_interrupted_demo_leaves_nothing(
    temporary: Path, arguments: tuple[str, ...], number: signal.Signals
) -> None:
    process = start(temporary, "e2e.demo", *arguments)
    assert process.stdout is not None
    while "$ gpustack-ctrl run" not in process.stdout.readline():
        assert process.poll() is None, finished(process)
    process.send_signal(number)

    code, _, complaint = finished(process)

    assert (128 + number, "demo: interrupted, and cleaned up\n") == (code, complaint)
    assert [] == left(temporary)


def test_a_kept_demo_runs_on_until_what_it_says_is_done(temporary: Path) -> None:
    code, said, complaint = finished(
        start(temporary, "tests.e2e_demo.shortened", "beginning", "--keep")
    )

    assert (0, "") == (code, complaint), said
    assert any("gpustack_ctrl run" in line for line in processes(temporary))
    become, end = farewell(said)
    seen = shell(f"{become[0]}\nkubectl get settings -n gpustack-system")
    assert "instance-isolation-pod-cidrs" in seen
    assert "workqueue_depth" in scrape(said)

    shell(end)

    until(lambda: [] == left(temporary), "something is left", seconds=20)


def farewell(said: str) -> tuple[list[str], str]:
    """The commands with which one becomes somebody, and those that end everything."""
    last = said.split("Everything is still running.", 1)[1]
    using, ending = last.split("To end it all:\n", 1)
    return re.findall(r"^  (export .*)$", using, re.MULTILINE), ending


def scrape(said: str) -> str:
    found = re.search(r"^Metrics: http://(\S+)/metrics$", said, re.MULTILINE)
    assert found is not None, said
    connection = HTTPConnection(found[1], timeout=10)
    with closing(connection):
        connection.request("GET", "/metrics")
        return connection.getresponse().read().decode()


def shell(commands: str) -> str:
    return subprocess.run(
        ["sh", "-ec", commands], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
