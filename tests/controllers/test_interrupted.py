"""An operator that dies at any write, before or after the server saw it, leaves no trace."""

from collections.abc import Callable
from typing import Any

import pytest

from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import ObjectKey
from tests.helpers.memory_world import KEY, SETTING, KilledError, MemoryWorld

POLICY = ObjectKey("team", names.ISOLATION_POLICY)
WEB, DNS = {"port": 80, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}
CIDRS = "10.244.0.0/16"

Story = Callable[[MemoryWorld], None]


def _lose(world: MemoryWorld) -> None:
    held = world.get(names.SERVICE)
    if held is not None:
        world.api.delete(names.SERVICE, KEY, uid=held["metadata"]["uid"])


STORIES: dict[str, tuple[str, Story]] = {
    "a start": ("", lambda world: world.make(ports=[WEB, DNS])),
    "a start under isolation": (CIDRS, lambda world: world.make(ports=[WEB])),
    "a stop": ("", lambda world: world.edit(stop=True)),
    "a restart": ("", lambda world: world.edit(restartedAt="now")),
    "isolation on": ("", lambda world: world.set(CIDRS)),
    "isolation off": (CIDRS, lambda world: world.set("")),
    "other networks": (CIDRS, lambda world: world.set("172.16.0.0/12")),
    "a lost Service": ("", _lose),
}


async def begun(story: str) -> MemoryWorld:
    """The world before the operator meets the last change of *story*."""
    cidrs, change = STORIES[story]
    world = MemoryWorld(seeds={SETTING.name: cidrs})
    if not story.startswith("a start"):
        world.make(ports=[WEB, DNS])
    await world.settle()
    change(world)
    return world


async def cut(world: MemoryWorld, *, at: int, answer_lost: bool) -> bool:
    """Run an operator that dies at write number *at*; whether it came that far."""
    world.start(kill_at=at, answer_lost=answer_lost)
    try:
        await world.settle()
    except KilledError:
        return True
    return False


def end_state(world: MemoryWorld) -> dict[str, Any]:
    """All that users see at the end; only names and times that were given anew are left out."""
    told = {
        name: value
        for name, value in world.status.items()
        if name not in ("podUID", "conditions", "startTime", "usage")
    }
    kinds = sorted(resource.kind for resource, _ in world.api.objects)
    policy = world.get(names.NETWORK_POLICY, POLICY)
    service = world.get(names.SERVICE)
    return {
        "kinds": kinds,
        "status": told,
        "conditions": [
            (held["type"], held["status"], held["reason"]) for held in world.status["conditions"]
        ],
        "policy": policy and policy["spec"],
        "ports": service and service["spec"]["ports"],
    }


@pytest.mark.parametrize("answer_lost", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("story", STORIES)
async def test_i1_a_cut_at_any_write_ends_in_the_same_state(
    story: str, *, answer_lost: bool
) -> None:
    whole = await begun(story)
    await whole.settle()
    expected = end_state(whole)

    write, came_so_far = 0, True
    while came_so_far:
        write += 1
        world = await begun(story)
        came_so_far = await cut(world, at=write, answer_lost=answer_lost)
        world.start()
        await world.settle()

        assert expected == end_state(world), f"cut at write {write}"
        assert 0 == await world.settle()

    assert write > 1


async def test_i1_there_is_never_more_than_one_pod_whichever_operator_made_it() -> None:
    world = await begun("a start")
    for write in range(1, 8):
        await cut(world, at=write, answer_lost=True)

        assert world.api.writes.count("create Pod") <= 1


async def test_s2_node_ports_survive_any_number_of_cuts() -> None:
    world = await begun("a start")
    await world.settle()
    promised = world.status["ports"]
    for write in range(1, 6):
        world.edit(stop=write % 2 == 1)
        await cut(world, at=write, answer_lost=bool(write % 2))
    world.start()
    world.edit(stop=False)
    await world.settle()

    assert promised == world.status["ports"]
    assert 1 == world.api.writes.count("create Service")
