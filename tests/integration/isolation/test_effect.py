"""N7: an edit takes effect by watch, and with one write for each namespace."""

import asyncio
from collections.abc import Callable

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from tests.integration.isolation.isolation_world import (
    PODS,
    SETTING,
    Admin,
    isolated,
    isolating,
    no_policy,
)
from tests.integration.isolation.watched_operator import StoppableClock, WatchedOperator
from tests.integration.observer import History
from tests.integration.world import CLOCK, Wire, World, until

EDITS = 20
NAMESPACES = 50


async def test_n7_an_edit_takes_effect_while_every_timer_of_the_operator_stands_still(
    world: World,
    idle: WatchedOperator,
    admin: Admin,
    policies: History,
    record_testsuite_property: Callable[[str, object], None],
) -> None:
    idle.clock = clock = StoppableClock()
    await idle.start()
    await isolated(world, admin)
    await idle.another_pass(world)
    clock.stopped = True

    took = [await edited(admin, policies, f"10.{number}.0.0/16") for number in range(EDITS)]
    await admin.wish("")
    await no_policy(world)

    record_testsuite_property("milliseconds from an edit to the policy, sorted", sorted(took))


async def test_n7_switching_on_takes_one_write_for_each_namespace(
    cluster: Cluster, world: World, operator: WatchedOperator, admin: Admin
) -> None:
    worlds = [World(world.rest, f"{world.namespace}-{number}") for number in range(NAMESPACES - 1)]
    for other in worlds:
        cluster.api().post("/api/v1/namespaces", {"metadata": {"name": other.namespace}})
    worlds.append(world)
    await asyncio.gather(*(one.instance(stop=True) for one in worlds))
    before = await writes(admin)

    await admin.wish(PODS)
    await all_say(admin, worlds, isolating(PODS))
    await admin.wish("10.0.0.0/8")
    await all_say(admin, worlds, isolating("10.0.0.0/8"))
    await admin.wish("")
    await all_say(admin, [], {})
    await asyncio.gather(*(operator.another_pass(one) for one in worlds))

    assert {} == await admin.policies()
    assert [count + NAMESPACES for count in before] == await writes(admin)


async def all_say(admin: Admin, worlds: list[World], spec: Wire) -> None:
    """Return once each of *worlds*, and no other namespace, has a policy that says *spec*."""
    wanted = {one.namespace: spec for one in worlds}

    async def is_so() -> bool:
        held = await admin.policies()
        return wanted == {namespace: policy["spec"] for namespace, policy in held.items()}

    await until(is_so)


async def edited(admin: Admin, policies: History, cidr: str) -> int:
    """Milliseconds until an independent watch saw the policy that the edit asks for."""

    async def is_seen() -> bool:
        return bool(policies.states) and isolating(cidr) == policies.states[-1]["spec"]

    begun = CLOCK.monotonic()
    await admin.own.patch(names.SETTING, SETTING, {"spec": {"value": cidr}})
    await until(is_seen)
    return round(1000 * (CLOCK.monotonic() - begun))


async def writes(admin: Admin) -> list[int]:
    """How many policies were created, changed and deleted, to this moment."""
    codes = {"POST": 201, "PATCH": 200, "DELETE": 200}
    return [await admin.writes(verb, code=code) for verb, code in codes.items()]
