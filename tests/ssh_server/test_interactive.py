"""Sessions with a terminal, forwarding, and how sessions end."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.ssh_server.conftest import ENVIRONMENT, MakePod
from tests.ssh_server.pod import Pod, Target, end, until
from tests.ssh_server.terminal import Terminal

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


def running(pod: Pod, pattern: str) -> bool:
    return 0 == pod.ssh(f"pgrep -f '{pattern}' | grep -qvw $$").returncode


def test_i4_an_interactive_shell_is_the_workloads(pod: Pod) -> None:
    with Terminal(pod) as terminal:
        terminal.type("echo $((6*7)) $(id -u) $PATH $PWD\r")
        terminal.expect(f"42 1000 {ENVIRONMENT['PATH']} /work")
        terminal.type("exit 7\r")

        assert 7 == terminal.client.wait(timeout=30)


def test_i4_the_window_has_the_clients_size_and_follows_it(pod: Pod) -> None:
    with Terminal(pod, size=(31, 97)) as terminal:
        terminal.type("stty size; echo si''zed\r")
        terminal.expect("31 97")
        terminal.expect("sized")
        terminal.type("trap 'stty size' WINCH; echo ar''med\r")
        terminal.expect("armed")
        terminal.resize(40, 132)
        terminal.expect("40 132")


def test_i4_keys_that_signal_reach_the_program_in_front(pod: Pod) -> None:
    with Terminal(pod) as terminal:
        terminal.type("echo sta''rted; sleep 1111; echo ended $?\r")
        terminal.expect("started\r\n")
        until(lambda: running(pod, "^sleep 1111"), "sleep runs")
        terminal.type("\x03")
        terminal.type("echo ba''ck\r")
        terminal.expect("back\r\n")

        assert not running(pod, "^sleep 1111")


def test_i4_much_output_can_be_interrupted(pod: Pod) -> None:
    with Terminal(pod) as terminal:
        terminal.type("yes\r")
        terminal.expect("y\r\ny\r\ny\r\n")
        terminal.type("\x03")
        terminal.type("echo do''ne\r")
        terminal.expect("done")


def test_i4_a_session_with_a_terminal_ends_with_its_client(pod: Pod) -> None:
    with Terminal(pod, "sleep 2222") as terminal:
        until(lambda: running(pod, "^sleep 2222"), "sleep runs")
        terminal.client.kill()

        until(lambda: not running(pod, "^sleep 2222"), "sleep was ended")


def test_i4_a_command_without_a_terminal_ends_with_its_client(pod: Pod) -> None:
    client = pod.open(*pod.ssh_command("sleep 3333"), stdin=subprocess.PIPE)
    until(lambda: running(pod, "^sleep 3333"), "sleep runs")
    client.kill()

    until(lambda: not running(pod, "^sleep 3333"), "sleep was ended")


def test_i4_output_of_a_terminal_is_complete_when_its_program_ends(pod: Pod) -> None:
    done = pod.ssh("head -c 50000 /dev/zero | tr '\\0' x; echo; echo end", options=("-tt",))

    assert b"x" * 50000 + b"\r\nend\r\n" == done.stdout


@pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")
def test_i4_tmux_works_and_outlives_its_client(pod: Pod) -> None:
    with Terminal(pod, "tmux new -s kept") as terminal:
        terminal.expect("kept")
    until(
        lambda: (
            b"kept: 1 windows" in pod.ssh("tmux ls").stdout
            and b"attached" not in pod.ssh("tmux ls").stdout
        ),
        "the session of tmux is there without a client",
    )
    pod.ssh("tmux kill-server")


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


def test_i4_nobody_gets_in_while_the_workload_is_not_running(empty_pod: Pod) -> None:
    commanded = empty_pod.ssh("id")
    with Terminal(empty_pod) as terminal:
        terminal.expect("the workload is not running")
        status = terminal.client.wait(timeout=30)

    assert (255, b"") == (commanded.returncode, commanded.stdout)
    assert b"ssh-server: the workload is not running\n" == commanded.stderr
    assert 255 == status


def test_i4_a_workload_with_more_rights_is_not_entered(empty_pod: Pod) -> None:
    empty_pod.start_workload(Target(capabilities=0x1FFFEFFFFFF, environment=ENVIRONMENT))

    done = empty_pod.ssh("id")

    assert (255, b"") == (done.returncode, done.stdout)
    assert b"has more privileges than this SSH server" in done.stderr


def test_i4_a_session_does_not_outlive_the_workload(empty_pod: Pod) -> None:
    workload = empty_pod.start_workload(ME)
    quiet = empty_pod.open(*empty_pod.ssh_command("sleep 4444"), stderr=subprocess.PIPE)
    assert 0 == empty_pod.ssh("setsid -f nohup sleep 5555 >/dev/null 2>&1 </dev/null").returncode
    until(lambda: running(empty_pod, "^sleep 4444"), "sleep runs")
    with Terminal(empty_pod) as terminal:
        terminal.type("echo u''p\r")
        terminal.expect("up\r\n")
        end(workload)
        terminal.expect("the workload has ended")

        assert 255 == terminal.client.wait(timeout=30)
    assert b"the workload has ended" in quiet.communicate(timeout=30)[1]
    assert 255 == quiet.returncode

    empty_pod.start_workload(ME)
    until(lambda: not running(empty_pod, "^sleep [45]+"), "nothing is left of old sessions")


def test_i4_after_a_restart_sessions_go_to_the_new_workload(empty_pod: Pod) -> None:
    first = empty_pod.start_workload(ME)
    empty_pod.ssh("echo old > /tmp/which; setsid -f nohup sleep 6666 >/dev/null 2>&1 </dev/null")
    end(first)
    empty_pod.start_workload(ME)

    assert b"new\n" == empty_pod.ssh("cat /tmp/which 2>/dev/null || echo new").stdout


def test_i4_a_key_that_was_added_works_and_a_removed_one_is_refused(empty_pod: Pod) -> None:
    empty_pod.start_workload(ME)
    own = (empty_pod.folder / "client/id.pub").read_text().strip()
    assert b"in\n" == empty_pod.ssh("echo in").stdout

    empty_pod.authorize("# nobody")
    refused = empty_pod.ssh("echo in")
    empty_pod.authorize(own)

    assert (255, b"") == (refused.returncode, refused.stdout)
    assert b"Permission denied (publickey)" in refused.stderr
    assert b"in\n" == empty_pod.ssh("echo in").stdout


def test_i4_failed_logins_lock_nobody_out_and_many_keys_may_be_tried(
    pod: Pod, tmp_path: Path
) -> None:
    others = [_pair(tmp_path / f"k{number}") for number in range(12)]
    stranger = ("ssh", "-F", str(pod.config))
    failed = [pod.run(*stranger, "-i", str(key), "stranger", "id").returncode for key in others]
    many = [word for key in others for word in ("-i", str(key))]

    done = pod.ssh("echo in", options=many)

    assert [255] * 12 == failed
    assert b"in\n" == done.stdout


def test_i4_a_password_is_never_asked_for(pod: Pod) -> None:
    options = ("-o", "PreferredAuthentications=password,keyboard-interactive")

    assert b"Permission denied (publickey)" in pod.ssh("id", options=options).stderr


def _pair(path: Path) -> Path:
    made = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", os.fspath(path))
    subprocess.run(made, check=True)
    return path
