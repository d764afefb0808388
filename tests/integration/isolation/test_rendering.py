"""N1, N2: whether there is a policy, where, when, and what it says."""

import pytest

from gpustack_ctrl.api import names
from tests.integration.isolation.isolation_world import (
    MARK,
    PODS,
    POLICY,
    Admin,
    annotations_of,
    forbid_policies,
    isolating,
    isolating_both,
    isolating_v6,
    labels_of,
    policy_says,
)
from tests.integration.isolation.watched_operator import WatchedOperator
from tests.integration.observer import History
from tests.integration.world import Wire, World

FORTY = [f"10.{number}.0.0/16" for number in range(0, 80, 2)]


@pytest.mark.parametrize("value", ["", "   "])
async def test_n1_a_blank_setting_renders_no_policy(
    world: World, operator: WatchedOperator, admin: Admin, value: str
) -> None:
    await admin.wish(value)
    await world.instance()
    await world.is_in_phase("Ready")
    await operator.another_pass(world)

    assert {} == await admin.policies()


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize(
    ("value", "spec"),
    [
        ("10.244.0.0/16", isolating("10.244.0.0/16")),
        ("FD00:10:244::/48", isolating_v6("fd00:10:244::/48")),
        ("10.244.5.7/16, FD00::/8", isolating_both("10.244.0.0/16", "fd00::/8")),
        (
            "10.9.0.0/16,10.1.0.0/16,10.0.0.0/16,10.0.3.0/24,10.9.0.0/16",
            isolating("10.0.0.0/15", "10.9.0.0/16"),
        ),
    ],
    ids=["v4", "v6", "both", "several"],
)
async def test_n2_the_policy_has_the_exact_shape(
    world: World, admin: Admin, value: str, spec: Wire
) -> None:
    await admin.wish(value)
    await world.instance(stop=True)

    policy = await policy_says(world, spec)

    assert {MARK: "gpustack-ctrl"} == labels_of(policy)
    assert {} == annotations_of(policy)
    assert "ownerReferences" not in policy["metadata"]


async def test_n2_every_namespace_that_holds_an_instance_has_one_policy_and_no_other_has(
    world: World, neighbour: World, operator: WatchedOperator, admin: Admin
) -> None:
    await admin.wish(PODS)
    await world.instance()
    await world.instance("second")
    await neighbour.instance(stop=True)
    await policy_says(world, isolating(PODS))
    await policy_says(neighbour, isolating(PODS))
    await operator.another_pass(world)

    assert {world.namespace, neighbour.namespace} == set(await admin.policies())


@pytest.mark.usefixtures("operator")
async def test_n2_the_policy_is_there_before_the_first_pod(
    world: World, admin: Admin, policies: History, pods: History
) -> None:
    await admin.wish(PODS)
    for number in range(5):
        await world.instance(f"box-{number}")
    for number in range(5):
        await world.is_in_phase("Ready", f"box-{number}")

    first, *others = await created(policies, pods)

    assert POLICY == first
    assert {f"box-{number}" for number in range(5)} == set(others)


@pytest.mark.usefixtures("operator")
async def test_n2_no_pod_is_made_while_the_policy_is_refused(
    world: World, admin: Admin, policies: History, pods: History
) -> None:
    await admin.wish(PODS)
    quota = await forbid_policies(world)
    await world.instance("box-0")
    held = await world.tells("Ready", "False", "PolicyRefused", name="box-0")
    blocker = (await world.get(names.INSTANCE, "box-0"))["status"]["blocker"]

    assert POLICY in held["message"]
    assert "isolation" == blocker["gate"]
    assert [] == await world.list(names.POD)

    await quota.lift()
    await world.is_in_phase("Ready", "box-0")

    assert [POLICY, "box-0"] == await created(policies, pods)


@pytest.mark.parametrize(
    ("value", "spec"),
    [
        (PODS, isolating(PODS)),
        (",".join(FORTY), isolating(*FORTY)),
        (f"{PODS},fd00::/8", isolating_both(PODS, "fd00::/8")),
    ],
    ids=["one", "forty", "dual stack"],
)
async def test_n2_what_the_server_made_of_the_policy_is_not_written_again(
    world: World, operator: WatchedOperator, admin: Admin, value: str, spec: Wire
) -> None:
    created, patched = await writes(admin)
    await admin.wish(value)
    await world.instance("box", stop=True)
    await policy_says(world, spec)
    for _ in range(3):
        await operator.another_pass(world)
    await operator.restart()
    await operator.another_pass(world)

    assert (created + 1, patched) == await writes(admin)


async def writes(admin: Admin) -> tuple[int, int]:
    """How many policies were created, and how often one was patched, to this moment."""
    return await admin.writes("POST", code=201), await admin.writes("PATCH", code=200)


async def created(*histories: History) -> list[str]:
    """The names of what was made, in the order in which the API server made it."""
    states = [state for history in histories for state in (await history.caught_up()).states]
    states.sort(key=lambda state: int(state["metadata"]["resourceVersion"]))
    appeared = {state["metadata"]["uid"]: state["metadata"]["name"] for state in states}
    return list(appeared.values())
