"""The command as a process of its own: run to its end, or kept running and looked at."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any

import attrs
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from e2e.cluster import until
from e2e.cluster.layout import LOOPBACK
from e2e.cluster.processes import ends_with_parent

CHECKOUT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "gpustack_ctrl")
PATIENCE = 60.0


@attrs.frozen(kw_only=True)
class Ended:
    """What a command that ended left behind."""

    code: int
    out: str
    error: str

    @property
    def only_line(self) -> str:
        """The one line that it complained in."""
        [line] = self.error.splitlines()
        return line


def run(*arguments: str, environ: Mapping[str, str] | None = None) -> Ended:
    """Run the command with *arguments* to its end."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        env=environment(environ or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return Ended(code=done.returncode, out=done.stdout, error=done.stderr)


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """Ours without what would change the command, and *more*."""
    ours = {
        name: held
        for name, held in os.environ.items()
        if not name.startswith("GPUSTACK_") and name != "KUBECONFIG"
    }
    return {**ours, "HOME": "/nonexistent", "PYTHONPATH": str(CHECKOUT / "src"), **more}


@attrs.define(kw_only=True)
class Process:
    """The operator, running as its own command."""

    process: subprocess.Popen[bytes]
    metrics_address: str
    probes_address: str
    log: Path

    def is_ready(self) -> bool:
        """Whether it says so; it must not have ended."""
        assert self.process.poll() is None, self.log.read_text()
        try:
            with urllib.request.urlopen(f"http://{self.probes_address}/readyz") as answer:
                return bool(answer.status == 200)
        except (OSError, HTTPException):
            return False

    def page(self) -> str:
        """Its metrics."""
        with urllib.request.urlopen(f"http://{self.metrics_address}/metrics") as answer:
            return str(answer.read().decode())

    def samples(self, name: str, **labels: str) -> list[Sample]:
        """The samples called *name* on its page that have these labels among theirs."""
        found = (sample for family in families(self.page()) for sample in family.samples)
        return [it for it in found if it.name == name and labels.items() <= it.labels.items()]

    def lines(self) -> list[dict[str, Any]]:
        """What it logged, where it logs JSON; a line that is still being written is left out."""
        whole, _, _ = self.log.read_text().rpartition("\n")
        return [json.loads(line) for line in whole.splitlines()]

    def logged(self, event: str, **fields: str) -> list[dict[str, Any]]:
        """The lines about *event* with these fields among theirs."""
        return [
            line
            for line in self.lines()
            if line["event"] == event and fields.items() <= line.items()
        ]

    def end(self, order: signal.Signals = signal.SIGTERM) -> int:
        """Its exit code after *order*."""
        self.process.send_signal(order)
        return self.process.wait(PATIENCE)


def families(page: str) -> list[Any]:
    """The families of a page in the format of Prometheus."""
    return list(text_string_to_metric_families(page))


@contextmanager
def operating(
    kubeconfig: Path,
    log: Path,
    *arguments: str,
    environ: Mapping[str, str] | None = None,
    ready: bool = True,
) -> Iterator[Process]:
    """The operator by its own command with *arguments*, logging to *log* as JSON.

    It is *ready* when the block begins, unless that cannot be expected.
    """
    held = start(kubeconfig, log, *arguments, environ=environ)
    try:
        if ready:
            until(held.is_ready, f"the operator is not ready, see {log}")
        yield held
    finally:
        held.process.kill()
        held.process.wait()


def start(
    kubeconfig: Path, log: Path, *arguments: str, environ: Mapping[str, str] | None = None
) -> Process:
    """Start the operator; whoever calls this ends it."""
    metrics, probes = free_addresses(2)
    with log.open("ab") as said:
        process = subprocess.Popen(
            [
                *(*COMMAND, "run", f"--kubeconfig={kubeconfig}"),
                *(f"--metrics-bind-address={metrics}", f"--health-probe-bind-address={probes}"),
                *arguments,
            ],
            env=environment(environ or {}),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            preexec_fn=ends_with_parent(signal.SIGKILL),  # noqa: PLW1509 -- we have one thread.
        )
    return Process(process=process, metrics_address=metrics, probes_address=probes, log=log)


def free_addresses(count: int) -> Sequence[str]:
    """So many loopback addresses that nobody listens on, all different."""
    listeners = [socket.socket() for _ in range(count)]
    try:
        for listener in listeners:
            listener.bind((LOOPBACK, 0))
        return [f"{LOOPBACK}:{listener.getsockname()[1]}" for listener in listeners]
    finally:
        for listener in listeners:
            listener.close()
