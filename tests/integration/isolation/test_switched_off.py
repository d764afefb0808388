"""N5: what an emptied Setting collects, and what it gives back."""

import pytest

from gpustack_ctrl.api import names
from tests.integration.isolation.isolation_world import (
    MARK,
    OPEN,
    PODS,
    POLICY,
    REPLACED,
    Admin,
    annotations_of,
    isolated,
    isolating,
    labels_of,
    no_policy,
    policy_says,
    write_by_hand,
)
from tests.integration.isolation.watched_operator import WatchedOperator
from tests.integration.world import Wire, World, until

KINDS_OF_RULES: dict[str, Wire] = {
    "open": OPEN,
    "closed": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
    "selective": {
        "podSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a"]}]},
        "policyTypes": ["Egress"],
        "egress": [
            {"ports": [{"protocol": "TCP", "port": 443, "endPort": 500}]},
            {"to": [{"ipBlock": {"cidr": "192.0.2.0/24", "except": ["192.0.2.8/29"]}}]},
        ],
    },
}


@pytest.mark.usefixtures("operator")
async def test_n5_an_emptied_setting_collects_what_the_operator_rendered(
    world: World, neighbour: World, admin: Admin
) -> None:
    await admin.wish(PODS)
    for place in (world, neighbour):
        await place.instance(stop=True)
        await policy_says(place, isolating(PODS))

    await admin.wish("")

    await no_policy(world)
    await no_policy(neighbour)


@pytest.mark.parametrize("edit", [{"spec": OPEN}, {"spec": {"egress": None}}])
async def test_n5_an_emptied_setting_collects_also_what_was_edited_by_hand(
    world: World, operator: WatchedOperator, admin: Admin, edit: Wire
) -> None:
    await isolated(world, admin)
    await operator.kill()
    await world.patch(names.NETWORK_POLICY, POLICY, edit)
    await admin.own.patch(names.SETTING, "instance-isolation-pod-cidrs", {"spec": {"value": ""}})
    await operator.start()

    await no_policy(world)


@pytest.mark.usefixtures("operator")
async def test_n5_a_policy_whose_mark_was_stripped_is_marked_again_and_then_collected(
    world: World, admin: Admin
) -> None:
    await isolated(world, admin)
    await world.patch(names.NETWORK_POLICY, POLICY, {"metadata": {"labels": {MARK: None}}})
    await policy_says(world, isolating(PODS))

    assert {} == annotations_of(await world.get(names.NETWORK_POLICY, POLICY))

    await admin.wish("")

    await no_policy(world)


@pytest.mark.parametrize("rules", KINDS_OF_RULES)
async def test_n5_a_hand_written_policy_is_taken_over_and_given_back_exactly(
    world: World, operator: WatchedOperator, admin: Admin, rules: str
) -> None:
    mine = {"labels": {"team": "a"}, "annotations": {"note": "keep out"}}
    written = await write_by_hand(world, KINDS_OF_RULES[rules], **mine)
    await world.instance(stop=True)

    await admin.wish(PODS)
    await policy_says(world, isolating(PODS))
    await operator.restart()
    await admin.wish("10.0.0.0/8")
    await policy_says(world, isolating("10.0.0.0/8"))
    await admin.wish("")

    assert authored(written) == authored(await given_back(world))


@pytest.mark.usefixtures("operator")
async def test_n5_also_a_label_of_the_operators_own_key_is_given_back(
    world: World, admin: Admin
) -> None:
    written = await write_by_hand(world, OPEN, labels={MARK: "somebody"})
    await world.instance(stop=True)
    await admin.wish(PODS)
    await policy_says(world, isolating(PODS))
    await admin.wish("")

    async def is_back() -> bool:
        held = await world.get(names.NETWORK_POLICY, POLICY)
        return authored(written) == authored(held)

    await until(is_back)


@pytest.mark.usefixtures("operator")
async def test_n5_a_policy_written_while_isolation_is_on_is_taken_over_too(
    world: World, admin: Admin
) -> None:
    await admin.wish(PODS)
    written = await write_by_hand(world, OPEN)
    await world.instance(stop=True)
    await policy_says(world, isolating(PODS))
    await admin.wish("")

    assert authored(written) == authored(await given_back(world))


@pytest.mark.usefixtures("operator")
async def test_n5_what_was_taken_over_and_edited_is_rewritten_and_what_it_said_first_given_back(
    world: World, admin: Admin
) -> None:
    written = await write_by_hand(world, OPEN)
    await world.instance(stop=True)
    await admin.wish(PODS)
    await policy_says(world, isolating(PODS))
    for edit in ({"spec": KINDS_OF_RULES["closed"]}, {"metadata": {"labels": {MARK: None}}}):
        await world.patch(names.NETWORK_POLICY, POLICY, edit)
        await policy_says(world, isolating(PODS))
    await admin.wish("")

    assert authored(written) == authored(await given_back(world))


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize("garbage", ["{", "null", "[]", '"open"'])
async def test_n5_a_policy_whose_memory_was_garbled_is_let_go_as_it_stands(
    world: World, admin: Admin, garbage: str
) -> None:
    await write_by_hand(world, OPEN)
    await world.instance(stop=True)
    await admin.wish(PODS)
    await policy_says(world, isolating(PODS))
    garbled = {"metadata": {"annotations": {REPLACED: garbage}}}
    await world.patch(names.NETWORK_POLICY, POLICY, garbled)
    await admin.wish("")

    assert isolating(PODS) == (await given_back(world))["spec"]


@pytest.mark.usefixtures("operator")
async def test_n5_a_policy_too_large_to_be_kept_does_not_keep_isolation_off(
    world: World, admin: Admin
) -> None:
    peers = [{"ipBlock": {"cidr": f"10.{n // 256}.{n % 256}.0/24"}} for n in range(10_000)]
    await write_by_hand(world, {**OPEN, "ingress": [{"from": [{"podSelector": {}}, *peers]}]})
    await world.instance(stop=True)
    await admin.wish(PODS)

    await policy_says(world, isolating(PODS))


async def test_n5_without_a_setting_a_hand_written_policy_is_never_touched(
    world: World, operator: WatchedOperator, admin: Admin
) -> None:
    await admin.wish("")
    written = await write_by_hand(world, isolating(PODS))
    await world.instance()
    await world.is_in_phase("Ready")
    await operator.another_pass(world)
    await operator.restart()
    await operator.another_pass(world)
    await world.delete(names.INSTANCE, "box")
    await world.gone(names.INSTANCE, "box")

    assert written == await world.get(names.NETWORK_POLICY, POLICY)


async def test_n5_a_hand_written_policy_where_no_instance_is_is_never_touched(
    world: World, neighbour: World, operator: WatchedOperator, admin: Admin
) -> None:
    written = await write_by_hand(neighbour, OPEN)
    await isolated(world, admin)
    await operator.restart()
    await operator.another_pass(world)
    await admin.wish("")
    await no_policy(world)

    assert written == await neighbour.get(names.NETWORK_POLICY, POLICY)


async def given_back(world: World) -> Wire:
    """The policy, once it bears no mark of ours."""

    async def read() -> Wire | None:
        held = await world.get(names.NETWORK_POLICY, POLICY)
        return None if MARK in labels_of(held) or REPLACED in annotations_of(held) else held

    return await until(read)


def authored(policy: Wire) -> Wire:
    """What of *policy* its author wrote."""
    uid = policy["metadata"]["uid"]
    marks = {"labels": labels_of(policy), "annotations": annotations_of(policy)}
    return {"uid": uid, "spec": policy["spec"], **marks}
