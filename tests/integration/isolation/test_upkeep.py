"""N4: the policy belongs to the namespace, and stays what the operator made it."""

from typing import Any

import pytest

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from tests.integration.isolation.isolation_world import (
    MARK,
    OPEN,
    PODS,
    POLICY,
    Admin,
    annotations_of,
    isolated,
    isolating,
    labels_of,
    no_policy,
    policy_says,
)
from tests.integration.isolation.watched_operator import WatchedOperator
from tests.integration.world import Wire, World, until

OTHER = "10.96.0.0/16"
EVERYBODY = isolating(PODS)["ingress"] + [{}]


async def test_n4_deleting_the_last_instance_leaves_the_policy(
    world: World, operator: WatchedOperator, admin: Admin
) -> None:
    await isolated(world, admin)
    begun = operator.passes.begun
    await world.delete(names.INSTANCE, "box")
    await world.gone(names.INSTANCE, "box")
    await until(lambda: passed(operator, world, after=begun))

    await policy_says(world, isolating(PODS))


@pytest.mark.usefixtures("operator")
async def test_n4_a_policy_without_an_instance_follows_the_setting(
    world: World, admin: Admin
) -> None:
    before = await isolated(world, admin)
    await world.delete(names.INSTANCE, "box")
    await world.gone(names.INSTANCE, "box")

    await admin.wish(OTHER)
    after = await policy_says(world, isolating(OTHER))

    assert before["metadata"]["uid"] == after["metadata"]["uid"]

    await admin.wish("")
    await no_policy(world)


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize(
    "edit",
    [
        {"spec": OPEN},
        {"spec": {"ingress": EVERYBODY}},
        {"spec": {"podSelector": {"matchExpressions": [{"key": "x", "operator": "Exists"}]}}},
        {"spec": {"policyTypes": ["Egress"], "ingress": None}},
        {"metadata": {"labels": {MARK: None}}},
        {"metadata": {"labels": {MARK: "somebody"}}},
    ],
    ids=["opened", "rule added", "selector", "ingress dropped", "mark stripped", "mark changed"],
)
async def test_n4_an_edit_by_hand_is_rewritten(world: World, admin: Admin, edit: Wire) -> None:
    before = await isolated(world, admin)
    edited = await world.patch(names.NETWORK_POLICY, POLICY, edit)

    assert before["metadata"]["resourceVersion"] != edited["metadata"]["resourceVersion"]

    after = await policy_says(world, isolating(PODS))

    assert before["metadata"]["uid"] == after["metadata"]["uid"]


@pytest.mark.usefixtures("operator")
async def test_n4_a_deleted_policy_comes_back(world: World, admin: Admin) -> None:
    before = await isolated(world, admin)
    await world.delete(names.NETWORK_POLICY, POLICY)

    async def is_back() -> bool:
        held = await world.find(names.NETWORK_POLICY, POLICY)
        return held is not None and held["metadata"]["uid"] != before["metadata"]["uid"]

    await until(is_back)
    await policy_says(world, isolating(PODS))


@pytest.mark.usefixtures("operator")
async def test_n4_a_policy_that_a_finalizer_keeps_from_going_is_rewritten_all_the_same(
    world: World, admin: Admin
) -> None:
    await isolated(world, admin)
    await world.patch(
        names.NETWORK_POLICY, POLICY, {"metadata": {"finalizers": ["example.com/hold"]}}
    )
    await world.delete(names.NETWORK_POLICY, POLICY)
    await world.patch(names.NETWORK_POLICY, POLICY, {"spec": OPEN})
    going = await policy_says(world, isolating(PODS))

    assert "deletionTimestamp" in going["metadata"]

    await world.patch(names.NETWORK_POLICY, POLICY, {"metadata": {"finalizers": []}})

    async def is_new() -> bool:
        held = await world.find(names.NETWORK_POLICY, POLICY)
        return held is not None and held["metadata"]["uid"] != going["metadata"]["uid"]

    await until(is_new)


async def test_n4_labels_and_annotations_of_others_are_left_alone(
    world: World, operator: WatchedOperator, admin: Admin
) -> None:
    await isolated(world, admin)
    mine: dict[str, Any] = {"labels": {"team": "a"}, "annotations": {"note": "b"}}
    edited = await world.patch(names.NETWORK_POLICY, POLICY, {"metadata": mine})
    await operator.another_pass(world)
    held = await world.get(names.NETWORK_POLICY, POLICY)

    assert edited == held
    assert {"team": "a", MARK: "gpustack-ctrl"} == labels_of(held)
    assert {"note": "b"} == annotations_of(held)


async def test_n4_a_namespace_that_goes_away_makes_neither_errors_nor_retries(
    cluster: Cluster, world: World, operator: WatchedOperator, admin: Admin
) -> None:
    await isolated(world, admin)
    refused = await admin.writes("POST", code=403)
    begun = operator.passes.begun
    await world.patch(names.INSTANCE, "box", {"metadata": {"finalizers": ["example.com/hold"]}})
    cluster.api().delete(f"/api/v1/namespaces/{world.namespace}")
    await no_policy(world)
    await until(lambda: passed(operator, world, after=begun))
    await admin.wish(OTHER)
    await operator.another_pass(world)
    await world.patch(names.INSTANCE, "box", {"metadata": {"finalizers": []}})
    await world.gone(names.INSTANCE, "box")

    assert refused < await admin.writes("POST", code=403)
    assert {None} == {held.error for held in operator.passes.about(world.namespace)}


async def passed(operator: WatchedOperator, world: World, *, after: int) -> bool:
    """Whether a pass over the policy ended that began after pass number *after*."""
    return bool(operator.passes.isolation(world.namespace, after=after))
