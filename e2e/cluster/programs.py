"""Programs of Go modules of ours: built once, kept in the user's cache."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import attrs

from e2e.cluster.errors import ClusterError
from e2e.cluster.progress import Progress
from e2e.cluster.toolchain import find_go

MODULE = Path(__file__).parent / "kube"
KUBERNETES = "1.37.2"
_VERSION = "k8s.io/component-base/version"
# Without gitVersion the API server calls itself v0.0.0, and checks of its version fail.
_LINK = (
    f"-s -w -X {_VERSION}.gitVersion=v{KUBERNETES} -X {_VERSION}.gitMajor=1"
    f" -X {_VERSION}.gitMinor={KUBERNETES.split('.')[1]}"
)
FLAGS = ("-trimpath", f"-ldflags={_LINK}")
# A lazier garbage collector saves a third of the compiler's time. No other Go is fetched.
ENVIRONMENT = {"CGO_ENABLED": "0", "GOGC": "800", "GOTOOLCHAIN": "local", "GOWORK": "off"}
_QUOTED_LINES = 15

PACKAGES: Mapping[str, str] = {
    "kube": ".",
    "kwok": "sigs.k8s.io/kwok/cmd/kwok",
    "helm": "helm.sh/helm/v4/cmd/helm",
}
NEEDED = ("kube", "kwok")


@attrs.frozen(kw_only=True)
class Programs:
    """A folder that holds finished programs only, each under its name in `PACKAGES`."""

    directory: Path

    def missing(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return those of *names* that are not built yet."""
        return tuple(name for name in names if not (self.directory / name).exists())

    def path(self, name: str) -> Path:
        """Return where the program *name* lies once it is built."""
        return self.directory / name


def cache_home() -> Path:
    """Return the folder in the user's cache that holds everything built here."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "gpustack-ctrl"


@attrs.frozen(kw_only=True)
class Module:
    """A Go module in *directory*, and the *packages* of it that become programs, by name.

    *name* begins the name of its folder in the cache; *sources* are the patterns of the files
    that decide what comes out.
    """

    name: str
    directory: Path
    packages: Mapping[str, str]
    sources: tuple[str, ...] = ("*.go",)

    def programs(self) -> Programs:
        """Return the programs of this checkout: other sources or flags have another folder."""
        digest = hashlib.sha256()
        for source in self._files():
            named = source.relative_to(self.directory)
            digest.update(f"{named}\0".encode() + source.read_bytes())
        digest.update(repr((FLAGS, ENVIRONMENT, self.packages)).encode())
        return Programs(directory=cache_home() / f"{self.name}-{digest.hexdigest()[:16]}")

    def _files(self) -> Iterator[Path]:
        for pattern in (*self.sources, "go.mod", "go.sum"):
            yield from sorted(self.directory.glob(pattern))

    def build(self, wanted: Sequence[str]) -> Programs:
        """Return the programs, those of *wanted* built if they are missing.

        A program appears in the cache whole or not at all, and two builds at once
        wait for each other.

        Raises ClusterError when there is no Go or it cannot compile them.
        """
        built = self.programs()
        if not built.missing(wanted):
            return built
        built.directory.mkdir(parents=True, exist_ok=True)
        with _locked(built.directory / ".lock") as lock:
            missing = built.missing(wanted)
            if missing:
                _build(self, built, missing, lock=lock)
        return built


KUBE = Module(name="cluster", directory=MODULE, packages=PACKAGES)


def programs() -> Programs:
    """Return the programs of the cluster, built or not."""
    return KUBE.programs()


def build(extra: Sequence[str] = ()) -> Programs:
    """Return the programs of a cluster and those named by *extra*, built if they are missing.

    Raises ClusterError as `Module.build` does.
    """
    return KUBE.build((*NEEDED, *extra))


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    with path.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another build is running: waiting for it", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def _build(module: Module, built: Programs, names: Sequence[str], *, lock: int) -> None:
    for leftover in built.directory.glob(".building-*"):
        shutil.rmtree(leftover)
    go = find_go(cache_home())
    print(f"building {', '.join(names)} into {built.directory}", flush=True)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=built.directory) as partial:
        _compile(module, go, names, Path(partial), lock=lock)
        for name in names:
            (Path(partial) / name).replace(built.path(name))


def _compile(module: Module, go: Path, names: Sequence[str], target: Path, *, lock: int) -> None:
    environment = {**os.environ, **ENVIRONMENT}
    packages = [module.packages[name] for name in names]
    total = _count(go, packages, environment, module.directory)
    progress = Progress(total=total, out=sys.stdout)
    # A compiler that outlives us keeps the lock, so that nobody compiles beside it.
    compiler = subprocess.Popen(
        [go, "build", "-v", "-mod=readonly", *FLAGS, "-o", f"{target}/", *packages],
        cwd=module.directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        pass_fds=(lock,),
    )
    with compiler:
        try:
            messages = _follow(compiler, progress)
        except BaseException:
            compiler.terminate()
            raise
    progress.done()
    if compiler.returncode != 0:
        raise ClusterError(_failure(names, compiler.returncode, messages))


def _follow(compiler: subprocess.Popen[str], progress: Progress) -> Sequence[str]:
    if compiler.stdout is None:
        return ()
    lines = (line.rstrip("\n") for line in compiler.stdout)
    return [line for line in lines if not progress.saw(line)]


def _count(
    go: Path, packages: Sequence[str], environment: Mapping[str, str], directory: Path
) -> int:
    """Return how many packages a build from nothing compiles; 0 if Go cannot tell."""
    listed = subprocess.run(
        [go, "list", "-mod=readonly", "-deps", *packages],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return len(listed.stdout.splitlines())


def _failure(names: Sequence[str], code: int, messages: Sequence[str]) -> str:
    quoted = "".join(f"\n  {line}" for line in messages[-_QUOTED_LINES:])
    return f"building {', '.join(names)} failed (exit {code}), nothing was kept:{quoted}"
