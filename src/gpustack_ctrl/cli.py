"""The command `gpustack-ctrl`: parse into options, call the rest, tell errors in one line."""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import NoReturn, TypeVar

from gpustack_ctrl import logs
from gpustack_ctrl.api.errors import ApiError
from gpustack_ctrl.api.names import PRODUCT
from gpustack_ctrl.app.errors import StartError
from gpustack_ctrl.app.exporter import export
from gpustack_ctrl.app.run import run
from gpustack_ctrl.app.suggest import suggested_types
from gpustack_ctrl.app.top.run import Exporter, top
from gpustack_ctrl.app.top.show import JSON, TABLE, Wish
from gpustack_ctrl.client.errors import ConfigurationError
from gpustack_ctrl.client.location import ConnectionOptions
from gpustack_ctrl.flags import add_flags, options
from gpustack_ctrl.gen.crd import crds
from gpustack_ctrl.gen.text import manifest, to_yaml
from gpustack_ctrl.metering.columns import SORTS
from gpustack_ctrl.options import CommonOptions, ExporterOptions, Options
from gpustack_ctrl.runtime.server import ListenError

T = TypeVar("T", bound=CommonOptions)
CANNOT_START = 1
VARIABLES = "What no flag says, the variable in brackets may say."
WHERE = ("kubeconfig", "context", "namespace")


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
    runs = commands.add_parser("run", help="run the operator", epilog=VARIABLES)
    add_flags(runs)
    runs.set_defaults(act=_run, fail=runs.error)
    exports = commands.add_parser(
        "exporter", help="tell Prometheus what every Instance has and uses", epilog=VARIABLES
    )
    add_flags(exports, ExporterOptions)
    exports.set_defaults(act=_export, fail=exports.error)
    _add_top(commands.add_parser("top", help="show what Instances have and use"))
    prints = commands.add_parser("crds", help="print the CRDs, for `kubectl apply -f -`")
    prints.set_defaults(act=_print_crds)
    _add_types(commands.add_parser("types", help="print InstanceTypes for the cluster's nodes"))
    tells = commands.add_parser("version", help="print the version")
    tells.set_defaults(act=_print_version)
    return top


def _add_types(command: argparse.ArgumentParser) -> None:
    does = command.add_subparsers(required=True, metavar="COMMAND")
    suggests = does.add_parser(
        "suggest",
        help="print InstanceTypes for what the nodes offer, to read and `kubectl apply -f -`",
        epilog=VARIABLES,
    )
    add_flags(suggests, only=WHERE)
    suggests.set_defaults(act=_suggest_types, fail=suggests.error)


def _add_top(command: argparse.ArgumentParser) -> None:
    add_flags(command, only=("kubeconfig", "context"))
    add_flags(command, ExporterOptions, only=("kubelet_insecure_tls",))
    told = command.add_argument
    told(
        "-n",
        "--namespace",
        dest="within",
        default="",
        metavar="NAME",
        help="only that; absent: all",
    )
    told("--sort", choices=("name", *SORTS), default="name", help="the greatest first")
    told("-o", "--output", choices=(TABLE, JSON), default=TABLE, help="table, or one line of JSON")
    told("-w", "--watch", action="store_true", help="again and again")
    told("--every", type=float, default=15.0, metavar="SECONDS", help="how often, with --watch")
    told("--exporter", default="", metavar="URL", help="page to read; absent: ask the kubelets")
    told("--exporter-token-file", default="", metavar="FILE", help="token for that page")
    told("--exporter-insecure-tls", action="store_true", help="do not verify its certificate")
    command.set_defaults(act=_top, fail=command.error)


def _options(kind: type[T], asked: argparse.Namespace) -> T:
    try:
        return options(kind, asked, os.environ)
    except ValueError as error:
        asked.fail(str(error))
        raise


def _run(asked: argparse.Namespace) -> int:
    told = _options(Options, asked)
    logs.set_up(level=told.log_level, form=told.log_format)
    return int(asyncio.run(run(told)))


def _export(asked: argparse.Namespace) -> int:
    told = _options(ExporterOptions, asked)
    logs.set_up(level=told.log_level, form=told.log_format)
    return int(asyncio.run(export(told)))


def _top(asked: argparse.Namespace) -> int:
    told = _options(ExporterOptions, asked)
    wish = Wish(
        namespace=asked.within,
        sort=asked.sort,
        output=asked.output,
        watch=asked.watch,
        seconds=asked.every,
    )
    exporter = Exporter(
        url=asked.exporter,
        token_file=asked.exporter_token_file,
        insecure_tls=asked.exporter_insecure_tls,
    )
    where = ConnectionOptions(kubeconfig=told.kubeconfig, context=told.context)
    shows = top(where, exporter, wish, kubelet_insecure_tls=told.kubelet_insecure_tls)
    with suppress(KeyboardInterrupt):
        asyncio.run(shows)
    return 0


def _suggest_types(asked: argparse.Namespace) -> int:
    told = _options(Options, asked)
    where = ConnectionOptions(kubeconfig=told.kubeconfig, context=told.context)
    found = asyncio.run(suggested_types(where, told.namespace))
    sys.stdout.write("---\n".join(map(to_yaml, found)))
    return 0


def _print_crds(_: argparse.Namespace) -> int:
    sys.stdout.write(manifest(crds()))
    return 0


def _print_version(_: argparse.Namespace) -> int:
    sys.stdout.write(f"{PRODUCT} {version(PRODUCT)}\n")
    return 0
