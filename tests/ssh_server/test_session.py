"""A command over SSH runs as the workload: same user, rights, environment, root and folder."""

import shutil
from pathlib import Path

import pytest

from tests.ssh_server.conftest import ENVIRONMENT, MakePod
from tests.ssh_server.pod import DEFAULT_CAPABILITIES, Pod, Target

ROOT = Target(environment=ENVIRONMENT)
TARGETS = {
    "root": ROOT,
    "1000:1000": Target(uid=1000, gid=1000, groups=(44, 1000), environment=ENVIRONMENT),
    "1000:0": Target(uid=1000, gid=0, groups=(0,), environment=ENVIRONMENT),
    "without passwd entry": Target(uid=4242, gid=4242, environment=ENVIRONMENT),
    "without capabilities": Target(capabilities=0, no_new_privs=True, environment=ENVIRONMENT),
    "some capabilities": Target(
        capabilities=DEFAULT_CAPABILITIES & ~(1 << 0 | 1 << 18), environment=ENVIRONMENT
    ),
    "ambient capabilities": Target(
        uid=1000, gid=1000, capabilities=0x400, ambient=0x400, environment=ENVIRONMENT
    ),
}
# What a login, and bash itself, add to the environment.
ADDED = {"SSH_CLIENT", "SSH_CONNECTION", "SHELL", "USER", "LOGNAME", "PWD", "OLDPWD", "SHLVL", "_"}
RIGHTS = ("Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs")


@pytest.fixture(params=sorted(TARGETS))
def pod(request: pytest.FixtureRequest, pod_of: MakePod) -> Pod:
    return pod_of(TARGETS[request.param])


@pytest.fixture
def root_pod(pod_of: MakePod) -> Pod:
    return pod_of(ROOT)


def rights_of(status: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in status.splitlines())
    return {name: value.strip() for name, _, value in pairs if name in RIGHTS}


def workload_file(pod: Pod, name: str) -> bytes:
    """A file of the workload's first process, read from outside."""
    said = pod.ssh("pgrep -o -x sleep -u $(id -u)").stdout.split()
    assert said
    own = pod.ssh(f"cat /proc/{said[0].decode()}/{name}")
    assert 0 == own.returncode, own
    return own.stdout


def environment(block: bytes) -> dict[str, str]:
    pairs = (entry.partition("=") for entry in block.decode().split("\0") if entry)
    return {name: value for name, _, value in pairs}


def test_i4_a_session_has_exactly_the_rights_of_the_workload(pod: Pod) -> None:
    session = rights_of(pod.ssh("exec cat /proc/self/status").stdout.decode())

    assert len(RIGHTS) == len(session)
    assert rights_of(workload_file(pod, "status").decode()) == session


def test_i4_a_session_has_the_environment_of_the_workload_verbatim(pod: Pod) -> None:
    session = environment(pod.ssh("exec cat /proc/self/environ").stdout)

    assert ENVIRONMENT == {name: session.get(name) for name in ENVIRONMENT}
    assert set() == set(session) - set(ENVIRONMENT) - ADDED


def test_i4_a_session_starts_in_the_folder_of_the_workload_and_may_write_there(pod: Pod) -> None:
    done = pod.ssh("pwd; touch here && stat -c %u:%g here; rm here")

    assert b"" == done.stderr
    uid, gid = (pod.ssh(f"id -{kind}").stdout.decode().strip() for kind in "ug")
    assert f"/work\n{uid}:{gid}\n" == done.stdout.decode()


def test_i4_a_terminal_is_one_of_the_workload(pod: Pod) -> None:
    done = pod.ssh("tty; test -w $(tty) && echo mine; echo $SSH_TTY", options=("-tt",))

    assert b"/dev/pts/0\r\nmine\r\n/dev/pts/0\r\n" == done.stdout


@pytest.mark.parametrize("status", [0, 1, 42, 255])
def test_i4_the_exit_status_is_that_of_the_command(root_pod: Pod, status: int) -> None:
    assert status == root_pod.ssh(f"exit {status}").returncode
    assert status == root_pod.ssh(f"exit {status}", options=("-tt",)).returncode


def test_i4_a_command_that_a_signal_ends_is_told_as_such(root_pod: Pod) -> None:
    done = root_pod.ssh("kill -TERM $$", options=("-v",))

    assert 255 == done.returncode
    assert b"exit-signal" in done.stderr


def test_i4_output_is_the_commands_alone_and_errors_stay_apart(root_pod: Pod) -> None:
    done = root_pod.ssh("cat; echo wrong >&2", data=bytes(range(256)) * 4096)

    assert bytes(range(256)) * 4096 == done.stdout
    assert b"wrong\n" == done.stderr


def test_i4_a_script_on_standard_input_is_run(root_pod: Pod) -> None:
    done = root_pod.run(
        "ssh", "-F", str(root_pod.client.config), "-T", "workload", data=b"echo $((6*7))"
    )

    assert b"42\n" == done.stdout


def test_i4_the_root_is_that_of_the_workload(root_pod: Pod) -> None:
    assert 1 == root_pod.ssh("test -e /opt/ssh-server").returncode
    assert b"me:" in root_pod.ssh("cat /etc/passwd").stdout


