"""The log: for programs one JSON object a line, for people in a terminal colours."""

import os
import pty
import subprocess
import sys
from collections.abc import Sequence

import msgspec
import pytest

from e2e.cluster import Cluster, until
from gpustack_ctrl.api import names
from tests.cli.command import COMMAND, Process, environment, operating
from tests.cli.test_signals import Log

EVERY_PASS = {"controller", "namespace", "name", "reconcile_id", "outcome", "seconds", "timestamp"}
COLOUR = "\x1b["
SPEAK = """
import logging
import structlog
from gpustack_ctrl import logs
logs.set_up(level="info", form="{form}")
try:
    raise ValueError("two\\nlines")
except ValueError:
    structlog.get_logger().error("ours", exc_info=True, what=object)
    logging.getLogger("library").warning("theirs: %s", 1, exc_info=True)
logging.getLogger("library").info("too quiet")
structlog.get_logger().debug("too quiet")
"""


def spoken(form: str, level: str = "info") -> list[str]:
    """The lines of a small process that logs in *form*."""
    code = SPEAK.format(form=form).replace('level="info"', f'level="{level}"')
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env=environment({}),
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    return ended.stderr.splitlines()


def test_what_libraries_say_is_json_too_traceback_and_all() -> None:
    ours, theirs = (msgspec.json.decode(line) for line in spoken("auto"))

    assert ("ours", "error") == (ours["event"], ours["level"])
    assert ("theirs: 1", "warning", "library") == (
        theirs["event"],
        theirs["level"],
        theirs["logger"],
    )
    assert ["ValueError: two\nlines"] * 2 == [
        held["exception"][-len("ValueError: two\nlines") :] for held in (ours, theirs)
    ]
    assert ours["timestamp"].endswith("Z")


def test_console_is_without_colours_where_nobody_looks() -> None:
    text = "\n".join(spoken("console"))

    assert "ours" in text
    assert "theirs: 1" in text
    assert COLOUR not in text


def test_a_higher_level_is_quieter_for_libraries_too() -> None:
    [only] = spoken("json", level="error")

    assert "ours" == msgspec.json.decode(only)["event"]


@pytest.mark.parametrize(("flags", "coloured"), [((), True), (("--log-format=json",), False)])
def test_a_terminal_gets_colours_unless_asked_otherwise(
    unprepared: Cluster, home: str, flags: Sequence[str], *, coloured: bool
) -> None:
    ours, theirs = pty.openpty()
    arguments = (
        *("run", f"--kubeconfig={unprepared.kubeconfig}", f"--namespace={home}"),
        *("--metrics-bind-address=0", "--health-probe-bind-address=0", "--install-crds"),
    )
    with subprocess.Popen(
        [*COMMAND, *arguments, *flags],
        env=environment({"TERM": "xterm"}),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        try:
            said = _read_until(ours, "caches are filled")
        finally:
            process.kill()
            os.close(ours)

    assert coloured == (COLOUR in said)
    assert coloured == (not said.startswith("{"))


def _read_until(terminal: int, words: str) -> str:
    said = ""
    while words not in said:
        said += os.read(terminal, 4096).decode()
    return said


def test_every_pass_is_one_line_and_every_line_one_object(
    unprepared: Cluster, home: str, log: Log
) -> None:
    with operating(
        unprepared.kubeconfig, log("one"), f"--namespace={home}", "--install-crds"
    ) as operator:
        path = names.INSTANCE.collection(home)
        head = {"apiVersion": names.INSTANCE.api_version, "kind": names.INSTANCE.kind}
        spec = {"type": "missing", "image": "workload:1"}
        unprepared.api().post(path, {**head, "metadata": {"name": "box"}, "spec": spec})
        until(
            lambda: bool(operator.logged("reconciled", name="box", controller="instance")),
            "the Instance had no pass",
        )
        until(lambda: _lines(operator) == _passes(operator), "lines and passes differ")
        passes = operator.logged("reconciled")

    assert all(EVERY_PASS <= set(line) for line in passes)
    assert len(passes) == len({line["reconcile_id"] for line in passes})


def _lines(operator: Process) -> int:
    return len(operator.logged("reconciled"))


def _passes(operator: Process) -> int:
    counted = operator.samples("controller_runtime_reconcile_total")
    return int(sum(sample.value for sample in counted))
