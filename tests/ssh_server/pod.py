"""A Pod made of Linux namespaces: a pause process, a workload and the SSH server beside it.

Everything lives in namespaces of its own and dies with the pause process, mounts included.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import attrs

from gpustack_ctrl.reconcilers.login.host_key import HostKey, host_key
from tests.ssh_server.client import make_client

HERE = Path(__file__).parent
SERVER = HERE.parents[1] / "ssh-server"
UID = "5c1f3a0e-0a52-4f0a-9a70-8f0d3f2f6a11"
# What container runtimes leave a container unless told otherwise.
DEFAULT_CAPABILITIES = 0xA80425FB
DEADLINE = 30.0
ROOM = ".gpustack"
MARK = {"GPUSTACK_INSTANCE_CONTAINER": "main"}


@attrs.frozen(kw_only=True)
class Target:
    """Who the workload runs as, and in what image."""

    uid: int = 0
    gid: int = 0
    groups: tuple[int, ...] = ()
    capabilities: int = DEFAULT_CAPABILITIES
    ambient: int = 0
    no_new_privs: bool = False
    folder: str = "/work"
    system: str = "host"
    environment: Mapping[str, str] = attrs.field(factory=dict)
    program: tuple[str, ...] = ("/usr/bin/sleep", "infinity")


@attrs.frozen(kw_only=True)
class Tools:
    """The programs under test, built once."""

    programs: Path
    become: Path


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for *condition*; fail, naming *what*, where it does not come true."""
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, f"waited {DEADLINE:.0f} s in vain until {what}"
        time.sleep(0.02)


