"""I4: keys that change, crowds, and sessions whose workload ends."""

import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from e2e.cluster import until
from e2e.node import RealNode
from e2e.node.images.catalogue import DEBIAN
from e2e.node.layout import NODE_ADDRESS
from e2e.tests.keys import Login, User, new_user
from e2e.tests.seats import WAYS, Seat, login_spec, seat
from e2e.tests.team import Team, Wire, condition
from e2e.tests.terminal import terminal

ROTATION_SECONDS = 90


@pytest.fixture(scope="module", params=WAYS.values(), ids=list(WAYS))
def kind(request: pytest.FixtureRequest) -> str:
    """A type of card, for each place that the SSH server may have."""
    return str(request.param)


@pytest.fixture(scope="module")
def place(shop: RealNode, tmp_path_factory: pytest.TempPathFactory, kind: str) -> Iterator[Seat]:
    with seat(shop, tmp_path_factory.mktemp("user"), DEBIAN, type=kind) as made:
        yield made


@pytest.fixture
def stranger(tmp_path: Path) -> User:
    folder = tmp_path / "stranger"
    folder.mkdir()
    return new_user(folder)


def host_key(login: Login) -> str:
    """The fingerprint of the key that the server shows."""
    scan = ("ssh-keyscan", "-T", "10", "-t", "ed25519", "-p", str(login.port), NODE_ADDRESS)
    shown = subprocess.run(scan, capture_output=True, text=True, check=True).stdout
    told = subprocess.run(
        ("ssh-keygen", "-lf", "-"), input=shown, capture_output=True, text=True, check=True
    )
    return told.stdout.split()[1]


def test_i4_a_strangers_key_is_refused(place: Seat, stranger: User) -> None:
    done = stranger.reaching(place.instance).run("true")

    assert 255 == done.returncode
    assert "Permission denied (publickey)" in done.stderr


def test_i4_no_password_is_even_asked_for(place: Seat) -> None:
    methods = "-oPreferredAuthentications=password,keyboard-interactive"

    done = place.login.run("true", options=(methods, "-oPubkeyAuthentication=no"))

    assert 255 == done.returncode
    assert "Permission denied (publickey)" in done.stderr


def test_i4_forty_logins_at_once(place: Seat) -> None:
    login = place.login
    with ThreadPoolExecutor(40) as crowd:
        each = list(crowd.map(lambda number: login.run(f"echo {number}"), range(40)))

    assert [(0, f"{number}\n", "") for number in range(40)] == [
        (done.returncode, done.stdout, done.stderr) for done in each
    ]


def test_i4_fifteen_sessions_over_one_connection(place: Seat, tmp_path: Path) -> None:
    login = place.login
    master = login.spawn(options=("-N", "-M", f"-S{tmp_path}/control"))
    try:
        until((tmp_path / "control").exists, "there is no connection")
        shared = (f"-S{tmp_path}/control", "-oControlMaster=no")
        with ThreadPoolExecutor(15) as crowd:
            ask = "sleep 1; echo $SSH_CONNECTION"
            each = list(crowd.map(lambda _: login.run(ask, options=shared), range(15)))
    finally:
        master.kill()
        master.communicate()

    assert [0] * 15 == [done.returncode for done in each]
    assert 1 == len({done.stdout for done in each}), "all came over the same connection"


def test_i4_an_agent_with_a_dozen_other_keys(place: Seat, tmp_path: Path) -> None:
    """The right key comes last: the server waits for it."""
    agent = tmp_path / "agent"
    process = subprocess.Popen(("ssh-agent", "-D", "-a", str(agent)), stdout=subprocess.DEVNULL)
    try:
        until(agent.exists, "there is no agent")
        for number in range(12):
            folder = tmp_path / str(number)
            folder.mkdir()
            _load(agent, new_user(folder).key)
        _load(agent, place.user.key)
        by_agent = ("-oIdentitiesOnly=no", "-oIdentityFile=none", f"-oIdentityAgent={agent}")
        done = place.login.run("echo in", options=by_agent)
    finally:
        process.kill()
        process.wait()

    assert (0, "in\n") == (done.returncode, done.stdout)


