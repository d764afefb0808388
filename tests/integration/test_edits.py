"""I6, S2: what is edited while stopped, and what may not be edited while running."""

import pytest

from gpustack_ctrl.api import names
from gpustack_ctrl.api.errors import InvalidError
from tests.integration.world import Operator, World, node_ports

pytestmark = pytest.mark.usefixtures("operator")

WEB = {"port": 8080}
DNS = {"port": 53, "protocol": "UDP"}
OTHER = "test-other"


async def test_s2_a_changed_type_keeps_the_service_and_its_node_ports(
    world: World, operator: Operator
) -> None:
    await world.instance(ports=[WEB, DNS])
    before = await world.is_in_phase("Ready")
    service = await world.get(names.SERVICE, "box")
    if await world.find(names.INSTANCE_TYPE, OTHER) is None:
        spec = {"manufacturer": "nvidia", "unitResources": {"cpu": 3, "ram": "5Gi"}}
        await world.create(names.INSTANCE_TYPE, {"metadata": {"name": OTHER}, "spec": spec})

    await world.edit(stop=True)
    await world.is_in_phase("Stopped")
    await world.edit(type=OTHER, stop=False)
    after = await world.is_in_phase("Ready")
    pod = await world.get(names.POD, "box")

    assert before["status"]["podUID"] != after["status"]["podUID"]
    assert {"cpu": "3", "memory": "5Gi"}.items() <= pod["spec"]["containers"][0]["resources"][
        "limits"
    ].items()
    assert service["metadata"]["uid"] == (await world.get(names.SERVICE, "box"))["metadata"]["uid"]
    assert node_ports(before) == node_ports(after)


async def test_i6_ports_edited_while_running_are_refused_with_the_remedy(world: World) -> None:
    await world.instance(ports=[WEB])
    before = await world.is_in_phase("Ready")
    service = await world.get(names.SERVICE, "box")

    with pytest.raises(InvalidError, match=r"ports may change only .*set spec.stop to true first"):
        await world.edit(ports=[WEB, DNS])

    assert before["spec"] == (await world.get(names.INSTANCE, "box"))["spec"]
    assert service == await world.get(names.SERVICE, "box")
