"""S1 and S2: node ports from outside, through everything that may happen to the Pod."""

import socket
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

from e2e.cluster import until
from e2e.node.images.catalogue import PROBE
from e2e.node.layout import NODE_ADDRESS
from e2e.tests.packets import Verdict, probe
from e2e.tests.shop import replicas
from e2e.tests.team import Team, node_ports

_SERVE = (
    "mkdir -p /tmp/www; echo $HOSTNAME > /tmp/www/index.html; httpd -p 8080 -h /tmp/www; "
    "trap 'exit 0' TERM; sleep infinity & wait"
)
WEB: dict[str, Any] = {
    "command": ["sh", "-c", _SERVE],
    "ports": [{"port": 8080, "name": "web"}],
}
BOTH: dict[str, Any] = {
    "image": PROBE,
    "command": None,
    "args": ["serve", "tcp:8080", "udp:8080"],
    "ports": [{"port": 8080}, {"port": 8080, "protocol": "UDP"}],
}


def get(port: int) -> str:
    """What the web server behind a node port says; "" while nobody answers."""
    try:
        with urllib.request.urlopen(f"http://{NODE_ADDRESS}:{port}/", timeout=2) as answer:
            return str(answer.read().decode().strip())
    except (urllib.error.URLError, OSError):
        return ""


def answers(ask: Callable[[], bool]) -> None:
    until(ask, "nobody answers", seconds=20)


def test_s1_a_web_server_is_reached_through_its_node_port(team: Team) -> None:
    port = node_ports(team.running(**WEB))[8080, "TCP"]

    answers(lambda: get(port) == "box")

    service = team.find("services")
    assert service is not None
    assert port == service["spec"]["ports"][0]["nodePort"]


def test_s1_udp_and_tcp_on_one_port(team: Team) -> None:
    ports = node_ports(team.running(**BOTH))

    answers(lambda: probe("tcp", NODE_ADDRESS, ports[8080, "TCP"]).who == "box")
    answers(lambda: probe("udp", NODE_ADDRESS, ports[8080, "UDP"]).who == "box")


def test_s2_the_same_port_answers_after_stop_and_start(team: Team) -> None:
    before = node_ports(team.running(**BOTH))
    number = before[8080, "TCP"]
    answers(lambda: probe("tcp", NODE_ADDRESS, number).verdict is Verdict.ALLOW)

    team.edit(stop=True)
    stopped = team.wait_for("Stopped")
    until(lambda: refused(number), "the connection is not refused", seconds=10)
    team.edit(stop=False)
    started = team.wait_for("Ready")

    assert before == node_ports(stopped) == node_ports(started)
    answers(lambda: probe("tcp", NODE_ADDRESS, number).verdict is Verdict.ALLOW)
    answers(lambda: probe("udp", NODE_ADDRESS, before[8080, "UDP"]).verdict is Verdict.ALLOW)


def test_s2_the_same_port_answers_after_the_pod_was_deleted(team: Team) -> None:
    before = node_ports(team.running(**WEB))
    pod = team.pod()
    assert pod is not None
    team.kubectl("delete", "pod", "box", "--wait=true", "--grace-period=1")
    after = team.wait_for("Ready")
    again = team.pod()
    assert again is not None

    assert pod["metadata"]["uid"] != again["metadata"]["uid"]
    assert before == node_ports(after)
    answers(lambda: get(before[8080, "TCP"]) == "box")


def test_s2_the_same_port_answers_after_a_change_of_type(team: Team) -> None:
    before = node_ports(team.running(**WEB))
    team.edit(stop=True)
    team.wait_for("Stopped")
    team.edit(stop=False, type="nvidia")
    after = team.wait_for("Ready")

    assert before == node_ports(after)
    answers(lambda: get(before[8080, "TCP"]) == "box")
    assert team.exec("sh", "-c", "echo $NVIDIA_VISIBLE_DEVICES").startswith("device-")


def test_s2_the_port_answers_while_the_operator_is_away_and_after_it_came_back(team: Team) -> None:
    before = node_ports(team.running(**WEB))
    number = before[8080, "TCP"]
    answers(lambda: get(number) == "box")
    replicas(team.node, 0)
    try:
        while_away = get(number)
    finally:
        replicas(team.node, 1)
    pod = team.pod()
    assert pod is not None

    assert "box" == while_away
    assert before == node_ports(team.wait_for("Ready"))
    assert [0] == [told["restartCount"] for told in pod["status"]["containerStatuses"]]


def refused(port: int) -> bool:
    try:
        socket.create_connection((NODE_ADDRESS, port), timeout=2).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False
