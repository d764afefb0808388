"""I: the Instance and its one Pod."""

import pytest

from gpustack_ctrl.api import names
from tests.integration.world import Operator, World, condition, until

pytestmark = pytest.mark.usefixtures("operator")


async def test_i1_an_instance_is_backed_by_one_pod_of_its_name(world: World) -> None:
    instance = await world.instance()
    await world.is_in_phase("Ready")

    pods = await world.list(names.POD)

    assert ["box"] == [pod["metadata"]["name"] for pod in pods]
    assert instance["metadata"]["uid"] == pods[0]["metadata"]["ownerReferences"][0]["uid"]
    assert ["main"] == [container["name"] for container in pods[0]["spec"]["containers"]]


async def test_i5_a_stop_deletes_the_pod_and_a_start_makes_a_new_one(world: World) -> None:
    await world.instance()
    first = (await world.is_in_phase("Ready"))["status"]["podUID"]

    await world.edit(stop=True)
    stopped = await world.is_in_phase("Stopped")

    assert [] == await world.list(names.POD)
    assert "True" == condition(stopped, "Stopped")["status"]

    await world.edit(stop=False)
    second = (await world.is_in_phase("Ready"))["status"]["podUID"]

    assert first != second


async def test_i5_a_changed_restarted_at_replaces_the_pod(world: World, operator: Operator) -> None:
    await world.instance(restartedAt="once")
    first = (await world.is_in_phase("Ready"))["status"]["podUID"]

    await operator.kill()
    await operator.start()
    await world.edit(restartedAt="twice")

    async def is_replaced() -> bool:
        status = (await world.get(names.INSTANCE, "box"))["status"]
        return bool(status["phase"] == "Ready" and status["podUID"] != first)

    await until(is_replaced)