def test_i4_bad_logins_and_bare_connects_lock_nobody_out(place: Seat, stranger: User) -> None:
    login, bad = place.login, stranger.reaching(place.instance)
    with ThreadPoolExecutor(20) as crowd:
        refused = list(crowd.map(lambda _: bad.run("true").returncode, range(60)))
    bare = [socket.create_connection((NODE_ADDRESS, login.port)) for _ in range(60)]
    try:
        during = login.run("echo in")
    finally:
        for connection in bare:
            connection.close()

    assert {255} == set(refused)
    assert (0, "in\n") == (during.returncode, during.stdout)
    assert "in\n" == login.run("echo in").stdout


def test_i4_a_program_in_tmux_survives_the_client(place: Seat) -> None:
    with terminal(place.login) as screen:
        screen.type("tmux new -s work\n")
        screen.type("echo be''gun > /workspace/tmux; tty > /workspace/tty\n")
        until(lambda: "begun" in _file(place, "/workspace/tmux"), "tmux does not start")
    done = place.login.run("tmux ls; tmux send -t work 'echo still > /workspace/tmux' Enter")
    until(lambda: "still" in _file(place, "/workspace/tmux"), "tmux is gone")

    assert "work: 1 windows" in done.stdout
    assert "/dev/pts/" in _file(place, "/workspace/tty")


def test_i4_a_client_that_goes_away_ends_its_command(place: Seat) -> None:
    client = place.login.spawn("echo $$; exec sleep 86399")
    assert client.stdout is not None
    assert client.stdout.readline().strip().isdigit()
    client.kill()
    client.communicate()

    until(lambda: "sleep 86399" not in _processes(place), "the command lives on", seconds=30)


def test_i4_a_signal_ends_a_remote_command_as_it_would_here(place: Seat) -> None:
    """OpenSSH's client turns the death of a remote command by a signal into 255."""
    done = place.login.run("kill -TERM $$; sleep 5; echo alive")

    assert "" == done.stdout
    assert 0 != done.returncode


def test_i4_keys_rotate_without_a_restart(
    team: Team, user: User, stranger: User, kind: str
) -> None:
    team.add_keys("me", user.public)
    instance = team.running(**login_spec(DEBIAN, kind))
    pod = team.pod()
    assert pod is not None
    former, newcomer = user.reaching(instance), stranger.reaching(instance)
    assert 0 == former.run("true").returncode
    began = time.monotonic()
    team.add_keys("me", user.public, stranger.public)
    until(lambda: newcomer.run("true").returncode == 0, "no login", seconds=ROTATION_SECONDS)
    added = time.monotonic() - began
    began = time.monotonic()
    team.add_keys("me", stranger.public)
    until(lambda: former.run("true").returncode == 255, "no refusal", seconds=ROTATION_SECONDS)
    removed = time.monotonic() - began
    print(f"key added after {added:.0f} s, removed after {removed:.0f} s")

    again = team.pod()
    assert again is not None
    assert 0 == newcomer.run("true").returncode
    assert pod["metadata"]["uid"] == again["metadata"]["uid"]
    assert {0} == {told["restartCount"] for told in again["status"]["containerStatuses"]}


def test_i4_the_host_key_stays_over_stop_start_and_replacement(
    team: Team, user: User, kind: str
) -> None:
    team.add_keys("me", user.public)
    first = team.running(**login_spec(DEBIAN, kind))
    login = user.reaching(first)
    shown = [host_key(login)]
    team.edit(stop=True)
    team.wait_for("Stopped")
    team.edit(stop=False)
    shown.append(host_key(user.reaching(team.wait_for("Ready"))))
    team.kubectl("delete", "pod", "box", "--wait=true")
    last = team.wait_for("Ready")
    shown.append(host_key(user.reaching(last)))

    assert [first["status"]["ssh"]["fingerprint"]] * 3 == shown
    assert first["status"]["ssh"] == last["status"]["ssh"]
    assert "in\n" == login.run("echo in").stdout


