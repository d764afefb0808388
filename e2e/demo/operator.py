"""The operator as a process of its own, started by its own command."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import attrs

from e2e.cluster import Cluster
from e2e.cluster.layout import LOOPBACK
from e2e.cluster.processes import ends_with_parent
from e2e.demo.by_hand import operator_arguments, start_operator
from e2e.demo.errors import DemoError

CHECKOUT = Path(__file__).parents[2]
_PATIENCE = 10.0


@attrs.frozen(kw_only=True)
class Operator:
    """The operator, running; what it says is in *log*."""

    process: subprocess.Popen[bytes]
    command: str
    metrics: str
    log: Path

    def check(self) -> None:
        """Return if it lives.

        Raises DemoError with its last words otherwise.
        """
        code = self.process.poll()
        if code is not None:
            words = self.log.read_text(errors="replace").strip().splitlines() or ["it said nothing"]
            raise DemoError(f"the operator ended with {code}: {words[-1]}")

    def stop(self) -> None:
        """Return when it is gone: it is asked first."""
        self.process.terminate()
        try:
            self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start(cluster: Cluster, *, outlives_us: bool) -> Operator:
    """Start the operator at *cluster*; unless it *outlives_us*, it ends with this process."""
    metrics, probes = _free_addresses()
    arguments = operator_arguments(cluster.kubeconfig, metrics=metrics, probes=probes)
    log = cluster.layout.log / "operator"
    with log.open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "gpustack_ctrl", *arguments],
            cwd=CHECKOUT,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,  # Ctrl-C is ours.
            preexec_fn=None if outlives_us else ends_with_parent(signal.SIGTERM),  # noqa: PLW1509  One thread only.
        )
    return Operator(process=process, command=start_operator(arguments), metrics=metrics, log=log)


def _environment() -> dict[str, str]:
    """Ours, without what would change the operator: it is that of this checkout, as it comes."""
    ours = {name: held for name, held in os.environ.items() if not name.startswith("GPUSTACK_")}
    return {**ours, "PYTHONPATH": str(CHECKOUT / "src")}


def _free_addresses() -> tuple[str, str]:
    with socket.socket() as one, socket.socket() as other:
        for listener in (one, other):
            listener.bind((LOOPBACK, 0))
        return _address(one), _address(other)


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()
    return f"{host}:{port}"
