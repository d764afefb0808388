"""I4: a login is in the workload's own root, user, environment and devices, in any image."""

import hashlib
import itertools
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2e.cluster import until
from e2e.node import RealNode
from e2e.node.images.catalogue import WITHOUT_SHELL
from e2e.tests.seats import ENVIRONMENT, IMAGES, WAYS, Seat, seat
from e2e.tests.terminal import terminal

MIB = 1 << 20
# What belongs to a session, or to the shell that prints it, and not to the workload.
OF_THE_SESSION = frozenset(
    {"SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "SHELL", "USER", "LOGNAME", "HOME", "TERM", "_"}
    | {"SHLVL", "PWD", "OLDPWD", "LANG"}
)


@pytest.fixture(
    scope="module",
    params=itertools.product(WAYS.values(), IMAGES.values()),
    ids=[", ".join(names) for names in itertools.product(WAYS, IMAGES)],
)
def place(
    shop: RealNode, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Seat]:
    kind, image = request.param
    with seat(shop, tmp_path_factory.mktemp("user"), image, type=kind) as made:
        yield made


def variables(text: str) -> dict[str, str]:
    pairs = (entry.partition("=") for entry in text.split("\0") if entry)
    return {name: value for name, _, value in pairs if name not in OF_THE_SESSION}


def test_i4_a_command_and_its_exit_status(place: Seat) -> None:
    done = place.login.run("echo out; echo err >&2; exit 7")

    assert (7, "out\n", "err\n") == (done.returncode, done.stdout, done.stderr)


def test_i4_the_environment_is_that_of_kubectl_exec(place: Seat) -> None:
    inside = variables(place.team.exec("cat", "/proc/self/environ"))
    seen = variables(place.login.run("cat /proc/self/environ").stdout)

    assert ENVIRONMENT.items() <= inside.items()
    assert "device-" in inside["NVIDIA_VISIBLE_DEVICES"]
    assert inside == seen


def test_i4_user_groups_folder_and_root_are_the_workloads(place: Seat) -> None:
    look = (
        "id; pwd; readlink /proc/1/cwd; cat /etc/passwd | head -3; ls -d /workspace /opt/ssh-server"
    )

    expected = place.team.kubectl("exec", "box", "-c", "main", "--", "sh", "-c", look)
    seen = place.login.run(look)

    assert expected.stdout == seen.stdout
    assert "/workspace" in seen.stdout
    assert "/opt/ssh-server" not in seen.stdout


def test_i4_a_session_has_no_more_power_than_the_workload(place: Seat) -> None:
    look = "grep -E '^(Cap|NoNewPrivs|Groups)' /proc/self/status"

    assert place.team.exec("sh", "-c", look) == place.login.run(look).stdout


def test_i4_files_written_by_ssh_are_the_workloads(place: Seat) -> None:
    place.login.run("cat > /workspace/note", stdin="from outside\n")

    assert "from outside\n" == place.team.exec("cat", "/workspace/note")


def test_i4_fifty_mebibytes_by_scp_both_ways(place: Seat, tmp_path: Path) -> None:
    original, back = tmp_path / "original", tmp_path / "back"
    original.write_bytes(os.urandom(50 * MIB))

    sent = place.login.copy(str(original), ":/workspace/large")
    fetched = place.login.copy(":/workspace/large", str(back))

    assert (0, "") == (sent.returncode, sent.stderr)
    assert (0, "") == (fetched.returncode, fetched.stderr)
    digest = hashlib.sha256(original.read_bytes()).hexdigest()
    assert digest == hashlib.sha256(back.read_bytes()).hexdigest()
    assert place.team.exec("sha256sum", "/workspace/large").startswith(digest)


def test_i4_sftp_sees_the_workloads_files(place: Seat, tmp_path: Path) -> None:
    original = tmp_path / "original"
    original.write_bytes(os.urandom(MIB))

    done = place.login.sftp(
        "mkdir /workspace/d", f"put {original} /workspace/d/file", "ls -l /workspace/d"
    )

    assert (0, "") == (done.returncode, done.stderr)
    assert f"{MIB}\n" == place.team.exec("sh", "-c", "wc -c < /workspace/d/file")


def test_i4_a_terminal_of_the_workload_resized(place: Seat) -> None:
    with terminal(place.login) as screen:
        screen.type("tty; stty size; echo $TERM\n")
        screen.expect("/dev/pts/")
        screen.expect("24 80")
        screen.resize(50, 132)
        screen.type("stty size\n")
        screen.expect("50 132")
        screen.type("exit 3\n")
        until(lambda: screen.client.poll() is not None, "the session does not end")

    assert 3 == screen.client.returncode


def test_i4_ctrl_c_ends_the_command_and_not_the_session(place: Seat) -> None:
    with terminal(place.login) as screen:
        screen.type("echo begin; sleep 1000\n")
        screen.expect("begin\r\n")
        screen.type("\x03")
        screen.type("echo status=$?\n")
        screen.expect("status=130")


def test_i4_a_service_of_the_workload_is_reached_by_local_forwarding(place: Seat) -> None:
    with _forwarded(place, "-L", "17022:127.0.0.1:22"):
        until(lambda: _banner("127.0.0.1", 17022).startswith(b"SSH-2.0"), "nothing comes through")


def test_i4_the_workload_reaches_back_by_remote_forwarding(place: Seat) -> None:
    with socket.create_server(("127.0.0.1", 0)) as ours:
        ours.settimeout(30)
        back = f"17023:127.0.0.1:{ours.getsockname()[1]}"
        with _forwarded(place, "-R", back), _knocking(place, 17023):
            caller, _ = ours.accept()
            with caller:
                assert b"hi\n" == caller.recv(16)


def test_i4_an_agent_is_not_forwarded(place: Seat) -> None:
    done = place.login.run("echo agent=$SSH_AUTH_SOCK", options=("-A",))

    assert "agent=\n" == done.stdout


def test_i4_the_card_can_be_opened(place: Seat) -> None:
    open_it = "exec 3<>/dev/nvidia.com-gpu && echo open"

    expected = place.team.kubectl("exec", "box", "-c", "main", "--", "sh", "-c", open_it)
    seen = place.login.run(open_it)

    assert expected.stdout == seen.stdout
    if place.login.run("id -u").stdout == "0\n":
        assert "open\n" == seen.stdout


@pytest.mark.parametrize("kind", WAYS.values(), ids=WAYS)
def test_i4_an_image_without_shell_says_so(shop: RealNode, tmp_path: Path, kind: str) -> None:
    with seat(shop, tmp_path, WITHOUT_SHELL, type=kind, command=None) as made:
        done = made.login.run("true")

        assert 255 == done.returncode
        assert "shell" in done.stderr
        assert 1 == len(done.stderr.strip().splitlines())


def _banner(host: str, port: int) -> bytes:
    try:
        with socket.create_connection((host, port), timeout=5) as connection:
            return connection.recv(64)
    except OSError:
        return b""


@contextmanager
def _forwarded(place: Seat, *options: str) -> Iterator[None]:
    """Have a client that forwards."""
    with _client(place, options=("-N", "-oExitOnForwardFailure=yes", *options)):
        yield


@contextmanager
def _knocking(place: Seat, port: int) -> Iterator[None]:
    """Let the workload try to say hi to *port* of its own until that works."""
    by_bash = f"bash -c 'echo hi > /dev/tcp/127.0.0.1/{port}' 2>/dev/null"
    knock = f"{by_bash} || echo hi | nc 127.0.0.1 {port}"
    with _client(place, f"until {knock}; do sleep 0.1; done"):
        yield


@contextmanager
def _client(place: Seat, *command: str, options: tuple[str, ...] = ()) -> Iterator[None]:
    client = place.login.spawn(*command, options=options)
    try:
        yield
    finally:
        client.kill()
        client.communicate()
