"""The command `gpustack-ctrl`: parse into options, call the rest, tell errors in one line."""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import NoReturn

from gpustack_ctrl import logs
from gpustack_ctrl.api.errors import ApiError
from gpustack_ctrl.api.names import PRODUCT
from gpustack_ctrl.app.errors import StartError
from gpustack_ctrl.app.run import run
from gpustack_ctrl.client.errors import ConfigurationError
from gpustack_ctrl.flags import add_flags, options
from gpustack_ctrl.gen.crd import crds
from gpustack_ctrl.gen.text import manifest
from gpustack_ctrl.runtime.server import ListenError

CANNOT_START = 1


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command with *arguments*, and exit with its code."""
    asked = parser().parse_args(arguments)
    try:
        code = asked.act(asked)
        sys.stdout.flush()
    except (ConfigurationError, StartError, ListenError, ApiError) as error:
        sys.stderr.write(f"{PRODUCT}: {error}\n")
        code = CANNOT_START
    except BrokenPipeError:  # Whoever read our output has read enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog=PRODUCT, description="Runs GPU Instances on Kubernetes.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    runs = commands.add_parser(
        "run",
        help="run the operator",
        epilog="What no flag says, the variable in brackets may say.",
    )
    add_flags(runs)
    runs.set_defaults(act=_run, fail=runs.error)
    prints = commands.add_parser("crds", help="print the CRDs, for `kubectl apply -f -`")
    prints.set_defaults(act=_print_crds)
    tells = commands.add_parser("version", help="print the version")
    tells.set_defaults(act=_print_version)
    return top


def _run(asked: argparse.Namespace) -> int:
    try:
        told = options(asked, os.environ)
    except ValueError as error:
        asked.fail(str(error))
        raise
    logs.set_up(level=told.log_level, form=told.log_format)
    return int(asyncio.run(run(told)))


def _print_crds(_: argparse.Namespace) -> int:
    sys.stdout.write(manifest(crds()))
    return 0


def _print_version(_: argparse.Namespace) -> int:
    sys.stdout.write(f"{PRODUCT} {version(PRODUCT)}\n")
    return 0
