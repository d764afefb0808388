"""The command `gpustack-ctrl`: parse into options, call the rest, tell errors in one line."""

import argparse
import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, NoReturn

import attrs

from gpustack_ctrl import logs
from gpustack_ctrl.api.errors import ApiError
from gpustack_ctrl.api.names import PRODUCT
from gpustack_ctrl.app.errors import StartError
from gpustack_ctrl.app.run import run
from gpustack_ctrl.client.errors import ConfigurationError
from gpustack_ctrl.gen.crd import crds
from gpustack_ctrl.gen.text import manifest
from gpustack_ctrl.options import Options

USAGE_ERROR = 2
CANNOT_START = 1


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command with *arguments*, and exit with its code."""
    asked = parser(os.environ).parse_args(arguments)
    try:
        code = asked.act(asked)
        sys.stdout.flush()
    except (ConfigurationError, StartError, ApiError) as error:
        sys.stderr.write(f"{PRODUCT}: {error}\n")
        code = CANNOT_START
    except BrokenPipeError:  # Whoever read our output has read enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def parser(environ: Mapping[str, str]) -> argparse.ArgumentParser:
    """The command line; what a flag does not say, *environ* may say as GPUSTACK_…."""
    top = argparse.ArgumentParser(prog=PRODUCT, description="Runs GPU Instances on Kubernetes.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    _add_run(commands.add_parser("run", help="run the operator"), environ)
    prints = commands.add_parser("crds", help="print the CRDs, for `kubectl apply -f -`")
    prints.set_defaults(act=_print_crds)
    tells = commands.add_parser("version", help="print the version")
    tells.set_defaults(act=_print_version)
    return top


def _add_run(command: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    command.set_defaults(act=_run)
    for field in attrs.fields(Options):
        _add_option(command, field, environ)


_HELP = {
    "kubeconfig": "kubeconfig file; absent: the cluster we run in, else KUBECONFIG",
    "context": "context of the kubeconfig",
    "namespace": "the operator's own namespace, which holds Settings and the lease",
    "metrics_bind_address": "where /metrics listens; 0 switches it off",
    "health_probe_bind_address": "where /healthz and /readyz listen; 0 switches them off",
    "leader_elect": "work only while holding the lease, so that replicas may stand by",
    "log_level": f"one of {', '.join(logs.LEVELS)}",
    "log_format": f"one of {', '.join(logs.FORMATS)}",
    "install_crds": "create or update the CRDs first",
    "workers": "how many Instances are worked on at once",
}
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "log_level": tuple(logs.LEVELS),
    "log_format": logs.FORMATS,
}


def _add_option(
    command: argparse.ArgumentParser, field: "attrs.Attribute[Any]", environ: Mapping[str, str]
) -> None:
    flag = f"--{field.name.replace('_', '-')}"
    variable = f"GPUSTACK_{field.name.upper()}"
    told = environ.get(variable, field.default)
    help_text = f"{_HELP[field.name]} [{variable}]"
    if field.type is bool:
        given = told in (True, "true", "1")
        action = argparse.BooleanOptionalAction
        command.add_argument(flag, action=action, default=given, help=help_text)
    else:
        command.add_argument(
            flag,
            default=told,
            type=int if isinstance(field.default, int) else str,
            choices=_CHOICES.get(field.name),
            help=help_text,
        )


def _run(asked: argparse.Namespace) -> int:
    options = Options(**{field.name: getattr(asked, field.name) for field in attrs.fields(Options)})
    logs.set_up(level=options.log_level, form=options.log_format)
    return int(asyncio.run(run(options)))


def _print_crds(_: argparse.Namespace) -> int:
    sys.stdout.write(manifest(crds()))
    return 0


def _print_version(_: argparse.Namespace) -> int:
    sys.stdout.write(f"{PRODUCT} {version(PRODUCT)}\n")
    return 0
