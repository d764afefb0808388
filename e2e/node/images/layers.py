"""Layers of images: folders that are made once and kept in the user's cache."""

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import attrs

from e2e.cluster.errors import ClusterError
from e2e.cluster.programs import cache_home

_QUOTED = 600
_FINGERPRINT = "[0-9a-f]" * 16
AT_WORK_SECONDS = 3600.0


@attrs.frozen(kw_only=True)
class Layer:
    """A part of a root file system that *make* puts into a folder, on top of *below*.

    *recipe* is all that decides what comes out: layers of equal names and recipes are equal.
    """

    name: str
    recipe: str
    make: Callable[["Work"], None] = attrs.field(eq=False)
    below: tuple["Layer", ...] = ()

    @property
    def fingerprint(self) -> str:
        """What tells this layer, made this way on those below, from all others."""
        digest = hashlib.sha256(repr((self.name, self.recipe)).encode())
        for layer in self.below:
            digest.update(layer.fingerprint.encode())
        return digest.hexdigest()[:16]

    @property
    def folder(self) -> Path:
        """Where its files lie once it is made."""
        return cache_home() / "layers" / f"{self.name}-{self.fingerprint}"

    def made(self) -> Path:
        """Return `folder`, with the files in it; two makers at once wait for each other."""
        for layer in self.below:
            layer.made()
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        self._lock.touch()
        with self._lock.open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self.folder.exists():
                self._make()
                self._remove_older()
        return self.folder

    @property
    def _lock(self) -> Path:
        """Held by who makes the layer, touched by who takes it."""
        return self.folder.with_suffix(".lock")

    def _make(self) -> None:
        print(f"making image layer {self.name}", flush=True)
        partial = self.folder.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        partial.chmod(0o755)
        self.make(Work(folder=partial, below=tuple(layer.folder for layer in self.below)))
        partial.rename(self.folder)

    def _remove_older(self) -> None:
        """Remove layers of this name made otherwise, unless somebody may be at work with them."""
        now = self._lock.stat().st_mtime
        for lock in self.folder.parent.glob(f"{self.name}-{_FINGERPRINT}.lock"):
            if now - lock.stat().st_mtime > AT_WORK_SECONDS:
                for path in lock.parent.glob(f"{lock.stem}.*"):
                    _remove(path)
                _remove(lock.with_suffix(""))


@attrs.frozen(kw_only=True)
class Work:
    """A layer in the making: *folder* fills with what differs from *below*, lowest first."""

    folder: Path
    below: tuple[Path, ...]

    def write(self, name: str, content: str | bytes, *, mode: int = 0o644) -> None:
        """Write a file called *name*."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        path.chmod(mode)

    def run(self, *command: str) -> None:
        """Run *command* on this machine. Raises ClusterError when it fails."""
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if done.returncode:
            raise ClusterError(f"{command[0]} failed: {done.stdout.strip()[-_QUOTED:]}")

    def stacked(self, script: str, **variables: str) -> None:
        """Run the shell *script* with all layers stacked at `$root`, and `folder` on top.

        The script has *variables*, and the machine's network; what it mounts ends with it.
        """
        work = self.folder.with_suffix(".work")
        stack = self.folder.with_suffix(".root")
        for place in (work, stack):
            place.mkdir(exist_ok=True)
        lower = ":".join(str(path) for path in reversed(self.below))
        options = f"lowerdir={lower},upperdir={self.folder},workdir={work}"
        prelude = f"set -eu; root={stack}; mount -t overlay overlay -o {options} $root\n"
        told = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        try:
            self.run(
                "env", "-i", "HOME=/root", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C",
                "DEBIAN_FRONTEND=noninteractive", *(f"{k}={v}" for k, v in told.items()),
                *(f"{name}={value}" for name, value in variables.items()),
                "unshare", "--mount", "--propagation", "private", "sh", "-c", prelude + script,
            )  # fmt: skip
        finally:
            for place in (work, stack):
                shutil.rmtree(place, ignore_errors=True)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
