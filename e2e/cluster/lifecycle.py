"""The life of a cluster: up, down, and up for the length of a block."""

import fcntl
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import attrs

from e2e.cluster.cluster import Cluster
from e2e.cluster.errors import ClusterError
from e2e.cluster.layout import Layout, last_line
from e2e.cluster.nodes import accelerators
from e2e.cluster.programs import build

_CHECKOUT = Path(__file__).parents[2]
_PATIENCE = 20.0


@attrs.frozen(kw_only=True)
class Fleet:
    """The simulated nodes a cluster starts with: *nodes* equal ones, *gpus* cards in each."""

    nodes: int = 1
    gpus: int = 8
    manufacturer: str = "nvidia"


def up(directory: Path, fleet: Fleet) -> Cluster:
    """Start a cluster that lives until `down`, in *directory*, which is new or empty.

    Raises ClusterError when it cannot be started; then nothing of it runs any more.
    """
    cluster, process = _start(directory, fleet)
    if process.stdin is not None:
        process.stdin.write(b"detach\n")
    _close(process)
    return cluster


@contextmanager
def running(fleet: Fleet, *, directory: Path | None = None) -> Iterator[Cluster]:
    """Have a cluster for the length of the block; it ends with this process at the latest.

    Without a *directory* it lives in a temporary one.
    """
    cluster, process = _start(directory, fleet)
    try:
        yield cluster
    finally:
        _end(process)


def down(directory: Path) -> None:
    """End the cluster of *directory* and remove what it made there.

    Raises ClusterError when there is none.
    """
    layout = Layout(directory=directory.resolve())
    if not layout.lock.exists():
        raise ClusterError(f"{directory} holds no cluster")
    with layout.lock.open() as lock:
        if not _is_free(lock):
            _terminate(int(lock.read()))
    if layout.directory.exists():  # The supervisor was killed before and could not clean up.
        layout.remove(keep_log=False)


def _terminate(supervisor: int) -> None:
    """Return when the process *supervisor* was told to end and did."""
    try:
        handle = os.pidfd_open(supervisor)
    except ProcessLookupError:
        return
    try:
        signal.pidfd_send_signal(handle, signal.SIGTERM)
        ended, _, _ = select.select([handle], [], [], _PATIENCE)
    finally:
        os.close(handle)
    if not ended:
        raise ClusterError(f"process {supervisor} does not end within {_PATIENCE:.0f} s: kill it")


def _start(directory: Path | None, fleet: Fleet) -> tuple[Cluster, subprocess.Popen[bytes]]:
    """Return a cluster that is complete, and its supervisor, which waits for us to let go."""
    capacity = accelerators(fleet.gpus, fleet.manufacturer)
    build()
    place = directory or Path(tempfile.mkdtemp(prefix="gpustack-ctrl-"))
    layout = Layout(directory=place.resolve())
    _claim(layout)
    process = _supervise(layout)
    try:
        _hear_ready(process, layout)
        cluster = Cluster(directory=layout.directory)
        _complete(cluster, [f"node-{number}" for number in range(fleet.nodes)], capacity)
    except BaseException:
        _end(process)
        raise
    return cluster, process


def _claim(layout: Layout) -> None:
    """Make the directory of *layout* ready for a new cluster."""
    layout.directory.mkdir(parents=True, exist_ok=True)
    if layout.lock.exists():
        with layout.lock.open() as lock:
            if not _is_free(lock):
                raise ClusterError(
                    f"a cluster runs in {layout.directory}: end it with"
                    f" `python -m e2e.cluster down --dir {layout.directory}`"
                )
    layout.remove(keep_log=False)
    layout.directory.mkdir(exist_ok=True)
    if any(layout.directory.iterdir()):
        raise ClusterError(f"{layout.directory} is not empty: name another directory")
    layout.log.mkdir()


def _supervise(layout: Layout) -> subprocess.Popen[bytes]:
    with (layout.log / "supervisor").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "e2e.cluster.supervisor", layout.directory],
            cwd=_CHECKOUT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,  # Ctrl-C is ours; the cluster ends after what uses it.
        )


def _hear_ready(process: subprocess.Popen[bytes], layout: Layout) -> None:
    said = process.stdout.readline().decode().strip() if process.stdout else ""
    if said != "ready":
        log = layout.log / "supervisor"
        raise ClusterError(said or f"the cluster did not start: {last_line(log)} (see {log})")


def _complete(cluster: Cluster, names: list[str], capacity: Mapping[str, str]) -> None:
    """Return when *cluster* has its nodes and can run a Pod."""
    for name in names:
        cluster.register_node(name, capacity=capacity)
    for name in names:
        cluster.wait_for_node(name)
    cluster.wait_for_service_account("default")


def _close(process: subprocess.Popen[bytes]) -> None:
    """Let go of the supervisor: unless it was told to detach, it ends."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Return when the supervisor and its cluster are gone."""
    _close(process)
    process.wait(_PATIENCE)


def _is_free(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(lock, fcntl.LOCK_UN)
    return True
