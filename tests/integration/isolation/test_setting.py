"""N6, N7: the Setting itself: its seed, its warnings, and what holds before it has a good value."""

import secrets

import pytest

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from tests.integration.isolation.isolation_world import (
    PODS,
    POLICY,
    SEED,
    SETTING,
    Admin,
    isolated,
    isolating,
    policy_says,
)
from tests.integration.isolation.watched_operator import WatchedOperator
from tests.integration.world import World, condition, until

BAD = "10.244.0.0"


async def test_n6_a_bad_seed_renders_and_collects_nothing_and_holds_new_pods_back(
    world: World, neighbour: World, idle: WatchedOperator, admin: Admin
) -> None:
    idle.environ = {SEED: PODS}
    await idle.start()
    await admin.told()
    await neighbour.instance(stop=True)
    rendered = await policy_says(neighbour, isolating(PODS))
    await idle.kill()
    await admin.own.delete(names.SETTING, SETTING)
    idle.environ = {SEED: BAD}
    await idle.start()
    refused = await admin.told()
    await world.instance()
    await world.tells("Ready", "False", "SettingInvalid")
    await idle.another_pass(world)
    blocker = (await world.get(names.INSTANCE, "box"))["status"]["blocker"]

    assert "nothing is in force yet" in condition(refused, "Accepted")["message"]
    assert "False" == condition(refused, "InForce")["status"]
    assert ("isolation", "SettingInvalid") == (blocker["gate"], blocker["reason"])
    assert SETTING in blocker["message"]
    assert [] == await world.list(names.POD)
    assert {neighbour.namespace} == set(await admin.policies())
    assert rendered == await neighbour.get(names.NETWORK_POLICY, POLICY)

    await admin.wish(PODS)
    await world.is_in_phase("Ready")
    await policy_says(world, isolating(PODS))


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize("seed", [PODS])
async def test_n6_a_good_value_that_covers_a_node_is_obeyed_with_a_warning(
    cluster: Cluster, world: World, admin: Admin, seed: str
) -> None:
    address = await node_address(cluster)
    await admin.wish(f"{seed},{address}/32")
    await world.instance(stop=True)

    await policy_says(world, isolating(seed, f"{address}/32"))
    warning = await admin.warned(about=f"the address {address} of node node-0")

    assert "True" == warning["status"]

    calmed = await admin.wish(seed)

    assert "" == condition(calmed, "Warning")["status"]


@pytest.mark.usefixtures("operator")
async def test_n6_a_good_value_that_covers_the_service_range_is_obeyed_with_a_warning(
    cluster: Cluster, world: World, admin: Admin
) -> None:
    service = cluster.api().get("/api/v1/namespaces/default/services/kubernetes")
    address = service["spec"]["clusterIP"]
    await admin.wish(f"{address}/32")
    await world.instance(stop=True)

    await policy_says(world, isolating(f"{address}/32"))
    await admin.warned(about=f"the Service range (as {address} of default/kubernetes)")


async def test_n6_the_warning_comes_with_the_node(
    cluster: Cluster, operator: WatchedOperator, admin: Admin
) -> None:
    await admin.wish("203.0.113.0/24")
    await operator.settled()
    name = f"late-{secrets.token_hex(4)}"
    addresses = [
        {"type": "InternalIP", "address": "nonsense"},
        {"type": "ExternalIP", "address": "203.0.113.7"},
    ]
    node = {"metadata": {"name": name}, "status": {"addresses": addresses}}
    cluster.api().post("/api/v1/nodes", node)
    try:
        await admin.warned(about=f"the address 203.0.113.7 of node {name}")
    finally:
        cluster.remove_node(name)


@pytest.mark.usefixtures("operator")
async def test_n6_an_unknown_setting_is_told(admin: Admin) -> None:
    body = {"metadata": {"name": "instance-isolation-cidrs"}, "spec": {"value": PODS}}
    await admin.own.create(names.SETTING, body)
    accepted = condition(await admin.told("instance-isolation-cidrs"), "Accepted")

    assert ("False", "UnknownSetting") == (accepted["status"], accepted["reason"])
    assert SETTING in accepted["message"]


async def test_n7_the_environment_seeds_the_setting_once_and_an_edit_outlives_a_restart(
    world: World, idle: WatchedOperator, admin: Admin
) -> None:
    idle.environ = {SEED: PODS}
    await idle.start()
    seeded = await admin.told()
    await world.instance(stop=True)

    assert PODS == seeded["spec"]["value"]
    await policy_says(world, isolating(PODS))

    edited = await admin.wish("10.0.0.0/8")
    idle.environ = {SEED: "172.16.0.0/12"}
    await idle.restart()
    await idle.another_pass(world)

    assert edited == await admin.told()
    await policy_says(world, isolating("10.0.0.0/8"))


async def test_n7_without_a_seed_the_setting_is_made_blank(
    operator: WatchedOperator, admin: Admin
) -> None:
    setting = await admin.told()

    assert "" == setting["spec"].get("value", "")
    assert "True" == condition(setting, "Accepted")["status"]


async def test_n7_a_deleted_setting_is_made_again(
    world: World, idle: WatchedOperator, admin: Admin
) -> None:
    idle.environ = {SEED: PODS}
    await idle.start()
    first = await admin.told()
    await world.instance(stop=True)
    policy = await policy_says(world, isolating(PODS))
    await admin.own.delete(names.SETTING, SETTING)

    async def is_back() -> bool:
        held = await admin.own.find(names.SETTING, SETTING)
        return held is not None and held["metadata"]["uid"] != first["metadata"]["uid"]

    await until(is_back)
    await idle.another_pass(world)

    assert PODS == (await admin.told())["status"]["value"]
    assert policy == await world.get(names.NETWORK_POLICY, POLICY)


async def test_n7_the_settings_of_two_operators_do_not_mix(
    world: World, neighbour: World, operator: WatchedOperator, admin: Admin
) -> None:
    await isolated(world, admin)
    elsewhere = {"metadata": {"name": SETTING}, "spec": {"value": "172.16.0.0/12"}}
    created = await neighbour.create(names.SETTING, elsewhere)
    await operator.another_pass(world)
    await operator.restart()
    await operator.another_pass(world)

    assert created == await neighbour.get(names.SETTING, SETTING)
    await policy_says(world, isolating(PODS))


async def node_address(cluster: Cluster) -> str:
    """The address of the first node."""
    addresses = cluster.api().get("/api/v1/nodes/node-0")["status"]["addresses"]
    return str(next(one["address"] for one in addresses if one["type"] == "InternalIP"))
