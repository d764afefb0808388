"""Who gets in, how often, and what a connection carries besides sessions."""

import subprocess
from pathlib import Path

import pytest

from tests.ssh_server.client import make_pair
from tests.ssh_server.conftest import ENVIRONMENT, MakePod
from tests.ssh_server.pod import Pod, Target, until

ME = Target(uid=1000, gid=1000, groups=(1000,), environment=ENVIRONMENT)
ONE_ANSWER = (
    "import socket; s = socket.create_server(('127.0.0.1', 9001)); print('ready', flush=True); "
    "c, _ = s.accept(); c.sendall(c.recv(9).upper())"
)
ASK = (
    "import socket; c = socket.create_connection(('127.0.0.1', 9000)); c.sendall(b'over here'); "
    "print(c.recv(9).decode())"
)


@pytest.fixture
def pod(pod_of: MakePod) -> Pod:
    return pod_of(ME)


def test_i4_a_local_port_is_forwarded_to_the_workload(pod: Pod) -> None:
    words = pod.ssh_command(
        f'exec python3 -c "{ONE_ANSWER}"', options=("-L", "9000:127.0.0.1:9001")
    )
    client = pod.open(*words, stdout=subprocess.PIPE)
    assert client.stdout
    assert b"ready\n" == client.stdout.readline()

    assert b"OVER HERE\n" == pod.run("python3", "-c", ASK).stdout
    assert 0 == client.wait(timeout=30)
    client.stdout.close()


def test_i4_a_port_of_the_workload_is_forwarded_to_the_client(pod: Pod) -> None:
    words = ("python3", "-c", ONE_ANSWER)
    server = pod.open(*words, stdout=subprocess.PIPE)
    assert server.stdout
    assert b"ready\n" == server.stdout.readline()

    done = pod.ssh(f'python3 -c "{ASK}"', options=("-R", "9000:127.0.0.1:9001"))

    assert b"OVER HERE\n" == done.stdout
    assert 0 == server.wait(timeout=30)
    server.stdout.close()


def test_i4_the_clients_agent_stays_with_the_client(pod: Pod) -> None:
    done = pod.ssh("echo agent:$SSH_AUTH_SOCK", options=("-A",))

    assert b"agent:\n" == done.stdout


def test_i4_fifteen_sessions_share_one_connection(pod: Pod, tmp_path: Path) -> None:
    control = ("-o", f"ControlPath={tmp_path}/c")
    master = pod.open(*pod.ssh_command("cat", options=(*control, "-M")), stdin=subprocess.PIPE)
    until((tmp_path / "c").exists, "the connection stands")

    opened = [
        pod.open(*pod.ssh_command("read x; exit 5", options=control), stdin=subprocess.PIPE)
        for _ in range(15)
    ]
    for session in opened:
        session.communicate(b"\n", timeout=30)

    assert [5] * 15 == [session.returncode for session in opened]
    master.communicate(b"", timeout=30)


def test_i4_forty_logins_at_once_all_get_in(pod: Pod) -> None:
    opened = [pod.open(*pod.ssh_command("echo in"), stdout=subprocess.PIPE) for _ in range(40)]

    said = [session.communicate(timeout=60)[0] for session in opened]

    assert [b"in\n"] * 40 == said


def test_i4_a_key_that_was_added_works_and_a_removed_one_is_refused(empty_pod: Pod) -> None:
    empty_pod.start_workload(ME)
    assert b"in\n" == empty_pod.ssh("echo in").stdout

    empty_pod.authorize("# nobody")
    refused = empty_pod.ssh("echo in")
    empty_pod.authorize(empty_pod.client.public_key)

    assert (255, b"") == (refused.returncode, refused.stdout)
    assert b"Permission denied (publickey)" in refused.stderr
    assert b"in\n" == empty_pod.ssh("echo in").stdout


def test_i4_failed_logins_lock_nobody_out_and_many_keys_may_be_tried(
    pod: Pod, tmp_path: Path
) -> None:
    others = [make_pair(tmp_path / f"k{number}") for number in range(12)]
    stranger = ("ssh", "-F", str(pod.client.config))
    failed = [pod.run(*stranger, "-i", str(key), "stranger", "id").returncode for key in others]
    many = [word for key in others for word in ("-i", str(key))]

    done = pod.ssh("echo in", options=many)

    assert [255] * 12 == failed
    assert b"in\n" == done.stdout


def test_i4_a_password_is_never_asked_for(pod: Pod) -> None:
    options = ("-o", "PreferredAuthentications=password,keyboard-interactive")

    assert b"Permission denied (publickey)" in pod.ssh("id", options=options).stderr
