"""N2, T1, T2: what an Instance tells of its isolation, and that Ready waits for it."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from tests.integration.isolation.isolation_world import (
    PODS,
    POLICY,
    Admin,
    forbid_policies,
)
from tests.integration.isolation.watched_operator import WatchedOperator
from tests.integration.observer import History, observed
from tests.integration.world import World, condition

ELSEWHERE = "10.96.0.0/16"


@pytest_asyncio.fixture
async def instances(cluster: Cluster, world: World) -> AsyncIterator[History]:
    """All states of the Instances of this test."""
    async with observed(cluster, names.INSTANCE, world.namespace) as history:
        yield history


@pytest.mark.usefixtures("operator")
async def test_t2_where_isolation_is_not_asked_for_ready_does_not_wait_for_it(
    world: World, admin: Admin
) -> None:
    await admin.wish("")
    await world.instance()
    ready = await world.is_in_phase("Ready")
    isolated = condition(ready, "NetworkIsolated")

    assert ("False", "NotAskedFor") == (isolated["status"], isolated["reason"])
    assert "True" == condition(ready, "Ready")["status"]


@pytest.mark.usefixtures("operator")
async def test_t2_an_instance_is_ready_once_its_policy_is_in_place(
    world: World, admin: Admin
) -> None:
    await admin.wish(PODS)
    await world.instance()
    ready = await world.is_in_phase("Ready")
    isolated = condition(ready, "NetworkIsolated")

    assert ("True", "PolicyInPlace") == (isolated["status"], isolated["reason"])
    assert ready["metadata"]["generation"] == isolated["observedGeneration"]


async def test_t2_a_running_instance_is_not_ready_while_the_policy_it_needs_is_refused(
    world: World, operator: WatchedOperator, admin: Admin
) -> None:
    await world.instance()
    await world.is_in_phase("Ready")
    quota = await forbid_policies(world)
    await admin.wish(PODS)
    await world.tells("NetworkIsolated", "False", "PolicyPending")
    pending = await world.tells("Ready", "False", "PolicyPending")

    assert POLICY in pending["message"]
    assert 1 == len(await world.list(names.POD))

    await world.instance("later")
    told = await world.tells("Ready", "False", "PolicyRefused", name="later")

    assert "exceeded quota" in told["message"]
    assert 1 == len(await world.list(names.POD))

    await quota.lift()
    await world.tells("NetworkIsolated", "True", "PolicyInPlace")
    await world.is_in_phase("Ready")


@pytest.mark.usefixtures("operator")
async def test_t2_a_pod_outside_the_cidrs_is_told_with_its_address_and_is_not_ready(
    world: World, admin: Admin
) -> None:
    await admin.wish(ELSEWHERE)
    await world.instance()
    told = await world.tells("NetworkIsolated", "False", "PodIPOutsideConfiguredCIDRs")
    ready = await world.tells("Ready", "False", "PodIPOutsideConfiguredCIDRs")
    pod = await world.get(names.POD, "box")

    assert f"the Pod has address {pod['status']['podIP']}" in told["message"]
    assert told["message"] == ready["message"]

    await admin.wish(f"{ELSEWHERE},{PODS}")
    await world.tells("NetworkIsolated", "True", "PolicyInPlace")
    await world.is_in_phase("Ready")


@pytest.mark.usefixtures("operator")
async def test_t1_no_instance_says_ready_before_the_policy_is_there(
    world: World, admin: Admin, instances: History, policies: History
) -> None:
    await admin.wish(PODS)
    await world.instance()
    await world.is_in_phase("Ready")
    states = (await instances.caught_up()).states
    made = (await policies.caught_up()).states[0]
    said = next(state for state in states if "True" == condition(state, "Ready")["status"])

    assert version(made) < version(said)


@pytest.mark.usefixtures("operator")
async def test_t1_switching_isolation_off_is_told(world: World, admin: Admin) -> None:
    await admin.wish(PODS)
    await world.instance()
    await world.is_in_phase("Ready")
    await admin.wish("")

    await world.tells("NetworkIsolated", "False", "NotAskedFor")
    await world.tells("Ready", "True")


def version(state: dict[str, dict[str, str]]) -> int:
    """The resource version of an object, which orders all of the cluster."""
    return int(state["metadata"]["resourceVersion"])
