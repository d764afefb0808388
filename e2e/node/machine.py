"""What a node borrows from the machine as a whole: kernel values and cgroups."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from e2e.node.layout import NodeLayout

_PROC_SYS = Path("/proc/sys")
_CGROUPS = Path("/sys/fs/cgroup")
# The kubelet writes these; they belong to no namespace.
VALUES = (
    "fs.inotify.max_user_instances",
    "vm.overcommit_memory",
    "vm.panic_on_oom",
    "kernel.panic",
    "kernel.panic_on_oops",
    "kernel.keys.root_maxkeys",
    "kernel.keys.root_maxbytes",
)
_INOTIFY_INSTANCES = "1024"
_PATIENCE_SECONDS = 5.0


def save_values(layout: NodeLayout) -> None:
    """Keep the kernel's values, unless that was done, and make room for the daemons."""
    if not layout.kernel_values.exists():
        lines = [f"{name}={_value(name).read_text().strip()}\n" for name in VALUES]
        layout.kernel_values.write_text("".join(lines))
    _value("fs.inotify.max_user_instances").write_text(_INOTIFY_INSTANCES)


def restore_values(layout: NodeLayout) -> None:
    """Give the kernel back the values it had."""
    if layout.kernel_values.exists():
        for line in layout.kernel_values.read_text().splitlines():
            name, _, value = line.partition("=")
            _value(name).write_text(value)


def changed_values(layout: NodeLayout) -> list[str]:
    """Return the names of values that are not as they were kept."""
    if not layout.kernel_values.exists():
        return []
    kept = dict(line.split("=", 1) for line in layout.kernel_values.read_text().splitlines())
    return [name for name, value in kept.items() if _value(name).read_text().strip() != value]


def make_cgroups(layout: NodeLayout) -> None:
    """Make one parent, in every hierarchy, for all that the kubelet makes."""
    for hierarchy in _hierarchies():
        group = hierarchy / layout.name
        group.mkdir(exist_ok=True)
        for name in ("cpuset.mems", "cpuset.cpus"):
            if (hierarchy / name).exists():
                (group / name).write_text((hierarchy / name).read_text())


def cgroups(layout: NodeLayout) -> list[Path]:
    """Return the parents that exist."""
    return [path for hierarchy in _hierarchies() if (path := hierarchy / layout.name).is_dir()]


def busy(layout: NodeLayout) -> bool:
    """Whether a process is left in any of them."""
    groups = (path for parent in cgroups(layout) for path in parent.rglob("cgroup.procs"))
    return any(_members(path) for path in groups)


def _members(procs: Path) -> str:
    try:
        return procs.read_text()
    except OSError:
        return ""  # The group went meanwhile.


def remove_cgroups(layout: NodeLayout) -> None:
    """Remove them with all below, as soon as the kernel has buried the last process."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while (left := cgroups(layout)) and time.monotonic() < deadline:
        for group in left:
            find = ("find", str(group), "-depth", "-type", "d", "-exec", "rmdir", "{}", "+")
            subprocess.run(find, stderr=subprocess.DEVNULL, check=False)


def _hierarchies() -> Iterator[Path]:
    return (path for path in _CGROUPS.iterdir() if path.is_dir() and not path.is_symlink())


def _value(name: str) -> Path:
    return _PROC_SYS / name.replace(".", "/")
