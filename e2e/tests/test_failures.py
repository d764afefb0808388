"""T3 and T4: what a real kubelet does to a Pod, and what the Instance says and does then."""

import pytest

from e2e.cluster import until
from e2e.node import RealNode, reboot
from e2e.node.images.catalogue import BUSYBOX
from e2e.node.layout import NODE
from e2e.tests.shop import bury_the_evicted, rolled_out
from e2e.tests.team import SLEEP, Team, Wire, condition

CARD = "nvidia.com/gpu"
GRACE_SECONDS = 120.0


def blocker(instance: Wire) -> Wire:
    found: Wire = instance["status"].get("blocker") or {}
    return found


def ended(instance: Wire) -> Wire:
    found: Wire = instance["status"].get("lastTermination") or {}
    return found


def shell(script: str) -> list[str]:
    return ["sh", "-c", script]


def _restarts(team: Team) -> int:
    pod = team.pod()
    told = pod["status"].get("containerStatuses", ()) if pod else ()
    return sum(one["restartCount"] for one in told)


def is_ready_at(instance: Wire, pod: Wire | None) -> bool:
    """Whether the status speaks of *pod* as it is now, and says Ready."""
    told = instance["status"]
    at = pod["status"].get("podIPs") if pod else None
    return bool(told["phase"] == "Ready" and told.get("podIPs") == at)


def has_ended(pod: Wire | None) -> bool:
    """Whether the kubelet ended the Pod, which is still there to tell."""
    return pod is not None and pod["status"]["phase"] in {"Failed", "Succeeded"}


def uid(team: Team) -> str:
    pod = team.pod()
    return str(pod["metadata"]["uid"]) if pod else ""


def test_t3_an_image_that_cannot_be_pulled(team: Team) -> None:
    team.create(image="localhost/missing:1")
    held = team.wait(lambda one: blocker(one).get("gate") == "image")
    told = blocker(held)
    team.edit(stop=True)
    team.wait_for("Stopped")
    team.edit(stop=False, image=BUSYBOX)
    cured = team.wait_for("Ready")

    assert told["reason"] in {"ErrImagePull", "ImagePullBackOff"}
    assert "localhost/missing:1" in told["message"]
    assert "False" == condition(held, "Ready")["status"]
    assert {} == blocker(cured)


def test_t3_a_workload_that_crashes_again_and_again(team: Team) -> None:
    team.create(command=shell("echo no license >&2; sleep 0.5; exit 3"))
    held = team.wait(lambda one: blocker(one).get("reason") == "CrashLoopBackOff")

    assert "container" == blocker(held)["gate"]
    assert 3 == ended(held)["exitCode"]
    assert "False" == condition(held, "Ready")["status"]


def test_t4_a_workload_that_takes_more_memory_than_it_has(team: Team) -> None:
    """The kernel kills it, and the kubelet starts it anew."""
    team.create(
        type="cpu-tiny",
        command=shell("[ -e /workspace/x ] && exec sleep 999; touch /workspace/x; tail /dev/zero"),
    )
    again = team.wait(lambda one: one["status"]["phase"] == "Ready" and bool(ended(one)))

    assert "OOMKilled" == ended(again)["reason"]


def test_t4_a_device_that_is_refused_at_admission(team: Team) -> None:
    with team.node.refusing(CARD, "the card is on fire"):
        team.create(type="nvidia")
        held = team.wait(lambda one: ended(one).get("reason") == "UnexpectedAdmissionError")
    cured = team.wait_for("Ready", seconds=90)

    assert "the card is on fire" in ended(held)["message"]
    assert 1 <= held["status"]["failures"]["count"]
    assert "UnexpectedAdmissionError" == ended(cured)["reason"]
    assert 1 == len(team.pods())


def test_t4_a_pod_evicted_for_the_disk_it_fills(team: Team) -> None:
    fill = "[ -e /marker ] || dd if=/dev/zero of=/workspace/file bs=1M count=64; exec sleep 999"
    team.create(type="cpu-tiny", command=shell(fill), volume={"ephemeral": {"capacity": "8Mi"}})
    held = team.wait(lambda one: ended(one).get("reason") == "Evicted", seconds=GRACE_SECONDS)

    assert "exceeds" in ended(held)["message"].lower()
    assert ended(held)["dataLost"]


