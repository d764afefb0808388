"""I1 to I3: one Pod, one family, and the card seen from both containers."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from e2e.node import RealNode
from e2e.node.real_node import Holding
from e2e.tests.keys import User
from e2e.tests.team import Team

BASES = {"nvidia": "nvidia.com/gpu", "amd": "amd.com/gpu"}
VARIABLES = {"nvidia": "NVIDIA_VISIBLE_DEVICES", "amd": "AMD_VISIBLE_DEVICES"}
FAMILIES: list[tuple[str, Mapping[str, Any], Mapping[str, int]]] = [
    ("nothing is said", {}, {"": 1}),
    ("whole", {"accelerator": "2"}, {"": 2}),
    ("shared", {"acceleratorShared": True}, {".shared": 1}),
    (
        "sliced",
        {"acceleratorSlicedMemoryPercentage": 25},
        {".sliced": 1, ".sliced.memory-percentage": 25, ".sliced.cores-percentage": 25},
    ),
]


def held(node: RealNode, namespace: str) -> tuple[Holding, ...]:
    return tuple(one for one in node.holdings() if one.namespace == namespace)


def counts(holdings: tuple[Holding, ...], container: str) -> dict[str, int]:
    """How many devices of each resource *container* holds; the kubelet lists some one by one."""
    own = [one for one in holdings if one.container == container]
    return dict(sum((Counter({one.resource: len(one.devices)}) for one in own), Counter()))


@pytest.mark.parametrize("manufacturer", ["nvidia", "amd"])
@pytest.mark.parametrize(
    ("asked", "expected"), [row[1:] for row in FAMILIES], ids=[row[0] for row in FAMILIES]
)
def test_i2_i3_the_kubelet_gives_main_its_family_and_sshd_a_look(
    team: Team,
    user: User,
    manufacturer: str,
    asked: Mapping[str, Any],
    expected: Mapping[str, int],
) -> None:
    team.add_keys("me", user.public)
    team.running(
        type=manufacturer, resources=asked, sshPublicKey={"name": "me"}, ports=[{"port": 22}]
    )

    holdings = held(team.node, team.namespace)
    variable = VARIABLES[manufacturer]
    seen_by_main = team.exec("sh", "-c", f"echo ${variable}")
    seen_by_sshd = team.exec("sh", "-c", f"echo ${variable}", container="sshd")

    base = BASES[manufacturer]
    assert {f"{base}{suffix}": count for suffix, count in expected.items()} == counts(
        holdings, "main"
    )
    visibility = f"device.gpustack.ai/{manufacturer}.visibility"
    assert {visibility: next(iter(expected.values()))} == counts(holdings, "sshd")
    assert seen_by_main.startswith("device-")
    assert seen_by_main == seen_by_sshd, "the same cards are seen from both"


def test_i2_a_partition_is_one_device_of_its_profile(team: Team) -> None:
    team.running(type="nvidia", resources={"acceleratorPartitionedProfile": "3g.40gb"})

    base = "nvidia.com/gpu.partitioned"
    assert {base: 1, f"{base}.mig-3g.40gb": 1} == counts(held(team.node, team.namespace), "main")


def test_i2_who_asks_for_no_card_sees_none(team: Team) -> None:
    team.running(type="nvidia", resources={"accelerator": "0"})

    assert () == held(team.node, team.namespace)
    assert "void" == team.exec("sh", "-c", "echo $NVIDIA_VISIBLE_DEVICES").strip()


def test_i3_under_the_makers_own_dialect_sshd_asks_for_nothing(team: Team, user: User) -> None:
    team.add_keys("me", user.public)
    team.running(type="nvidia-plain", sshPublicKey={"name": "me"}, ports=[{"port": 22}])

    holdings = held(team.node, team.namespace)

    assert {"nvidia.com/gpu": 1} == counts(holdings, "main")
    assert {} == counts(holdings, "sshd")


def test_i3_an_instance_with_a_login_takes_no_second_card(team: Team, user: User) -> None:
    """Four cards, four Instances with logins: the fifth waits."""
    team.add_keys("me", user.public)
    spec = {"type": "nvidia", "sshPublicKey": {"name": "me"}, "ports": [{"port": 22}]}
    small = {**spec, "resources": {"cpu": "100m", "ram": "32Mi"}}
    for number in range(4):
        team.create(f"box-{number}", **small)
    for number in range(4):
        team.wait_for("Ready", f"box-{number}")
    team.create("late", **small)
    late = team.wait(
        lambda one: one["status"].get("blocker", {}).get("gate") == "scheduling", "late"
    )

    cards = [one for one in held(team.node, team.namespace) if one.resource == "nvidia.com/gpu"]
    assert 4 == sum(len(one.devices) for one in cards)
    assert 4 == len({device for one in cards for device in one.devices})
    assert "Insufficient nvidia.com/gpu" in late["status"]["blocker"]["message"]


def test_i1_one_pod_of_the_same_name_whatever_is_edited(team: Team) -> None:
    first = team.running()
    team.edit(restartedAt="1")
    team.edit(stop=True)
    team.edit(stop=False)
    team.wait_for("Ready")
    team.edit(restartedAt="2")
    again = team.wait_for("Ready")

    pods = team.pods()
    assert ["box"] == [pod["metadata"]["name"] for pod in pods]
    assert first["metadata"]["uid"] == again["metadata"]["uid"]
    assert first["metadata"]["uid"] == pods[0]["metadata"]["ownerReferences"][0]["uid"]
