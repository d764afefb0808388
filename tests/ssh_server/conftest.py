"""Whether this machine can make Pods out of namespaces, and the programs under test."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.ssh_server.pod import HERE, MARK, SERVER, Pod, Target, Tools

NEEDED = {
    "gcc": "gcc libc6-dev",
    "sshd": "openssh-server",
    "ssh": "openssh-client",
    "busybox": "busybox-static",
    "ip": "iproute2",
    "nsenter": "util-linux",
}
# Where `ssh-server/build.sh` of a person or of CI left what takes minutes to build.
KEPT = Path(
    os.environ.get("SSH_SERVER_PROGRAMS") or Path.home() / ".cache/gpustack-ctrl/ssh-server"
)
SFTP_SERVER, SSHD = KEPT / "sftp-server", KEPT / "inside/sshd"

ENVIRONMENT = {
    **MARK,
    "PATH": "/opt/tool/bin:/usr/local/bin:/usr/bin:/bin",
    "MASTER_ADDR": "10.1.2.3",
    "MASTER_PORT": "29500",
    "DB_HOST": "db",
    "MY_POD_NAME": "x",
    "MULTI": "one\ntwo\n\nfour 'quoted' \"twice\" $HOME `id` \\",
    "UTF8": "grüße, 世界 🚀",
    "EMPTY": "",
    "EQUALS": "a=b=c",
    "HOME": "/home/me",
}


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    """The login helper and the tests' own container runtime; skips where they cannot work."""
    if os.geteuid() != 0:
        pytest.skip("namespaces and users of their own take root")
    missing = [packages for name, packages in NEEDED.items() if not shutil.which(name)]
    if missing:
        pytest.skip(f"packages are missing: apt-get install {' '.join(missing)}")
    tried = subprocess.run(
        ("unshare", "--pid", "--fork", "--mount-proc", "--net", "--ipc", "true"),
        capture_output=True,
        check=False,
    )
    if tried.returncode:
        pytest.skip(f"no namespaces can be made here: {tried.stderr.decode().strip()}")
    return _built(tmp_path_factory.mktemp("programs"))


def _built(folder: Path) -> Tools:
    subprocess.run((str(SERVER / "build.sh"), "login", str(folder)), check=True)
    become = folder / "become"
    source = str(HERE / "become.c")
    subprocess.run(("gcc", "-D_GNU_SOURCE", "-static", "-o", str(become), source), check=True)
    shutil.copy(SFTP_SERVER if SFTP_SERVER.exists() else "/bin/false", folder / "sftp-server")
    if SSHD.exists():
        shutil.copy(SSHD, folder / "inside")
    return Tools(programs=folder, become=become)


@pytest.fixture
def sftp_server() -> None:
    """Skips where the static sftp server was not built."""
    if not SFTP_SERVER.exists():
        pytest.skip(
            f"no static sftp server: run ssh-server/build.sh sftp-server {SFTP_SERVER.parent}"
        )


@pytest.fixture
def empty_pod(tools: Tools, tmp_path: Path) -> Iterator[Pod]:
    """A Pod with its SSH server and no workload."""
    made = Pod(tmp_path, tools)
    try:
        made.start_server()
        yield made
    finally:
        made.close()


MakePod = Callable[[Target], Pod]


def _start(pod: Pod, target: Target, way: str) -> None:
    if way == "inside":
        pod.start_workload_with_server(target)
        return
    pod.start_workload(target)
    pod.start_server()


@pytest.fixture(scope="module", params=["beside", "inside"])
def way(request: pytest.FixtureRequest) -> str:
    """Where the SSH server is; skips where it was not built."""
    if request.param == "inside" and not SSHD.exists():
        pytest.skip(f"no static sshd: run ssh-server/build.sh sshd {KEPT}")
    return str(request.param)


@pytest.fixture(scope="module")
def pod_of(tools: Tools, tmp_path_factory: pytest.TempPathFactory, way: str) -> Iterator[MakePod]:
    """One Pod per target, made when first asked for, kept for the module."""
    made: dict[str, Pod] = {}

    def pod(target: Target) -> Pod:
        known = repr(target)
        if known not in made:
            made[known] = Pod(tmp_path_factory.mktemp("pod"), tools)
            _start(made[known], target, way)
        return made[known]

    try:
        yield pod
    finally:
        for each in made.values():
            each.close()
