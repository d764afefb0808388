"""I1, S2, S4, S5: a hundred cycles of stop, edit and start, with accidents in between."""

import asyncio
import secrets

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from gpustack_ctrl.app.start import install_crds
from tests.integration.cycles import SHAPE, TYPES, Cycle, Life, cycles
from tests.integration.observer import observed
from tests.integration.world import CLOCK, Operator, World, client_of

LIVES = 2  # The first that is drawn is the plainest one; the second is the random one.
CYCLES = 100


@settings(
    max_examples=LIVES,
    derandomize=True,  # A failure of one run is one of the next.
    deadline=None,
    phases=(Phase.generate,),  # It takes too long to find a shorter one.
)
@given(life=st.lists(cycles, min_size=CYCLES, max_size=CYCLES))
def test_i1_s2_s4_s5_users_keep_their_node_ports_through_a_hundred_random_cycles(
    cluster: Cluster, life: list[Cycle]
) -> None:
    asyncio.run(lived(cluster, life))


async def lived(cluster: Cluster, life: list[Cycle]) -> None:
    """Go through all cycles of *life*, over one Instance in a namespace of its own."""
    name = f"cycles-{secrets.token_hex(4)}"
    cluster.add_namespace(name)
    async with client_of(str(cluster.kubeconfig)) as client:
        world = World(client.rest, name)
        await install_crds(client.rest, CLOCK)
        await with_types(world)
        operator = Operator(str(cluster.kubeconfig), name)
        async with observed(cluster, names.POD, name) as pods:
            await operator.start()
            try:
                box = Life(world, operator, pods)
                await box.begin()
                for cycle in life:
                    await box.go_through(cycle)
            finally:
                await operator.kill()
    cluster.api().delete(f"/api/v1/namespaces/{name}")


async def with_types(world: World) -> None:
    """Types that can be told from each other by their Pods."""
    for name in TYPES:
        if await world.find(names.INSTANCE_TYPE, name) is None:
            spec = {
                "manufacturer": "nvidia",
                "unitResources": {"cpu": 1, "ram": "1Gi"},
                "podAnnotations": {SHAPE: name},
            }
            await world.create(names.INSTANCE_TYPE, {"metadata": {"name": name}, "spec": spec})
