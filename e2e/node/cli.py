"""The command line of a real node."""

import argparse
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from e2e.cluster.command import run
from e2e.cluster.errors import ClusterError
from e2e.node.images import images
from e2e.node.lifecycle import down, holds_node, running, up
from e2e.node.programs import build
from e2e.node.real_node import RealNode
from e2e.node.requirements import lacking, missing
from e2e.node.upstream import suite

_SHELL = "/bin/sh"


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says and return the exit code."""
    return run(_parser(), arguments)


def bring_up(directory: Path) -> int:
    """Start a node, leave it running, and tell how it is reached."""
    up(directory)
    print(f"up: python -m e2e.node outside --dir {directory} -- kubectl get nodes")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m e2e.node",
        description="A real Kubernetes node in namespaces of its own, and a client outside it.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("build", help="make programs and images, unless they are there")
    command.set_defaults(do=_build)
    command = commands.add_parser(
        "prepare", help="the same for the tests, or tell why no node can run"
    )
    command.set_defaults(do=_prepare)
    command = commands.add_parser("lacking", help="tell which Debian packages are missing")
    command.set_defaults(do=_lacking)
    command = commands.add_parser("up", help="start a node and leave it running")
    command.add_argument("--dir", type=Path, required=True, help="a new or empty directory")
    command.set_defaults(do=_up)
    command = commands.add_parser("down", help="end a node and remove what it made")
    command.add_argument("--dir", type=Path, required=True, help="the directory given to up")
    command.set_defaults(do=_down)
    for name, what, do in (
        ("outside", "run a command, or a shell, as the client outside", _outside),
        ("inside", "run a command, or a shell, on the node", _inside),
    ):
        command = commands.add_parser(name, help=what)
        command.add_argument("--dir", type=Path, required=True, help="the directory given to up")
        command.add_argument("command", nargs="*", metavar="COMMAND", help="after --")
        command.set_defaults(do=do)
    command = commands.add_parser("run", help="have a node for as long as a command runs, outside")
    command.add_argument("command", nargs="+", metavar="COMMAND", help="after --")
    command.set_defaults(do=_run)
    return parser


def _build(_options: argparse.Namespace) -> int:
    build()
    print(images())
    return 0


def _prepare(options: argparse.Namespace) -> int:
    complaint = missing()
    if complaint:
        print(f"no real node on this machine: {complaint}")
        return 0
    suite()
    return _build(options)


def _lacking(_options: argparse.Namespace) -> int:
    print(*lacking())
    return 0


def _up(options: argparse.Namespace) -> int:
    return bring_up(options.dir)


def _down(options: argparse.Namespace) -> int:
    down(options.dir)
    return 0


def _outside(options: argparse.Namespace) -> int:
    node = _node(options.dir)
    with node.outside():
        return _call(options.command, node.environment())


def _inside(options: argparse.Namespace) -> int:
    node = _node(options.dir)
    return _call([*node.box.prefix(), *(options.command or [_SHELL])], {})


def _run(options: argparse.Namespace) -> int:
    with running() as node, node.outside():
        return _call(
            options.command, {**node.environment(), "GPUSTACK_CTRL_NODE": str(node.directory)}
        )


def _node(directory: Path) -> RealNode:
    if not holds_node(directory):
        raise ClusterError(f"{directory} holds no node")
    return RealNode(directory=directory.resolve())


def _call(command: Sequence[str], told: Mapping[str, str]) -> int:
    words = command or [os.environ.get("SHELL", _SHELL)]
    try:
        code = subprocess.run(words, env={**os.environ, **told}, check=False).returncode
    except FileNotFoundError as error:
        raise ClusterError(f"there is no command {words[0]}") from error
    return code if code >= 0 else 128 - code
