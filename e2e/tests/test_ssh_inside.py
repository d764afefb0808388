"""I3, I4: where only `main` sees the accelerator, the SSH server is in it, and is one of it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.cluster import until
from e2e.node import RealNode
from e2e.node.images.catalogue import BUSYBOX, DEBIAN_USER, PROBE, WITHOUT_SHELL
from e2e.tests.keys import User, new_user
from e2e.tests.seats import Seat, login_spec, seat
from e2e.tests.team import Team, condition

MIB = 1 << 20
CARD = "/dev/nvidia.com-gpu"
KINDS = {"nvidia": "nvidia-plain", "hami": "nvidia-hami"}
# The memory of main, on either version of control groups.
USED = "cd /sys/fs/cgroup; cat memory/memory.usage_in_bytes 2>/dev/null || cat memory.current"
ENDS = ["sh", "-c", "while [ ! -e /workspace/end ]; do sleep 0.1; done; rm /workspace/end"]


@pytest.fixture(scope="module", params=KINDS.values(), ids=list(KINDS))
def place(
    shop: RealNode, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Seat]:
    with seat(shop, tmp_path_factory.mktemp("user"), BUSYBOX, type=request.param) as made:
        yield made


def test_i3_i4_a_login_opens_the_card_that_main_holds(place: Seat) -> None:
    held = [one for one in place.team.node.holdings() if one.namespace == place.team.namespace]
    cards = [len(one.devices) for one in held if one.resource == "nvidia.com/gpu"]
    told = condition(place.instance, "SSHReady")

    assert [1] == cards
    assert {"main"} == {one.container for one in held}
    assert "open\n" == place.login.run(f"exec 3<>{CARD} && echo open").stdout
    assert ("True", "Ready") == (told["status"], told["reason"])


def test_i4_a_session_is_in_the_control_group_of_main(place: Seat) -> None:
    groups = "cat /proc/self/cgroup"

    assert place.team.exec("cat", "/proc/1/cgroup") == place.login.run(groups).stdout


def test_i4_memory_used_in_a_session_is_mains(place: Seat) -> None:
    before = int(place.team.exec("sh", "-c", USED))
    fill = f"head -c {50 * MIB} /dev/zero > /dev/shm/fill"
    used = place.login.run(f"{fill}; {USED}; rm /dev/shm/fill")

    assert int(used.stdout) > before + 40 * MIB


def test_i4_mains_memory_limit_ends_what_a_session_started(place: Seat) -> None:
    """`tail` keeps all of it in memory, and main has 200 MiB."""
    done = place.login.run(f"head -c {400 * MIB} /dev/zero | tail -c {400 * MIB} | wc -c")

    assert f"{400 * MIB}\n" != done.stdout
    assert "in\n" == place.login.run("echo in").stdout, "the server survives"


def test_i4_what_sessions_leave_behind_does_not_stay_as_zombies(team: Team, user: User) -> None:
    """Process 1 of the image takes nobody in, as what `kubectl exec` leaves behind shows."""
    team.add_keys("me", user.public)
    spec = {**login_spec(PROBE, "nvidia-plain"), "command": ["/probe", "serve", "tcp:8080"]}
    login = user.reaching(team.running(**spec))
    orphan = "(sleep 0.3 &) >/dev/null 2>&1 </dev/null"
    team.exec("sh", "-c", orphan)
    until(lambda: _states(team).count("Z") == 1, "process 1 takes orphans in", seconds=10)
    for _ in range(5):
        login.run(orphan)

    until(lambda: login.run("ps").stdout.count("sleep") == 1, "orphans stay", seconds=10)


def test_i4_a_forwarded_connection_finds_names_of_the_pod(place: Seat) -> None:
    """Looked up by the server itself, whatever the image has for that."""
    done = place.login.run(options=("-W", "localhost:22"))

    assert done.stdout.startswith("SSH-2.0")


@pytest.mark.parametrize("image", [BUSYBOX, DEBIAN_USER], ids=["root", "another user"])
def test_i4_a_crashed_main_gets_its_server_again(team: Team, user: User, image: str) -> None:
    team.add_keys("me", user.public)
    instance = team.running(**{**login_spec(image, "nvidia-plain"), "command": ENDS})
    team.exec("touch", "/workspace/end")
    team.wait(lambda one: one["status"]["phase"] == "Ready" and _restarts(team) == 1)

    assert "in\n" == user.reaching(instance).run("echo in").stdout


def test_i4_a_server_that_ends_is_started_again(team: Team, user: User) -> None:
    team.add_keys("me", user.public)
    instance = team.running(**login_spec(BUSYBOX, "nvidia-plain"))
    login = user.reaching(instance)
    login.run("kill $(pgrep -o -f '^/.gpustack/ssh/sshd -D')")

    assert "in\n" == user.reaching(instance).run("echo in").stdout
    assert 0 == _restarts(team)


def test_i4_an_image_without_shell_runs_and_a_file_can_be_fetched(
    shop: RealNode, tmp_path: Path
) -> None:
    with seat(shop, tmp_path, WITHOUT_SHELL, type="nvidia-plain", command=None) as made:
        done = made.login.sftp(f"get /.gpustack/ssh/sshd_config {tmp_path}/fetched")

        assert (0, "") == (done.returncode, done.stderr)
        assert "MaxSessions 64" in (tmp_path / "fetched").read_text()
        assert 0 == _restarts(made.team)


def test_i4_a_server_whose_port_is_taken_does_not_harm_the_workload(team: Team, user: User) -> None:
    """The image serves port 22 by itself: that is what answers, and the log tells why."""
    team.add_keys("me", user.public)
    team.running(**{**login_spec(PROBE, "nvidia-plain"), "command": None})
    until(lambda: "port 22 is taken" in _log(team), "the log does not tell")

    assert 0 == _restarts(team)


@pytest.mark.parametrize(
    "identity",
    [
        {"runAsUser": 1000, "runAsGroup": 1000, "fsGroup": 2000},
        {"runAsUser": 0, "fsGroup": 2000},
        {"runAsUser": 65534, "runAsGroup": 65534},
    ],
    ids=str,
)
def test_i4_any_user_of_a_workload_gets_in_as_that_user(
    team: Team, user: User, identity: dict[str, Any]
) -> None:
    """With an fsGroup the kubelet makes the host key readable for a group."""
    team.add_keys("me", user.public)
    spec = login_spec(BUSYBOX, "nvidia-plain")
    instance = team.running(**{**spec, "securityContext": identity})
    look = "id -u; id -g; id -G"

    expected = team.exec("sh", "-c", look)
    assert expected == user.reaching(instance).run(look).stdout
    assert f"{identity['runAsUser']}\n" == expected.partition("\n")[0] + "\n"


@pytest.mark.parametrize("sort", ["rsa", "ecdsa"])
def test_i4_keys_of_every_sort_are_taken(team: Team, sort: str, tmp_path: Path) -> None:
    user = new_user(tmp_path, sort)
    team.add_keys("me", user.public)
    instance = team.running(**login_spec(BUSYBOX, "nvidia-plain"))

    assert "in\n" == user.reaching(instance).run("echo in").stdout


def test_i4_nothing_of_the_server_can_be_changed_by_the_workload(place: Seat) -> None:
    for folder in ("ssh", "authorized-keys", "host-key"):
        done = place.login.run(f"echo x > /.gpustack/{folder}/new")

        assert 0 != done.returncode
        assert "Read-only file system" in done.stderr


def _states(team: Team) -> str:
    """The state of every process of main."""
    held = team.exec("sh", "-c", "cat /proc/[0-9]*/stat 2>/dev/null || true")
    return "".join(re.findall(r"\) (\w) ", held))


def _restarts(team: Team) -> int:
    pod = team.pod()
    told = pod["status"]["containerStatuses"] if pod else []
    return next((one["restartCount"] for one in told if one["name"] == "main"), 0)


def _log(team: Team) -> str:
    return team.kubectl("logs", "box", "-c", "main").stdout
