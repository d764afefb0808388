"""Single passes over the Instance of a world in memory."""

from gpustack_ctrl.runtime.reconcile import Result
from tests.helpers.memory_world import KEY, MemoryWorld


async def begun(**spec: object) -> MemoryWorld:
    """A world whose Settings are made, and an Instance that no pass has seen."""
    world = MemoryWorld()
    await world.settle()
    world.make(**spec)
    world.api.writes.clear()
    return world


async def one_pass(world: MemoryWorld) -> Result:
    """A pass with caches that are up to date."""
    world.sync()
    return await world.instances.reconcile(KEY)
