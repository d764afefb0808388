"""A cluster's beginning and end: by command and as a library, beside another, after a kill."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.cluster import Cluster, ClusterError, Fleet, down, running, until
from e2e.cluster.layout import Layout

CHECKOUT = Path(__file__).parents[2]
PARTS = {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"}
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
LISTEN = "0A"


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "e2e.cluster", *map(str, arguments)]


def cluster_command(*arguments: object) -> tuple[int, str]:
    done = subprocess.run(
        command(*arguments),
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def processes(directory: Path) -> dict[str, int]:
    """Return the living processes of the cluster in *directory*, by program."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            arguments = (entry / "cmdline").read_bytes().decode().split("\0")
        except OSError:
            continue
        if arguments[0].startswith(f"{directory}/") or str(directory) in arguments[1:]:
            found[Path(arguments[0]).name] = int(entry.name)
    return found


def listeners(process: int) -> set[str]:
    """Return the addresses on which *process* listens, as the kernel writes them."""
    targets = {str(link.readlink()) for link in Path(f"/proc/{process}/fd").iterdir()}
    rows = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]
    ]
    return {row[1] for row in rows if row[3] == LISTEN and f"socket:[{row[9]}]" in targets}


def wait_gone(directory: Path) -> None:
    until(lambda: not processes(directory), f"{directory} has processes", seconds=20)


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "cluster"
    yield place
    if Layout(directory=place).lock.exists():
        down(place)


def test_up_leaves_a_cluster_that_down_ends_without_a_trace(directory: Path) -> None:
    code, said = cluster_command("up", "--dir", directory, "--nodes", 2, "--gpus", 4)

    assert 0 == code, said
    assert PARTS <= set(processes(directory))
    assert PARTS <= {path.name for path in (directory / "log").iterdir()}

    ready = Cluster(directory=directory).kubectl("get", "nodes", "--no-headers")

    assert 2 == ready.count(" Ready ")
    assert "is not empty" not in said

    again, complaint = cluster_command("up", "--dir", directory)

    assert 1 == again
    assert complaint.startswith(f"error: a cluster runs in {directory}: end it with ")

    code, said = cluster_command("down", "--dir", directory)

    assert (0, "") == (code, said)
    assert {} == processes(directory)
    assert not directory.exists()


def test_every_listener_is_on_loopback(cluster: Cluster) -> None:
    found = {name: listeners(process) for name, process in processes(cluster.directory).items()}

    assert PARTS <= set(found)
    assert 2 == len(found["etcd"])
    assert 1 == len(found["kube-apiserver"])
    assert LOOPBACK >= {at.partition(":")[0] for addresses in found.values() for at in addresses}


def test_two_clusters_side_by_side_share_nothing(cluster: Cluster, directory: Path) -> None:
    with running(Fleet(nodes=0), directory=directory) as other:
        other.add_namespace("only-here")

        assert cluster.server != other.server
        assert cluster.api().find("/api/v1/namespaces/only-here") is None
        assert [] == other.api().get("/api/v1/nodes")["items"]

    assert {} == processes(directory)
    assert not directory.exists()
    assert PARTS <= set(processes(cluster.directory))


def test_a_killed_owner_takes_its_cluster_along(directory: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from e2e.cluster import Fleet, running\n"
        "with running(Fleet(nodes=0), directory=Path(sys.argv[1])):\n"
        "    print('up', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, directory],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as owner:
        assert owner.stdout is not None
        assert b"up\n" == owner.stdout.readline()
        assert PARTS <= set(processes(directory))

        owner.kill()

    wait_gone(directory)
    until(lambda: not directory.exists(), "the directory is still there")


def test_a_killed_supervisor_takes_its_parts_along_and_down_cleans_up(directory: Path) -> None:
    cluster_command("up", "--dir", directory, "--nodes", 0)

    os.kill(int((directory / "supervisor.pid").read_text()), signal.SIGKILL)
    wait_gone(directory)

    assert (0, "") == cluster_command("down", "--dir", directory)
    assert not directory.exists()


def test_a_part_that_dies_ends_the_cluster_and_its_last_words_are_kept(directory: Path) -> None:
    cluster_command("up", "--dir", directory, "--nodes", 0)

    os.kill(processes(directory)["etcd"], signal.SIGKILL)
    wait_gone(directory)

    assert "etcd ended with -9" in (directory / "log" / "supervisor").read_text()
    assert {"log"} == {path.name for path in directory.iterdir()}


def test_run_hands_the_command_its_cluster_and_returns_its_exit_code(tmp_path: Path) -> None:
    note = tmp_path / "note"
    script = f"kubectl get nodes -o name >{note}; echo $GPUSTACK_CTRL_CLUSTER >>{note}; exit 7"

    code, said = cluster_command("run", "--nodes", 1, "--", "sh", "-c", script)

    assert (7, "") == (code, said)
    node, used = note.read_text().splitlines()
    assert "node/node-0" == node
    assert {} == processes(Path(used))
    assert not Path(used).exists()


def test_a_killed_run_ends_its_command_too(tmp_path: Path) -> None:
    note = tmp_path / "note"
    script = f"echo $$ $GPUSTACK_CTRL_CLUSTER >{note}.part; mv {note}.part {note}; exec sleep 600"
    with subprocess.Popen(
        command("run", "--nodes", 0, "--", "sh", "-c", script), cwd=CHECKOUT
    ) as run:
        until(note.exists, "the command does not start", seconds=60)
        run.kill()

    child, used = note.read_text().split()
    until(lambda: not Path(f"/proc/{child}").exists(), "the command is still there")
    wait_gone(Path(used))


def test_a_command_that_does_not_exist_is_named() -> None:
    code, said = cluster_command("run", "--nodes", 0, "--", "no-such-command")

    assert (1, "error: there is no command no-such-command\n") == (code, said)


def test_a_directory_with_other_things_in_it_is_left_alone(directory: Path) -> None:
    directory.mkdir()
    (directory / "mine").touch()

    code, said = cluster_command("up", "--dir", directory)

    assert (1, f"error: {directory} is not empty: name another directory\n") == (code, said)
    assert {"mine"} == {path.name for path in directory.iterdir()}


def test_down_without_a_cluster_says_so(directory: Path) -> None:
    with pytest.raises(ClusterError, match="holds no cluster"):
        down(directory)
