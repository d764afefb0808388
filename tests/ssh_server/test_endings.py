"""Sessions end with their client and with the workload, and none begins without one."""

import subprocess

import pytest

from tests.ssh_server.conftest import ENVIRONMENT, MakePod
from tests.ssh_server.pod import Pod, Target, end, running, until
from tests.ssh_server.terminal import Terminal

ME = Target(uid=1000, gid=1000, groups=(1000,), environment=ENVIRONMENT)


@pytest.fixture
def pod(pod_of: MakePod) -> Pod:
    return pod_of(ME)


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


def test_i4_another_container_is_not_taken_for_the_workload(empty_pod: Pod) -> None:
    added = {"PATH": "/usr/bin:/bin", "HOSTNAME": "n1"}
    empty_pod.start_workload(Target(uid=1337, gid=1337, environment=added))

    assert b"ssh-server: the workload is not running\n" == empty_pod.ssh("id").stderr
    empty_pod.start_workload(ME)
    assert b"1000\n" == empty_pod.ssh("id -u").stdout
