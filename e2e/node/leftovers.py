"""What a node that ended may have left on the machine."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from e2e.node.layout import NodeLayout, network_path
from e2e.node.machine import cgroups, changed_values
from e2e.node.network import users

_MOUNTS = Path("/proc/self/mountinfo")


def left(layout: NodeLayout) -> list[str]:
    """Return a phrase for each kind of thing that is still there."""
    return list(_left(layout))


def remove_files(layout: NodeLayout, *, keep_log: bool) -> None:
    """Delete what is in the node's directory, where nothing is mounted any more."""
    for path in layout.directory.iterdir():
        if path.is_dir() and not (keep_log and path == layout.log):
            shutil.rmtree(path)
        elif not path.is_dir():
            path.unlink()
    if not keep_log:
        layout.directory.rmdir()


def _left(layout: NodeLayout) -> Iterator[str]:
    for name in layout.networks:
        if network_path(name).exists():
            yield f"network namespace {name} with processes {users(name)}"
    processes = [path.name for path in layout.processes.glob("*") if _runs(path, layout)]
    if processes:
        yield f"processes {', '.join(processes)}"
    mounts = [line for line in _MOUNTS.read_text().splitlines() if str(layout.directory) in line]
    if mounts:
        yield f"{len(mounts)} mounts"
    groups = cgroups(layout)
    if groups:
        yield f"cgroups {', '.join(map(str, groups))}"
    values = changed_values(layout)
    if values:
        yield f"changed kernel values {', '.join(values)}"


def _runs(file: Path, layout: NodeLayout) -> bool:
    """Whether the process that *file* names is alive and still the node's."""
    if not file.read_text().strip():
        return False
    command = Path("/proc", file.read_text().strip(), "cmdline")
    try:
        return str(layout.directory).encode() in command.read_bytes()
    except OSError:
        return False
