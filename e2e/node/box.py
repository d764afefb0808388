"""The namespaces that are the node: one process holds them, and all ends with it."""

import os
import signal
import subprocess
from pathlib import Path

import attrs

from e2e.cluster.errors import ClusterError
from e2e.cluster.layout import last_line
from e2e.cluster.waiting import until
from e2e.node.layout import NODE, NodeLayout
from e2e.node.network import inside

_INSIDE = Path(__file__).with_name("inside.sh")
_FRESH = ("--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child", "--mount-proc")
_PATIENCE_SECONDS = 10.0
# Waits for a daemon outside of the node's processes. If nsenter did, it would stop where the
# daemon is stopped, and never go on: then nobody buries the daemon, and the node cannot end.
_WAITING = ("sh", "-c", '"$@"; exit', "sh")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@attrs.frozen(kw_only=True)
class Box:
    """The namespaces of the node in *layout*."""

    layout: NodeLayout

    def open(self, init: Path, *, owned: bool) -> None:
        """Make the namespaces; *init* holds them. An *owned* box ends with this process."""
        self.layout.processes.mkdir(exist_ok=True)
        self._file("ready").unlink(missing_ok=True)
        bound = ("setpriv", "--pdeathsig", "KILL") if owned else ()
        unshare = ("unshare", *_FRESH, "--propagation", "private")
        first = ("sh", str(_INSIDE), str(self.layout.directory), NODE, str(init))
        place = (*inside(self.layout.node_network), "--wd=/")
        outer = self._spawn((*bound, *place, *unshare, *first), "init")
        until(self._file("ready").exists, self._why("init"), seconds=_PATIENCE_SECONDS)
        self._file("init").write_text(str(_child_of(outer)))
        self.layout.kept("owned").write_text("yes" if owned else "")

    def is_owned(self) -> bool:
        """Whether it ends with the process that opened it."""
        return bool(self.layout.kept("owned").read_text())

    def start(self, name: str, *command: str) -> None:
        """Start a daemon in the node, and return once it has its process."""
        outer = self._spawn((*self._nsenter(), "--no-fork", "--", *_WAITING, *command), name)
        until(
            lambda: _child_of(outer) is not None or not _alive(outer),
            f"{name} does not start",
            seconds=_PATIENCE_SECONDS,
        )
        child = _child_of(outer)
        if child is None:
            raise ClusterError(f"{name} {self._why(name)}")
        self._file(name).write_text(str(child))

    def stop(self, name: str, order: signal.Signals = signal.SIGTERM) -> None:
        """Return when the daemon *name* was told to end and did."""
        process = self.process(name)
        os.kill(process, order)
        until(lambda: not _alive(process), f"{name} does not end", seconds=_PATIENCE_SECONDS)

    def alive(self, name: str) -> bool:
        """Whether the process *name* runs."""
        return self._file(name).exists() and _alive(self.process(name))

    def process(self, name: str) -> int:
        """Return the id of the process *name*, as the machine sees it."""
        return int(self._file(name).read_text())

    def prefix(self) -> tuple[str, ...]:
        """Return what to put before a command so that it runs in the node."""
        return (*self._nsenter(), "--")

    def _nsenter(self) -> tuple[str, ...]:
        return ("nsenter", "-t", str(self.process("init")), "-m", "-u", "-i", "-n", "-p")

    def run(self, *command: str) -> str:
        """Return what *command*, run in the node, prints. Raises ClusterError when it fails."""
        done = subprocess.run(
            (*self.prefix(), *command), capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise ClusterError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def close(self) -> None:
        """End the first process; the kernel ends all others and undoes their mounts."""
        if self.alive("init"):
            process = self.process("init")
            os.kill(process, signal.SIGKILL)
            until(lambda: not _alive(process), "the node does not end", seconds=_PATIENCE_SECONDS)

    def _spawn(self, command: tuple[str, ...], name: str) -> int:
        """Start *command* as nobody waits for it, and return its process id."""
        log = (str(self.layout.log_of(name)), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        return os.posix_spawnp(
            command[0],
            command,
            # Nothing of the user's environment may change what a daemon does.
            {"PATH": _PATH, "HOME": str(self.layout.cache)},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, *log),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
        )

    def _file(self, name: str) -> Path:
        return self.layout.processes / name

    def _why(self, name: str) -> str:
        log = self.layout.log_of(name)
        said = last_line(log) if log.exists() else "it said nothing"
        return f"did not start: {said} (see {log})"


def _child_of(process: int) -> int | None:
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return None
    return int(children[0]) if children else None


def _alive(process: int) -> bool:
    """Whether *process* runs; one that ended and was not waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