def test_i4_the_clients_language_holds_only_where_the_workload_says_nothing(
    pod_of: MakePod,
) -> None:
    said = 'printf "%s,%s" "$LANG" "$LC_ALL"'
    options = ("-o", "SetEnv=LANG=xx_XX LC_ALL=C")
    with_lang = Target(environment={**ENVIRONMENT, "LANG": "C.UTF-8"})

    assert b"C.UTF-8,C" == pod_of(with_lang).ssh(said, options=options).stdout
    assert b"xx_XX,C" == pod_of(ROOT).ssh(said, options=options).stdout


def test_i4_other_words_of_the_client_are_not_taken(root_pod: Pod) -> None:
    options = ("-o", "SetEnv=LD_PRELOAD=/x MASTER_ADDR=evil")

    assert b"10.1.2.3,\n" == root_pod.ssh("echo $MASTER_ADDR,$LD_PRELOAD", options=options).stdout


def test_i4_an_image_with_a_busybox_shell_alone_is_enough(pod_of: MakePod) -> None:
    target = Target(system="busybox", program=("/bin/sleep", "100000"), environment=ENVIRONMENT)

    done = pod_of(target).ssh("id -u; tty; echo $SHELL", options=("-tt",))

    assert b"0\r\n/dev/pts/0\r\n/bin/ash\r\n" == done.stdout


def test_i4_an_image_without_a_shell_is_told(pod_of: MakePod) -> None:
    target = Target(system="no-shell", program=("/bin/sleep", "100000"), environment=MARK_ONLY)

    done = pod_of(target).ssh("id")

    assert 255 == done.returncode
    assert b"" == done.stdout
    assert b"has no shell that runs" in done.stderr


def test_i4_the_workloads_own_shell_comes_first(pod_of: MakePod) -> None:
    target = Target(environment={**ENVIRONMENT, "SHELL": "/usr/bin/dash"})

    assert b"dash /usr/bin/dash\n" == pod_of(target).ssh("echo $0 $SHELL").stdout


def test_i4_a_workload_that_hid_its_environment_is_found_all_the_same(pod_of: MakePod) -> None:
    target = Target(uid=1000, gid=1000, environment={})

    assert b"1000\n" == pod_of(target).ssh("id -u").stdout


def test_i4_home_and_user_come_from_the_image_where_the_workload_has_none(pod_of: MakePod) -> None:
    target = Target(uid=1000, gid=1000, environment=MARK_ONLY)

    assert b"/home/me me\n" == pod_of(target).ssh("echo $HOME $USER").stdout


def test_i4_the_server_is_reached_by_ipv6_too(root_pod: Pod) -> None:
    assert b"in\n" == root_pod.ssh("echo in", options=("-o", "HostName=::1")).stdout


def test_i4_files_go_both_ways_by_scp(pod: Pod, sftp_server: None, tmp_path: Path) -> None:
    del sftp_server
    sent, back = tmp_path / "sent", tmp_path / "back"
    sent.write_bytes(bytes(range(256)) * 16384)
    config = str(pod.client.config)

    there = pod.run("scp", "-q", "-F", config, str(sent), "workload:file")
    again = pod.run("scp", "-q", "-F", config, "workload:file", str(back))

    assert (0, b"") == (there.returncode, there.stderr)
    assert (0, b"") == (again.returncode, again.stderr)
    assert sent.read_bytes() == back.read_bytes()
    owner = pod.ssh("stat -c %u file; id -u").stdout.split()
    assert owner[0] == owner[1]


def test_i4_sftp_lists_the_folder_of_the_workload(pod: Pod, sftp_server: None) -> None:
    del sftp_server
    done = pod.run(
        "sftp", "-q", "-F", str(pod.client.config), "-b", "-", "workload", data=b"pwd\nls -l /\n"
    )

    assert b"Remote working directory: /work" in done.stdout
    assert b" /home\n" in done.stdout
    assert 0 == done.returncode


def test_i4_sftp_needs_nothing_in_the_image(pod_of: MakePod, sftp_server: None) -> None:
    del sftp_server
    target = Target(system="no-shell", program=("/bin/sleep", "100000"), environment=MARK_ONLY)
    pod = pod_of(target)

    done = pod.run(
        "sftp", "-q", "-F", str(pod.client.config), "-b", "-", "workload", data=b"ls /bin\n"
    )

    assert b"/bin/sleep" in done.stdout


@pytest.mark.skipif(not shutil.which("rsync"), reason="rsync is not installed")
def test_i4_rsync_works_where_the_image_has_it(root_pod: Pod, tmp_path: Path) -> None:
    (tmp_path / "tree/deep").mkdir(parents=True)
    (tmp_path / "tree/deep/file").write_bytes(b"x" * 1_000_000)
    shell = f"ssh -F {root_pod.client.config}"

    done = root_pod.run("rsync", "-a", "-e", shell, f"{tmp_path}/tree", "workload:")

    assert (0, b"") == (done.returncode, done.stderr)
    assert b"1000000\n" == root_pod.ssh("stat -c %s tree/deep/file").stdout


MARK_ONLY = {"GPUSTACK_INSTANCE_CONTAINER": "main"}