class Pod:
    """Namespaces shared by the containers; `close` ends all that was ever started in them."""

    def __init__(self, folder: Path, tools: Tools) -> None:
        """*folder* must be empty; *tools* are used in place."""
        self.folder = folder
        self.tools = tools
        self.host_key: HostKey = host_key(bytes(32), UID)
        self.keys = folder / "keys"
        self.keys.mkdir()
        self.keys.chmod(0o777)
        (folder / "none").touch()
        self._started: list[subprocess.Popen[bytes]] = []
        self._clients: list[subprocess.Popen[bytes]] = []
        pause = (
            *("unshare", "--pid", "--fork", "--mount-proc", "--net", "--ipc"),
            *self._become(Target(uid=65535, gid=65535, folder="/"), folder / "none"),
            *("/usr/bin/sleep", "infinity"),
        )
        self.client = make_client(folder / "client", self.host_key, alias=UID)
        self.authorize(self.client.public_key)
        self._pause = self._start(pause)
        self.run("ip", "link", "set", "lo", "up")

    def close(self) -> None:
        """End the pause process: the kernel ends the rest."""
        for client in self._clients:
            with client:
                client.kill()
        os.kill(self._pause, signal.SIGKILL)
        for process in self._started:
            process.wait(timeout=DEADLINE)
        until(lambda: not Path(f"/proc/{self._pause}").exists(), "the Pod is gone")

    def start_workload(self, target: Target) -> int:
        """Start *target* as the container `main`; its process, as seen from outside."""
        return self._container(self._workload(target), target, target.program)

    def start_workload_with_server(self, target: Target) -> int:
        """Start *target* as a container `main` that has the SSH server inside, by its hook."""
        skeleton = self._workload(target)
        self._furnish_room(skeleton / ROOM, target)
        allow = "echo 22 > /proc/sys/net/ipv4/ip_unprivileged_port_start"
        assert 0 == self.run("sh", "-c", allow).returncode
        pid = self._container(skeleton, target, target.program)
        inside = ("--mount", "--pid", "--net", "--ipc", "--root", "--wd")
        # As a container runtime runs a hook: like the workload itself, in all that it has.
        as_main = self._become(target, Path(f"/{ROOM}/environment"), f"/{ROOM}/become")
        hook = ("nsenter", f"--target={pid}", *inside, "--", *as_main, f"/{ROOM}/ssh/start")
        done = subprocess.run(hook, capture_output=True, check=False, timeout=DEADLINE)
        assert (0, b"", b"") == (done.returncode, done.stdout, done.stderr)
        return pid

    def _workload(self, target: Target) -> Path:
        skeleton = self._skeleton(f"main-{len(self._started)}")
        (skeleton / "work").mkdir()
        os.chown(skeleton / "work", target.uid, target.gid)
        _make_system(skeleton, target.system)
        return skeleton

    def _furnish_room(self, room: Path, target: Target) -> None:
        image = self.folder / "image"
        for folder in (image / "etc", room / "authorized-keys", room / "host-key"):
            folder.mkdir(parents=True)
        for name in ("passwd", "shadow"):
            (image / "etc" / name).write_text("root:x:0:0::/:\nsshd:x:100:65534::/:\n")
        self._install(image)
        shutil.copytree(image / "opt/ssh-server/inside", room / "ssh")
        (room / "host-key/ssh_host_ed25519_key").write_text(self.host_key.private_key)
        shutil.copy(self.tools.become, room / "become")
        (room / "environment").write_bytes(_block(target))

    def _install(self, root: Path) -> None:
        install = (str(SERVER / "install.sh"), str(self.tools.programs), str(root))
        subprocess.run(install, check=True)

    def start_server(self) -> None:
        """Start the container `sshd` and wait until it listens."""
        skeleton = self._skeleton("sshd")
        etc = skeleton / "etc"
        (etc / "passwd").write_text(
            "root:x:0:0:root:/root:/bin/bash\nsshd:x:100:65534::/run/sshd:/usr/sbin/nologin\n"
        )
        (etc / "shadow").write_text("root:!:1::::::\nsshd:!:1::::::\n")
        self._install(skeleton)
        key = etc / "gpustack/host-key/ssh_host_ed25519_key"
        key.write_text(self.host_key.private_key)
        key.chmod(0o440)
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        server = Target(folder="/", environment=environment)
        self._container(skeleton, server, ("/opt/ssh-server/entrypoint",))
        until(lambda: "listening on 0.0.0.0" in self.server_log(), "the SSH server listens")

    def server_log(self) -> str:
        """What the container `sshd` said so far."""
        return (self.folder / "sshd.log").read_text(errors="replace")

    def authorize(self, *lines: str) -> None:
        """Replace the mounted keys the way a kubelet does: by a new folder behind a link."""
        fresh = self.keys / f"..{time.monotonic_ns()}"
        fresh.mkdir()
        (fresh / "authorized_keys").write_text("".join(f"{line}\n" for line in lines))
        link = self.keys / "..data_tmp"
        link.symlink_to(fresh.name)
        link.rename(self.keys / "..data")
        if not (self.keys / "authorized_keys").is_symlink():
            (self.keys / "authorized_keys").symlink_to("..data/authorized_keys")

    def run(self, *command: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run *command* on the client's side, which shares the Pod's network and nothing else."""
        inside = ("nsenter", f"--net=/proc/{self._pause}/ns/net", "--", *command)
        return subprocess.run(
            inside, input=data, capture_output=True, check=False, timeout=2 * DEADLINE
        )

    def ssh(
        self, *command: str, options: Sequence[str] = (), data: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        """Run *command* in a session of its own."""
        return self.run(*self.ssh_command(*command, options=options), data=data)

    def ssh_command(self, *command: str, options: Sequence[str] = ()) -> tuple[str, ...]:
        """The words that `ssh` does."""
        return ("ssh", "-F", str(self.client.config), *options, "workload", "--", *command)

    def open(self, *command: str, **kwargs: int) -> subprocess.Popen[bytes]:
        """Start *command* on the client's side and go on."""
        inside = ("nsenter", f"--net=/proc/{self._pause}/ns/net", "--", *command)
        process = subprocess.Popen(inside, **kwargs)  # type: ignore[call-overload]
        self._clients.append(process)
        return process  # type: ignore[no-any-return]

    def _skeleton(self, name: str) -> Path:
        skeleton = self.folder / name
        for folder in ("etc", "root", "run"):
            (skeleton / folder).mkdir(parents=True)
        (skeleton / "etc/group").write_text("root:x:0:\ntty:x:5:\nvideo:x:44:\nme:x:1000:\n")
        return skeleton

    def _container(self, skeleton: Path, target: Target, program: Sequence[str]) -> int:
        root = self.folder / f"{skeleton.name}-root"
        root.mkdir()
        environment = self.folder / f"{skeleton.name}.env"
        environment.write_bytes(_block(target))
        shared = tuple(f"--{kind}=/proc/{self._pause}/ns/{kind}" for kind in ("pid", "net", "ipc"))
        command = (
            *("nsenter", *shared, "--", "unshare", "--mount", "--propagation", "private"),
            *("sh", str(HERE / "container.sh"), str(root), str(skeleton), target.system),
            *self._become(target, Path(f"/.old{environment}")),
            *program,
        )
        return self._start(command, log=self.folder / f"{skeleton.name}.log")

    def _become(
        self, target: Target, environment: Path, program: str | None = None
    ) -> tuple[str, ...]:
        groups = ",".join(map(str, target.groups))
        numbers = (f"{target.capabilities:x}", f"{target.ambient:x}", str(int(target.no_new_privs)))
        who = (str(target.uid), str(target.gid), groups, *numbers)
        return (program or str(self.tools.become), *who, target.folder, str(environment))

    def _start(self, command: Sequence[str], log: Path | None = None) -> int:
        """Start *command*, which forks once; its child, once that has become the program."""
        log = log or self.folder / "pause.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env={"PATH": os.environ["PATH"], "KEYS": str(self.keys)},
            )
        self._started.append(process)
        until(lambda: bool(_program_below(process.pid)), f"{log.stem} runs: {log.read_text()}")
        return _program_below(process.pid)