def test_i4_a_session_does_not_outlive_the_workload(team: Team, user: User, kind: str) -> None:
    """The workload ends and the kubelet starts it anew; the session goes with the old one."""
    team.add_keys("me", user.public)
    ends = ["sh", "-c", "while [ ! -e /workspace/end ]; do sleep 0.1; done; rm /workspace/end"]
    instance = team.running(**{**login_spec(DEBIAN, kind), "command": ends})
    client = user.reaching(instance).spawn("echo in; exec sleep 86398")
    assert client.stdout is not None
    assert "in\n" == client.stdout.readline()
    team.exec("touch", "/workspace/end")
    client.wait(timeout=30)
    client.communicate()
    team.wait(lambda one: one["status"]["phase"] == "Ready" and _restarts(team) == 1)

    assert 0 != client.returncode
    assert "in\n" == user.reaching(instance).run("echo in").stdout, "and the next one works"


def test_i4_a_server_beside_main_is_ready_when_it_listens(team: Team, user: User) -> None:
    """The same container as an Instance's, but for a server that takes its time."""
    team.add_keys("me", user.public)
    team.running(**login_spec(DEBIAN))
    spec = (team.pod() or {})["spec"]
    team.edit(stop=True)
    team.wait_for("Stopped")
    sshd = next(held for held in spec["containers"] if held["name"] == "sshd")
    slow = ["sh", "-c", "sleep 3; exec /opt/ssh-server/entrypoint"]
    volumes = [held for held in spec["volumes"] if held["name"].startswith("ssh-")]
    alone = {"containers": [{**sshd, "command": slow, "resources": {}}], "volumes": volumes}
    team.make("pods", {"metadata": {"name": "slow"}, "spec": alone})
    began = time.monotonic()
    until(lambda: _is_ready(team.find("pods", "slow")), "the server is not ready", seconds=30)

    assert time.monotonic() - began > 3
    assert ":0016 " in team.exec("cat", "/proc/net/tcp", name="slow", container="sshd")


def test_i4_the_status_has_a_line_to_paste(place: Seat) -> None:
    words = place.instance["status"]["ssh"]["command"].split()
    own = [f"-i{place.user.key}", f"-oUserKnownHostsFile={place.user.folder}/known_hosts"]
    place.login.run("true")  # Writes known_hosts.
    done = subprocess.run(
        [words[0], *own, "-oBatchMode=yes", *words[1:], "echo", "in"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, "in\n") == (done.returncode, done.stdout), done.stderr


def test_i4_without_port_22_the_remedy_that_is_told_works(
    team: Team, user: User, kind: str
) -> None:
    """A line for port-forward and one for ssh, as they stand in the condition."""
    team.add_keys("me", user.public)
    instance = team.running(**{**login_spec(DEBIAN, kind), "ports": []})
    told = condition(instance, "SSHReady")
    forward, login = re.findall(r"`(.*?)`", told["message"])
    user.folder.joinpath("known_hosts").write_text(f"{instance['status']['ssh']['knownHosts']}\n")
    own = [f"-i{user.key}", f"-oUserKnownHostsFile={user.folder}/known_hosts", "-oBatchMode=yes"]
    bridge = subprocess.Popen(
        forward.split(),
        env={**os.environ, **team.node.environment()},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert bridge.stdout is not None
        assert "Forwarding from" in bridge.stdout.readline()
        done = subprocess.run(
            [*login.split(), *own, "echo in"], capture_output=True, text=True, check=False
        )
    finally:
        bridge.kill()
        bridge.communicate()

    assert ("False", "PortNotListed") == (told["status"], told["reason"])
    assert (0, "in\n") == (done.returncode, done.stdout), done.stderr


def _is_ready(pod: Wire | None) -> bool:
    told = pod["status"].get("conditions", []) if pod else []
    return any(one["type"] == "Ready" and one["status"] == "True" for one in told)


def _load(agent: Path, key: Path) -> None:
    environment = {"SSH_AUTH_SOCK": str(agent), "PATH": "/usr/bin:/bin"}
    subprocess.run(("ssh-add", "-q", str(key)), env=environment, check=True)


def _file(place: Seat, path: str) -> str:
    return place.team.exec("sh", "-c", f"cat {path} 2>/dev/null || true")


def _processes(place: Seat) -> str:
    return place.team.exec("sh", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '")


def _restarts(team: Team) -> int:
    pod = team.pod()
    told = pod["status"]["containerStatuses"] if pod else []
    return next((one["restartCount"] for one in told if one["name"] == "main"), 0)
