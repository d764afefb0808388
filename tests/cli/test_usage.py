"""What the command says to whoever uses it, right or wrong."""

import argparse
from collections.abc import Mapping
from importlib.metadata import version

import pytest
import yaml

from gpustack_ctrl.flags import add_flags, options
from gpustack_ctrl.gen.crd import KINDS
from gpustack_ctrl.options import Options
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
    by_flag = refused(flag, value)
    by_variable = refused(environ={variable: value})

    assert f"argument {flag}: {why}" in by_flag
    assert f"environment variable {variable}: {why}" in by_variable


def refused(*arguments: str, environ: Mapping[str, str] | None = None) -> str:
    """What `run` says against *arguments* or *environ*, as it would before it exits."""
    parsed = argparse.ArgumentParser(exit_on_error=False)
    add_flags(parsed)
    with pytest.raises((argparse.ArgumentError, ValueError)) as caught:
        options(Options, parsed.parse_args(arguments), environ or {})
    return str(caught.value)


def test_a_switch_that_is_neither_on_nor_off_is_refused() -> None:
    told = "environment variable GPUSTACK_LEADER_ELECT: 'yes' is not one of true, false"

    assert told == refused(environ={"GPUSTACK_LEADER_ELECT": "yes"})


def test_a_bad_value_ends_the_command_with_2_and_its_last_line_says_why() -> None:
    by_flag = run("run", "--workers=0")
    by_variable = run("run", environ={"GPUSTACK_LOG_LEVEL": "loud"})

    assert [(2, ""), (2, "")] == [(it.code, it.out) for it in (by_flag, by_variable)]
    assert "run: error: argument --workers: '0' is not a" in by_flag.error.splitlines()[-1]
    assert "variable GPUSTACK_LOG_LEVEL: 'loud' is not" in by_variable.error.splitlines()[-1]


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
