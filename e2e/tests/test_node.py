"""The real node itself: Pods run on it, packets reach them, and nothing of it stays behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from e2e.cluster import until
from e2e.node import RealNode
from e2e.node.images.catalogue import BUSYBOX, PROBE
from e2e.node.layout import NodeLayout
from e2e.node.leftovers import left
from e2e.tests.home import AT_HOME
from e2e.tests.packets import Verdict, probe

CHECKOUT = Path(__file__).parents[2]


def test_a_pod_runs_and_tells_its_exit_code(node: RealNode, namespace: str) -> None:
    body = {
        "metadata": {"name": "box"},
        "spec": {
            "restartPolicy": "Never",
            "containers": [
                {"name": "main", "image": BUSYBOX, "command": ["sh", "-c", "echo so; exit 3"]}
            ],
        },
    }
    node.api().post(f"/api/v1/namespaces/{namespace}/pods", body)
    path = f"/api/v1/namespaces/{namespace}/pods/box"
    until(lambda: node.api().get(path)["status"]["phase"] == "Failed", "the Pod does not end")

    ended = node.api().get(path)["status"]["containerStatuses"][0]["state"]["terminated"]

    assert 3 == ended["exitCode"]
    assert "so\n" == node.kubectl("logs", "box", "--namespace", namespace)


def test_a_node_port_is_reached_from_outside(node: RealNode, namespace: str) -> None:
    pod = {
        "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": PROBE}]},
    }
    service = {
        "metadata": {"name": "web"},
        "spec": {"type": "NodePort", "selector": {"app": "web"}, "ports": [{"port": 8080}]},
    }
    node.api().post(f"/api/v1/namespaces/{namespace}/pods", pod)
    made = node.api().post(f"/api/v1/namespaces/{namespace}/services", service)
    port = made["spec"]["ports"][0]["nodePort"]

    until(
        lambda: probe("tcp", node.address, port).verdict is Verdict.ALLOW,
        "the node port does not answer",
    )

    assert "web" == probe("tcp", node.address, port).who


def test_a_node_that_goes_down_leaves_nothing(node: RealNode, tmp_path: Path) -> None:
    """A second one beside the first, by the command."""
    directory = tmp_path / "second"
    program = (*AT_HOME, sys.executable, "-m", "e2e.node")
    subprocess.run((*program, "up", "--dir", str(directory)), cwd=CHECKOUT, check=True)
    layout = NodeLayout(directory=directory)
    ids = [
        int(path.read_text()) for path in layout.processes.glob("[a-z]*") if path.name != "ready"
    ]
    held = left(layout)
    _pause(int((layout.processes / "kubelet").read_text()))
    embedded = (sys.executable, "-m", "e2e.cluster", "up", "--dir", str(directory))
    refused = subprocess.run(embedded, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    subprocess.run((*program, "down", "--dir", str(directory)), cwd=CHECKOUT, check=True)

    assert 4 <= len(held), "while it is up, processes, networks, cgroups and values are held"
    assert (1, f"error: {directory} holds a real node: name another directory\n") == (
        refused.returncode,
        refused.stderr,
    )
    assert [] == left(layout)
    assert [] == [number for number in ids if Path(f"/proc/{number}").exists()]
    assert not directory.exists()


def test_a_node_whose_owner_is_killed_leaves_nothing(node: RealNode, tmp_path: Path) -> None:
    program = (
        "import pathlib, sys, time; from e2e.node import running\n"
        "with running(pathlib.Path(sys.argv[1])): print('up', flush=True); time.sleep(999)"
    )
    directory = tmp_path / "orphan"
    owner = subprocess.Popen(
        (*AT_HOME, sys.executable, "-c", program, str(directory)),
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
    )
    assert owner.stdout is not None
    lines = iter(owner.stdout.readline, b"")
    assert b"up\n" in lines
    held = left(NodeLayout(directory=directory))
    owner.kill()
    owner.communicate()
    until(lambda: not directory.exists(), "its files are still there", seconds=30)

    assert 4 <= len(held)
    assert [] == left(NodeLayout(directory=directory))


def _pause(process: int) -> None:
    """Stop *process* and let it go on, as tests of silence do."""
    state = Path(f"/proc/{process}/stat")
    os.kill(process, signal.SIGSTOP)
    until(lambda: state.read_text().rpartition(")")[2].split()[0] == "T", "it does not stop")
    time.sleep(0.2)  # Whoever waits for it sees that, too.
    os.kill(process, signal.SIGCONT)
