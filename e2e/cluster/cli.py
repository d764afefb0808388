"""The command line of the embedded cluster."""

import argparse
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from e2e.cluster.command import run
from e2e.cluster.errors import ClusterError
from e2e.cluster.lifecycle import Fleet, down, running, up
from e2e.cluster.nodes import BASES
from e2e.cluster.parts import KUBE_PARTS
from e2e.cluster.processes import ends_with_parent
from e2e.cluster.programs import NEEDED, PACKAGES, build
from e2e.node import lifecycle as real_node
from e2e.node.cli import bring_up


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says and return the exit code."""
    return run(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m e2e.cluster",
        description="A Kubernetes control plane with simulated nodes, on loopback.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("build", help="compile the programs, unless they are there")
    command.add_argument(
        "--with", dest="extra", action="append", default=[],
        choices=sorted(set(PACKAGES) - set(NEEDED)), help="compile this one as well",
    )  # fmt: skip
    command.set_defaults(do=_build)
    command = commands.add_parser("up", help="start a cluster and leave it running")
    command.add_argument("--dir", type=Path, required=True, help="a new or empty directory")
    command.add_argument(
        "--real-node", action="store_true",
        help="a node that runs Pods instead of simulated ones (takes root; see e2e/node)",
    )  # fmt: skip
    _add_fleet(command)
    command.set_defaults(do=_up)
    command = commands.add_parser("down", help="end a cluster, with real node or without")
    command.add_argument("--dir", type=Path, required=True, help="the directory given to up")
    command.set_defaults(do=_down)
    command = commands.add_parser("run", help="have a cluster for as long as a command runs")
    _add_fleet(command)
    command.add_argument("command", nargs="+", metavar="COMMAND", help="after --")
    command.set_defaults(do=_run)
    return parser


def _add_fleet(command: argparse.ArgumentParser) -> None:
    default = Fleet()
    command.add_argument("--nodes", type=int, default=default.nodes, help="how many nodes")
    command.add_argument("--gpus", type=int, default=default.gpus, help="cards in each node")
    command.add_argument("--manufacturer", choices=BASES, default=default.manufacturer)


def _fleet(options: argparse.Namespace) -> Fleet:
    return Fleet(nodes=options.nodes, gpus=options.gpus, manufacturer=options.manufacturer)


def _build(options: argparse.Namespace) -> int:
    print(build(options.extra).directory)
    return 0


def _up(options: argparse.Namespace) -> int:
    if options.real_node:
        return _up_real(options)
    if real_node.holds_node(options.dir):
        raise ClusterError(f"{options.dir} holds a real node: name another directory")
    cluster = up(options.dir, _fleet(options))
    print(f"up: export KUBECONFIG={cluster.kubeconfig} PATH={cluster.layout.bin}:$PATH")
    return 0


def _up_real(options: argparse.Namespace) -> int:
    if _fleet(options) != Fleet():
        raise ClusterError("--nodes, --gpus and --manufacturer are for simulated nodes only")
    return bring_up(options.dir)


def _down(options: argparse.Namespace) -> int:
    end = real_node.down if real_node.holds_node(options.dir) else down
    end(options.dir)
    return 0


def _run(options: argparse.Namespace) -> int:
    program = options.command[0]
    if program not in KUBE_PARTS and shutil.which(program) is None:
        raise ClusterError(f"there is no command {program}")
    with running(_fleet(options)) as cluster:
        environment = {
            **os.environ,
            **cluster.environment(),
            "GPUSTACK_CTRL_CLUSTER": str(cluster.directory),
        }
        child = subprocess.Popen(
            options.command,
            env=environment,
            preexec_fn=ends_with_parent(signal.SIGTERM),  # noqa: PLW1509  One thread only.
        )
        code = _wait(child)
    return code if code >= 0 else 128 - code


def _wait(child: subprocess.Popen[bytes]) -> int:
    """Return the exit code of *child*, which is not left behind whatever ends the wait."""
    try:
        return child.wait()
    except BaseException:
        child.terminate()
        child.wait()
        raise
