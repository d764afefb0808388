"""What the command says to whoever uses it, right or wrong."""

from importlib.metadata import version

import pytest
import yaml

from gpustack_ctrl.gen.crd import KINDS
from tests.cli.command import run

WRONG = [
    ("--log-level", "GPUSTACK_LOG_LEVEL", "loud", "'loud' is not one of debug, info,"),
    ("--log-format", "GPUSTACK_LOG_FORMAT", "xml", "'xml' is not one of auto, json, console"),
    ("--workers", "GPUSTACK_WORKERS", "0", "'0' is not a whole number from 1 on"),
    ("--workers", "GPUSTACK_WORKERS", "many", "'many' is not a whole number from 1 on"),
    (
        "--metrics-bind-address",
        "GPUSTACK_METRICS_BIND_ADDRESS",
        "8080",
        "bind address '8080': write host:port, :port, or 0 to switch it off",
    ),
    (
        "--health-probe-bind-address",
        "GPUSTACK_HEALTH_PROBE_BIND_ADDRESS",
        "localhost:99999",
        "bind address 'localhost:99999': write host:port, :port, or 0 to switch it off",
    ),
]


@pytest.mark.parametrize(("flag", "variable", "value", "why"), WRONG)
def test_a_bad_value_is_named_with_its_flag_or_its_variable(
    flag: str, variable: str, value: str, why: str
) -> None:
    by_flag = run("run", flag, value)
    by_variable = run("run", environ={variable: value})

    assert [2, 2] == [by_flag.code, by_variable.code]
    assert f"error: argument {flag}: {why}" in by_flag.error.splitlines()[-1]
    assert f"error: environment variable {variable}: {why}" in by_variable.error.splitlines()[-1]


def test_a_switch_that_is_neither_on_nor_off_is_refused() -> None:
    ended = run("run", environ={"GPUSTACK_LEADER_ELECT": "yes"})

    assert 2 == ended.code
    assert ended.error.endswith("GPUSTACK_LEADER_ELECT: 'yes' is not one of true, false\n")


def test_a_flag_beats_its_variable_and_an_empty_variable_says_nothing() -> None:
    """As far as the search for the API server, the first thing that is done."""
    flag = run("run", "--kubeconfig=/flag", environ={"GPUSTACK_KUBECONFIG": "/variable"})
    empty = run("run", environ={"GPUSTACK_KUBECONFIG": "/variable", "GPUSTACK_LOG_LEVEL": ""})

    assert "--kubeconfig is /flag, and there is no such file" in flag.only_line
    assert "--kubeconfig is /variable, and there is no such file" in empty.only_line


@pytest.mark.parametrize("arguments", [(), ("fly",), ("run", "--fly")])
def test_an_unknown_word_is_told_with_what_there_is(arguments: tuple[str, ...]) -> None:
    ended = run(*arguments)

    assert (2, "") == (ended.code, ended.out)
    assert ended.error.startswith("usage: gpustack-ctrl ")
    assert "Traceback" not in ended.error


def test_version_is_that_of_the_package() -> None:
    ended = run("version")

    assert (0, f"gpustack-ctrl {version('gpustack-ctrl')}\n", "") == (
        ended.code,
        ended.out,
        ended.error,
    )


def test_crds_prints_one_document_for_each_kind() -> None:
    ended = run("crds")
    names = [held["metadata"]["name"] for held in yaml.safe_load_all(ended.out) if held]

    assert (0, "") == (ended.code, ended.error)
    assert [kind.resource.full_name for kind in KINDS] == names