def _block(target: Target) -> bytes:
    return "".join(f"{name}={value}\0" for name, value in target.environment.items()).encode()


def _program_below(pid: int) -> int:
    """The only child of *pid*, where it got beyond the tools that set it up; else 0."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    if not children:
        return 0
    try:
        name = Path(f"/proc/{children[0]}/comm").read_text().strip()
    except OSError:
        return 0
    return 0 if name in {"nsenter", "unshare", "sh", "become"} else int(children[0])


def _make_system(skeleton: Path, system: str) -> None:
    me = "me:x:1000:1000:Me:/home/me:/bin/bash"
    busybox = skeleton / "bin/busybox"
    if system != "host":
        busybox.parent.mkdir()
        shutil.copy(shutil.which("busybox") or "/bin/busybox", busybox)
    if system == "busybox":
        me = "me:x:1000:1000:Me:/home/me:/bin/ash"
        for applet in ("sh", "ash", "cat", "id", "tty", "sleep"):
            (busybox.parent / applet).symlink_to("busybox")
    if system == "no-shell":
        busybox.rename(busybox.with_name("sleep"))
    (skeleton / "home/me").mkdir(parents=True)
    os.chown(skeleton / "home/me", 1000, 1000)
    shell = "/bin/ash" if system == "busybox" else "/bin/bash"
    (skeleton / "etc/passwd").write_text(f"root:x:0:0:root:/root:{shell}\n{me}\n")


def running(pod: Pod, pattern: str) -> bool:
    """A process of the Pod has a command line like *pattern*, which starts with `^`."""
    status = pod.ssh(f"pgrep -f '{pattern}'").returncode
    assert status in {0, 1}, "pgrep could not be asked"
    return status == 0


def end(pid: int) -> None:
    """Kill the container whose first process is *pid*."""
    os.kill(pid, signal.SIGKILL)
