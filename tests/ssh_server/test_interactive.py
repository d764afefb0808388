"""Sessions with a terminal."""

import shutil

import pytest

from tests.ssh_server.conftest import ENVIRONMENT, MakePod
from tests.ssh_server.pod import Pod, Target, running, until
from tests.ssh_server.terminal import Terminal

ME = Target(uid=1000, gid=1000, groups=(1000,), environment=ENVIRONMENT)


@pytest.fixture
def pod(pod_of: MakePod) -> Pod:
    return pod_of(ME)


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
