"""N3: the truth table with real packets, through the operator's own policy."""

import json
import subprocess
from collections.abc import Iterator

import pytest

from e2e.cluster import until
from e2e.node import RealNode
from e2e.tests.packets import Verdict
from e2e.tests.shop import change_setting, replicas
from e2e.tests.team import condition
from e2e.tests.town import NAME, Town, town
from e2e.tests.truth import OPENED, ROWS, UNLABELLED, Report, Row

SETTING = "instance-isolation-pod-cidrs"
CIDRS = "10.244.0.0/16"
TYPE = "resource.gpustack.ai/type"


@pytest.fixture(scope="module")
def place(shop: RealNode) -> Iterator[Town]:
    with town(shop) as made:
        yield made
    change_setting(shop, SETTING, "")


@pytest.fixture(scope="module")
def report() -> Iterator[Report]:
    made = Report()
    yield made
    made.write()


@pytest.fixture(scope="module")
def open_town(place: Town) -> Town:
    """Isolation is off."""
    _switch(place, "")
    return place


@pytest.fixture(scope="module")
def closed_town(place: Town) -> Town:
    """Isolation is on."""
    _switch(place, CIDRS)
    return place


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_n3_without_isolation_everybody_answers(open_town: Town, report: Report, row: Row) -> None:
    """So that a denial afterwards is the policy's doing."""
    assert Verdict.ALLOW is _shown(open_town, report, row, Verdict.ALLOW, "off")


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_n3_with_isolation_the_table_holds(closed_town: Town, report: Report, row: Row) -> None:
    assert row.expected is _shown(closed_town, report, row, row.expected, "on")


def test_n3_instances_say_that_the_policy_is_in_place(closed_town: Town) -> None:
    for name, key in (("a1", "a"), ("a2", "a"), ("b1", "b")):
        told = condition(closed_town.teams[key].instance(name), "NetworkIsolated")

        assert ("True", "PolicyInPlace") == (told["status"], told["reason"])


def test_n3_names_resolve_by_the_pods_own_configuration(closed_town: Town) -> None:
    said = closed_town.teams["a"].exec("nslookup", "-type=a", NAME, name="a1")

    assert "192.0.2.7" in said


def test_n3_a_server_behind_a_node_port_sees_the_gateway(closed_town: Town) -> None:
    answer = closed_town.send("outside", "door of a1", "TCP 22")

    assert ("a1", "10.244.0.1") == (answer.who, answer.source)


def test_n3_the_kubelets_own_ways_in_are_not_filtered(closed_town: Town) -> None:
    """As documented: exec passes no filter, and the node answers its own Pods."""
    to_kubelet = closed_town.teams["a"].exec(
        "sh", "-c", "nc -w 2 10.77.0.2 10250 </dev/null && echo open", name="a1"
    )

    assert "open" in to_kubelet


def test_n3_row_39_a_stripped_label_opens_nothing_of_the_other_tenant(
    closed_town: Town, report: Report
) -> None:
    replicas(closed_town.node, 0)
    try:
        _strip_label(closed_town)
        _converge(closed_town, UNLABELLED[2])
        seen = [_shown(closed_town, report, row, row.expected, "stripped") for row in UNLABELLED]
    finally:
        replicas(closed_town.node, 1)
    healed = Row(7, "b2", "a1", "TCP 80", Verdict.DENY)

    assert [row.expected for row in UNLABELLED] == seen
    _converge(closed_town, healed)
    pod = closed_town.teams["a"].pod("a1")
    assert pod is not None
    assert "instances" == pod["metadata"]["labels"][TYPE]


def test_n3_isolation_goes_on_and_off_under_running_connections(
    place: Town, report: Report
) -> None:
    """Row 40; and a connection that was open before the policy came lives on, as documented."""
    _switch(place, "")
    with _conversation(place) as talk:
        assert "one" == _echo(talk, "one")
        _switch(place, CIDRS)
        during = _echo(talk, "two")
        denied = place.send("a1", "b1", "TCP 22").verdict
        _switch(place, "")
        after = _echo(talk, "three")
        talk.kill()
    opened = [_shown(place, report, row, row.expected, "off again") for row in OPENED]

    assert ("two", Verdict.DENY, "three") == (during, denied, after)
    assert [Verdict.ALLOW] == opened


def _shown(place: Town, report: Report, row: Row, expected: Verdict, when: str) -> Verdict:
    answer = place.send(row.source, row.target, row.way)
    report.add(row, expected=expected, seen=answer.verdict, when=when, text=answer.text)
    return answer.verdict


def _switch(place: Town, value: str) -> None:
    """Change the Setting, and return once both sides are as it says, by the packets."""
    change_setting(place.node, SETTING, value)
    expected = Verdict.DENY if value else Verdict.ALLOW
    for source, target in (("a1", "b2"), ("b2", "a1"), ("b1", "a2"), ("a2", "b2"), ("b1", "a3")):
        _converge(place, Row(0, source, target, "TCP 80", expected))


def _converge(place: Town, row: Row) -> None:
    until(
        lambda: place.send(row.source, row.target, row.way).verdict is row.expected,
        f"{row} is not {row.expected}",
        seconds=30,
    )


def _strip_label(place: Town) -> None:
    patch = json.dumps({"metadata": {"labels": {TYPE: None}}})
    done = place.teams["a"].kubectl("patch", "pod", "a1", "--type=merge", "-p", patch)
    assert 0 == done.returncode, done.stderr


def _conversation(place: Town) -> "subprocess.Popen[str]":
    """A connection from a1 to b1 that echoes lines."""
    _kubectl(place, "b1", "nc -ll -p 9000 -e cat </dev/null >/dev/null 2>&1 &")
    target = place.addresses["b1"]
    command = f"until nc -w 1 {target} 9000 </dev/null; do sleep 0.1; done; exec nc {target} 9000"
    return subprocess.Popen(
        (*_exec(place, "a1"), command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _echo(talk: "subprocess.Popen[str]", line: str) -> str:
    assert talk.stdin is not None
    assert talk.stdout is not None
    talk.stdin.write(f"{line}\n")
    talk.stdin.flush()
    return talk.stdout.readline().strip()


def _kubectl(place: Town, name: str, script: str) -> None:
    subprocess.run((*_exec(place, name), script), check=True)


def _exec(place: Town, name: str) -> tuple[str, ...]:
    layout, (team, pod) = place.node.layout, place.pods[name]
    program = (str(layout.bin / "kubectl"), "--kubeconfig", str(layout.kubeconfig))
    return (*program, "exec", "-i", "--namespace", team, pod, "--", "sh", "-c")
