"""A pass over the policy of a namespace, and over a Setting."""

import pytest

from gpustack_ctrl.api import names
from gpustack_ctrl.api.errors import ForbiddenError
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.runtime.reconcile import DONE
from tests.helpers.memory_api import Wire
from tests.helpers.memory_world import SETTING, MemoryWorld

TEAM, POLICY = ObjectKey("", "team"), ObjectKey("team", names.ISOLATION_POLICY)
CIDRS, OTHER = "10.244.0.0/16", "172.16.0.0/12"


async def isolated(cidrs: str = CIDRS) -> MemoryWorld:
    """A settled world with one Instance, under isolation."""
    world = MemoryWorld(seeds={SETTING.name: cidrs})
    world.make()
    await world.settle()
    world.api.writes.clear()
    return world


def excepted(world: MemoryWorld) -> list[str]:
    """The networks that the policy closes."""
    policy = world.get(names.NETWORK_POLICY, POLICY)
    assert policy is not None
    told: list[str] = policy["spec"]["ingress"][0]["from"][1]["ipBlock"]["except"]
    return told


def setting(world: MemoryWorld) -> Wire:
    held = world.get(names.SETTING, SETTING)
    assert held is not None
    return held


def accepted(world: MemoryWorld) -> str:
    conditions = setting(world)["status"]["conditions"]
    return next(str(held["status"]) for held in conditions if held["type"] == "Accepted")


async def test_n1_without_a_seed_no_policy_is_rendered() -> None:
    world = await isolated("")

    assert world.get(names.NETWORK_POLICY, POLICY) is None


async def test_n2_only_namespaces_with_an_instance_get_a_policy() -> None:
    world = await isolated()

    assert [POLICY] == [key for kind, key in world.api.objects if kind == names.NETWORK_POLICY]


async def test_n4_the_policy_outlives_the_last_instance_and_still_follows_the_setting() -> None:
    world = await isolated()
    del world.api.objects[names.INSTANCE, ObjectKey("team", "box")]
    await world.settle()

    assert [CIDRS] == excepted(world)

    world.set(OTHER)
    await world.settle()

    assert [OTHER] == excepted(world)

    world.set("")
    await world.settle()

    assert world.get(names.NETWORK_POLICY, POLICY) is None


async def test_n6_a_bad_value_changes_no_policy_and_is_told_on_the_setting() -> None:
    world = await isolated()
    world.set("10.244.0.0")

    await world.settle()

    assert [CIDRS] == excepted(world)
    assert CIDRS == setting(world)["status"]["value"]
    assert "False" == accepted(world)
    assert "Ready" == world.status["phase"]


async def test_n6_the_last_good_value_survives_the_operator() -> None:
    world = await isolated()
    world.set("10.244.0.0")
    await world.settle()
    world.start()
    world.edit(stop=True)
    await world.settle()
    world.edit(stop=False)

    await world.settle()

    assert [CIDRS] == excepted(world)
    assert "Ready" == world.status["phase"]


async def test_n6_a_bad_seed_renders_nothing_and_lets_no_pod_through_until_it_is_corrected() -> (
    None
):
    world = await isolated("pods")

    assert world.get(names.NETWORK_POLICY, POLICY) is None
    assert "SettingInvalid" == world.status["blocker"]["reason"]

    world.set(CIDRS)
    await world.settle()

    assert "Ready" == world.status["phase"]


async def test_n7_the_setting_rules_once_it_is_there_and_comes_back_when_deleted() -> None:
    world = await isolated()
    world.set(OTHER)
    await world.settle()
    world.start()
    await world.settle()

    assert OTHER == setting(world)["spec"]["value"]

    del world.api.objects[names.SETTING, SETTING]
    await world.settle()

    assert CIDRS == setting(world)["spec"]["value"]


async def test_n5_while_the_setting_is_missing_nothing_is_collected() -> None:
    world = await isolated()
    del world.api.objects[names.SETTING, SETTING]
    world.sync()

    assert DONE == await world.isolation.reconcile(TEAM)
    assert [CIDRS] == excepted(world)


async def test_a_settled_world_costs_no_write_nor_does_a_new_operator() -> None:
    world = await isolated()
    world.start()

    assert 0 == await world.settle()


async def test_a_pass_on_a_stale_cache_does_nothing_and_comes_back() -> None:
    world = await isolated()
    world.api.patch(names.NETWORK_POLICY, POLICY, {"spec": {"ingress": [{}]}})
    world.sync()
    await world.isolation.reconcile(TEAM)
    sent = world.writer.sent

    result = await world.isolation.reconcile(TEAM)

    assert result.after is not None
    assert sent == world.writer.sent


async def test_a_setting_is_not_judged_by_a_stale_cache() -> None:
    world = MemoryWorld()
    await world.settings.reconcile(SETTING)
    sent = world.writer.sent

    result = await world.settings.reconcile(SETTING)

    assert result.after is not None
    assert sent == world.writer.sent


@pytest.mark.parametrize("kind", ["NetworkPolicy", "Setting"])
async def test_a_refused_write_is_raised_and_tried_again(kind: str) -> None:
    world = MemoryWorld(seeds={SETTING.name: CIDRS})
    world.make()
    if kind == "NetworkPolicy":
        await world.settings.reconcile(SETTING)
    world.writer.refuse[kind] = ForbiddenError("no")
    world.sync()
    reconciler, key = (
        (world.isolation, TEAM) if kind == "NetworkPolicy" else (world.settings, SETTING)
    )

    with pytest.raises(ExceptionGroup):
        await reconciler.reconcile(key)

    world.writer.refuse.clear()
    await world.settle()

    assert [CIDRS] == excepted(world)


async def test_n6_a_node_that_the_networks_cover_is_warned_of() -> None:
    world = await isolated()
    addresses = [{"type": "InternalIP", "address": "10.244.0.7"}]
    node = {"metadata": {"name": "node-1"}, "spec": {}, "status": {"addresses": addresses}}
    world.api.create(names.NODE, node)

    await world.settle()

    told = [held.get("message", "") for held in setting(world)["status"]["conditions"]]
    assert any("10.244.0.7 of node node-1" in message for message in told)
