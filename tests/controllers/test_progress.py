"""The progress of a start waits a little before it is told; everything else is told at once."""

from gpustack_ctrl.api import names
from gpustack_ctrl.runtime.reconcile import DONE, Result
from tests.controllers.passes import begun, one_pass
from tests.helpers.memory_world import KEY, MemoryWorld
from tests.helpers.rfc7386 import merged


def on_node(world: MemoryWorld, name: str | None) -> None:
    """The scheduler gives the Pod a node, or takes it back."""
    at = (names.POD, KEY)
    world.api.objects[at] = merged(world.api.objects[at], {"spec": {"nodeName": name}})


async def test_progress_is_told_after_a_second_and_not_before() -> None:
    world = await begun()

    assert Result(after=1.0) == await one_pass(world)
    assert ["create Pod"] == world.api.writes

    await world.clock.advance(0.75)

    assert Result(after=0.25) == await one_pass(world)

    await world.clock.advance(0.25)

    assert DONE == await one_pass(world)
    assert ["create Pod", "patch status Instance"] == world.api.writes


async def test_further_progress_waits_five_seconds_after_the_last_telling() -> None:
    world = await begun()
    await one_pass(world)
    await world.clock.advance(1)
    await one_pass(world)
    on_node(world, "node-1")

    assert Result(after=5.0) == await one_pass(world)

    await world.clock.advance(5)

    assert DONE == await one_pass(world)
    assert "Starting" == world.status["phase"]


async def test_progress_that_was_undone_does_not_hasten_the_next() -> None:
    world = await begun()
    await one_pass(world)
    await world.clock.advance(1)
    await one_pass(world)
    await world.clock.advance(30)
    on_node(world, "node-1")
    await one_pass(world)
    on_node(world, None)

    assert DONE == await one_pass(world)

    await world.clock.advance(30)
    on_node(world, "node-2")

    assert Result(after=1.0) == await one_pass(world)


async def test_an_instance_that_is_gone_is_forgotten_by_all_that_remember() -> None:
    world = await begun()
    await one_pass(world)
    del world.api.objects[names.INSTANCE, KEY]

    assert DONE == await one_pass(world)
    assert 0 == len(world.actor.freshness)


async def test_a_namesake_is_not_put_off_by_what_was_written_for_the_one_before() -> None:
    world = await begun()
    await one_pass(world)
    del world.api.objects[names.INSTANCE, KEY]
    del world.api.objects[names.POD, KEY]
    world.make()

    await one_pass(world)

    assert 2 == world.api.writes.count("create Pod")
