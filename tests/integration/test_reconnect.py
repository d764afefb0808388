"""I1, I5: connections break and API servers restart; the operator goes on where it was."""

from pathlib import Path

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from tests.integration.conftest import Log
from tests.integration.observer import History
from tests.integration.proxy import Proxy
from tests.integration.second_api_server import second_api_server
from tests.integration.world import Operator, World, node_ports

LONGEST_SILENCE = 90.0
"""A reflector that failed a few times waits for up to a minute, as client-go's does."""

WEB = [{"port": 8080}]


async def test_i5_an_operator_whose_connections_are_cut_goes_on_and_repeats_nothing(
    world: World, proxy: Proxy, operator_namespace: str, pods: History, logs: list[Log]
) -> None:
    operator = Operator(str(proxy.kubeconfig), operator_namespace)
    await operator.start()
    await world.instance(ports=WEB)
    before = await world.is_in_phase("Ready")
    for stop, phase in ((True, "Stopped"), (False, "Ready")):
        proxy.cut()
        await world.edit(stop=stop)
        after = await world.is_in_phase(phase)
        assert node_ports(before) == node_ports(after)
    await operator.kill()

    assert 1 == proxy.count("POST", names.SERVICE, namespace=world.namespace)
    assert 2 == proxy.count("POST", names.POD, namespace=world.namespace)
    assert 2 == len((await pods.caught_up()).made)
    assert 1 == pods.most_at_once


async def test_i5_an_operator_outlives_its_api_server_and_learns_what_it_missed(
    cluster: Cluster,
    world: World,
    tmp_path: Path,
    pods: History,
    services: History,
    logs: list[Log],
) -> None:
    async with second_api_server(cluster, tmp_path) as server:
        operator = Operator(str(server.kubeconfig), world.namespace)
        await operator.start()
        await world.instance(ports=WEB)
        await world.instance("untouched", ports=WEB)
        before = await world.is_in_phase("Ready")
        untouched = await world.is_in_phase("Ready", "untouched")

        await server.kill()
        await world.edit(stop=True)
        await server.start()
        await world.is_in_phase("Stopped", seconds=LONGEST_SILENCE)
        await world.edit(stop=False)
        after = await world.is_in_phase("Ready")
        await operator.kill()

    assert node_ports(before) == node_ports(after)
    assert untouched == await world.get(names.INSTANCE, "untouched")
    assert 3 == len((await pods.caught_up()).made)
    assert 2 == len((await services.caught_up()).uids)
