"""The process that owns a cluster: it starts the parts, and when it ends so do they.

Run as `python -m e2e.cluster.supervisor DIRECTORY`. It says `ready` on its
standard output, or else one line about what is wrong. It lives until SIGTERM, until
its standard input closes without the word `detach`, or until a part dies.
"""

import fcntl
import os
import select
import signal
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http import HTTPStatus
from http.client import HTTPException, HTTPSConnection
from pathlib import Path

import attrs

from e2e.cluster import credentials, parts
from e2e.cluster.errors import ClusterError
from e2e.cluster.layout import LOOPBACK, Layout, Ports, last_line
from e2e.cluster.processes import ends_with_parent
from e2e.cluster.programs import Programs, programs

_TICK = 0.05
_IDLE = 3600.0
_PATIENCE = 120.0


class Stopped(Exception):  # noqa: N818  It is an order, not an error.
    """Somebody wants the cluster to end."""


@attrs.define(kw_only=True)
class Orders:
    """What the outside may tell the supervisor at any time."""

    wakeup: int
    detached: bool = False

    def wait(self, seconds: float) -> None:
        """Return after *seconds*, or earlier when a child ended.

        Raises Stopped when SIGTERM comes or the parent is gone.
        """
        sources = [self.wakeup] if self.detached else [self.wakeup, sys.stdin.fileno()]
        readable, _, _ = select.select(sources, [], [], seconds)
        if self.wakeup in readable and signal.SIGTERM in os.read(self.wakeup, 64):
            raise Stopped
        if sys.stdin.fileno() in readable:
            if os.read(sys.stdin.fileno(), 64) != b"detach\n":
                raise Stopped
            self.detached = True


@contextmanager
def listening() -> Iterator[Orders]:
    """Turn SIGTERM and SIGCHLD into orders."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, lambda _number, _frame: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield Orders(wakeup=reader)


@attrs.define(kw_only=True)
class Supervisor:
    """The parts of one cluster, all of them its children."""

    layout: Layout
    ports: Ports
    orders: Orders
    running: dict[str, subprocess.Popen[bytes]] = attrs.field(factory=dict)

    def start(self) -> None:
        """Start every part, each when what it needs is there.

        Raises ClusterError when a part ends or the API server is not ready in time.
        """
        self._launch(parts.storage(self.layout, self.ports))
        users = credentials.new_users()
        credentials.write_tokens(self.layout, users)
        self._launch(parts.api_server(self.layout, self.ports))
        self._until(self._ready, "the API server is not ready")
        credentials.write_kubeconfigs(self.layout, users)
        for part in parts.controllers(self.layout):
            self._launch(part)

    def watch(self) -> None:
        """Return never; raise when a part ends or an order comes."""
        while True:
            self._check()
            self.orders.wait(_IDLE)

    def stop(self) -> None:
        """End every part at once: there is nothing to save."""
        for process in self.running.values():
            process.kill()
        for process in self.running.values():
            process.wait()

    def _launch(self, part: parts.Part) -> None:
        with (self.layout.log / part.name).open("wb") as log:
            self.running[part.name] = subprocess.Popen(
                [self.layout.bin / part.name, *part.arguments],
                cwd=self.layout.directory,
                # Nothing of the user's environment or home may change what a part does.
                env={"PATH": os.defpath, "HOME": str(self.layout.cache)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=ends_with_parent(signal.SIGKILL),  # noqa: PLW1509  One thread only.
            )

    def _until(self, condition: Callable[[], bool], complaint: str) -> None:
        for _ in range(int(_PATIENCE / _TICK)):
            self._check()
            if condition():
                return
            self.orders.wait(_TICK)
        raise ClusterError(f"{complaint} after {_PATIENCE:.0f} s: see {self.layout.log}")

    def _check(self) -> None:
        for name, process in self.running.items():
            if process.poll() is not None:
                raise ClusterError(
                    f"{name} ended with {process.returncode}: {last_line(self.layout.log / name)}"
                    f" (see {self.layout.log / name})"
                )

    def _ready(self) -> bool:
        try:
            # Also fails while the API server is still writing its certificate.
            context = ssl.create_default_context(cafile=str(self.layout.certificate))
            with closing(
                HTTPSConnection(LOOPBACK, self.ports.api_server, context=context, timeout=5)
            ) as connection:
                connection.request("GET", "/readyz")
                return connection.getresponse().status == HTTPStatus.OK
        except (OSError, HTTPException):
            return False


def prepare(layout: Layout, built: Programs) -> None:
    """Fill the cluster's directory with what the parts need before they start."""
    for folder in (layout.bin, layout.cache):
        folder.mkdir()
    layout.pki.mkdir(mode=0o700)
    for name in parts.KUBE_PARTS:
        (layout.bin / name).symlink_to(built.path("kube"))
    (layout.bin / "kwok").symlink_to(built.path("kwok"))
    made = subprocess.run([built.path("kube"), "keygen"], capture_output=True, check=True)
    layout.signing_key.touch(mode=0o600)
    layout.signing_key.write_bytes(made.stdout)


def supervise(layout: Layout, orders: Orders) -> None:
    """Run the cluster of *layout* until it is to end.

    Raises Stopped when it is told to end, ClusterError when it cannot go on.
    """
    prepare(layout, programs())
    ports = Ports.free()
    layout.write_ports(ports)
    supervisor = Supervisor(layout=layout, ports=ports, orders=orders)
    try:
        supervisor.start()
        print("ready", flush=True)
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # Nobody listens from here on.
        supervisor.watch()
    finally:
        supervisor.stop()


def main() -> int:
    """Own the cluster in the directory named on the command line."""
    layout = Layout(directory=Path(sys.argv[1]))
    with layout.lock.open("a+") as lock, listening() as orders:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        try:
            supervise(layout, orders)
        except Stopped:
            layout.remove(keep_log=False)
        except ClusterError as error:
            layout.remove(keep_log=True)
            print(error, flush=True)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