def test_t4_a_pod_evicted_as_the_node_runs_short_of_memory(team: Team) -> None:
    """The kubelet begins with who is furthest above its request: see `short_of_memory`.

    A workload that ends with 0 then leaves no reason on its Pod.
    """
    hold = "dd if=/dev/zero of=/dev/shm/held bs=1M count=150"
    team.running(sharedMemory="160Mi", ports=[{"port": 8080}])
    team.exec("sh", "-c", hold)
    before, ports = uid(team), team.instance()["status"]["ports"]
    with team.node.short_of_memory():  # For as short as can be: the operator comes next.
        until(lambda: has_ended(team.pod()), "nothing is evicted", seconds=GRACE_SECONDS)
    held = team.wait(lambda one: one["status"]["phase"] == "Failed", seconds=10)
    until(team.node.has_memory, "the node stays short of memory")
    until(lambda: uid(team) not in ("", before), "there is no new Pod")
    cured = team.wait_for("Ready")

    bury_the_evicted(team.node)

    assert ("eviction", "Evicted") == (blocker(held)["gate"], blocker(held)["reason"])
    assert "low on resource: memory" in blocker(held)["message"]
    assert ("Evicted", 0) == (ended(held)["reason"], ended(held)["exitCode"])
    assert "low on resource: memory" in ended(held)["message"]
    assert 1 == held["status"]["failures"]["count"], "pressure is a failure"
    assert ended(held)["dataLost"]
    assert "Evicted" == ended(cured)["reason"]
    assert ports == cured["status"]["ports"]
    assert 1 == len(team.pods())


def test_t4_a_pod_evicted_by_the_api_comes_back(team: Team) -> None:
    team.running(ports=[{"port": 8080}])
    before = uid(team)
    path = f"/api/v1/namespaces/{team.namespace}/pods/box/eviction"
    team.node.api().post(
        path, {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "box"}}
    )
    until(lambda: uid(team) not in ("", before), "there is no new Pod")
    cured = team.wait_for("Ready")

    assert 0 == cured["status"].get("failures", {}).get("count", 0), "eviction is no failure"


def test_t2_t4_a_sick_card_takes_nothing_away_from_who_has_another(team: Team) -> None:
    team.running(type="nvidia")
    free = int(team.node.allocatable()[CARD])
    held = team.exec("sh", "-c", "echo $NVIDIA_VISIBLE_DEVICES").strip()
    other = next(name for name in ("device-0", "device-1") if name != held)
    team.node.sicken(CARD, other)
    until(lambda: int(team.node.allocatable()[CARD]) == free - 1, "the card is still offered")
    team.node.sicken(CARD)
    until(lambda: int(team.node.allocatable()[CARD]) == free, "the card does not come back")

    assert "Ready" == team.instance()["status"]["phase"]
    assert 1 == len(team.pods())


def test_t2_a_kubelet_that_is_silent_for_longer_than_the_grace_period(team: Team) -> None:
    team.running()
    before = uid(team)
    team.node.stop("kubelet")
    try:
        team.node.wait_for_node(NODE, status="Unknown")
        silent = team.wait_for("Unknown", seconds=GRACE_SECONDS)
    finally:
        team.node.restart_kubelet()
    back = team.wait_for("Ready", seconds=GRACE_SECONDS)

    told = condition(silent, "Ready")
    assert ("Unknown", "NodeLost") == (told["status"], told["reason"])
    assert before == uid(team), "nothing was replaced"
    assert {} == blocker(back)


def test_t4_a_node_that_loses_its_power(team: Team) -> None:
    """Containers are gone, and the kubelet is back before the device plugin is."""
    team.running(type="nvidia", command=SLEEP, ports=[{"port": 8080}])
    before = team.instance()["status"]["ports"]
    pod = uid(team)
    reboot(team.node)
    # Until the kubelet speaks up, everything that is told is from before.
    until(lambda: uid(team) != pod or _restarts(team) > 0, "nothing happens", seconds=GRACE_SECONDS)
    # The operator was on that node, too.
    after = team.wait(lambda one: is_ready_at(one, team.pod()), seconds=GRACE_SECONDS)
    rolled_out(team.node)

    assert before == after["status"]["ports"]
    assert 1 == len(team.pods())
    assert team.exec("sh", "-c", "echo $NVIDIA_VISIBLE_DEVICES").startswith("device-")


@pytest.fixture(autouse=True)
def healthy(shop: RealNode) -> None:
    """Each test begins on a node that is Ready."""
    shop.wait_for_node(NODE)
