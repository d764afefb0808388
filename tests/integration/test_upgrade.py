"""S3, T5: what an older generation of operators left behind.

It gave the Service to the Pod, and the Pod neither our labels nor our annotations.
"""

from typing import Any

import pytest
import pytest_asyncio

from gpustack_ctrl.api import names
from tests.integration.observer import History
from tests.integration.proxy import Fate, Proxy, passes
from tests.integration.world import Operator, Wire, World, node_ports, until

LABELS = {"app": "box", "generation": "old"}
PORTS = [{"port": 8080, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]


def owned_by(owner: Wire, resource: Any) -> list[Wire]:
    reference = {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return [reference]


async def left_behind(world: World, **spec: Any) -> Wire:
    """An Instance as the older generation left it, and nobody at work; its node ports."""
    instance = await world.instance(ports=PORTS, **spec)
    meta = {"name": "box", "labels": LABELS, "ownerReferences": owned_by(instance, names.INSTANCE)}
    container = {"name": "main", "image": "workload:1"}
    pod = await world.create(names.POD, {"metadata": meta, "spec": {"containers": [container]}})
    meta = {"name": "box", "ownerReferences": owned_by(pod, names.POD)}
    ports = [{**port, "name": f"p{port['port']}"} for port in PORTS]
    wide = {"type": "NodePort", "selector": LABELS, "ports": ports}
    service = await world.create(names.SERVICE, {"metadata": meta, "spec": wide})
    told = [
        {"port": port["port"], "protocol": port["protocol"], "nodePort": port["nodePort"]}
        for port in service["spec"]["ports"]
    ]
    status = {"status": {"ports": told}}
    await world.rest.merge_patch(names.INSTANCE, world.key("box", names.INSTANCE), status, "status")
    return await world.get(names.INSTANCE, "box")


async def is_ours(world: World) -> Wire:
    """The Service, once the Instance owns it and it selects by the Instance's UID."""
    uid = (await world.get(names.INSTANCE, "box"))["metadata"]["uid"]

    async def read() -> Wire | None:
        service = await world.find(names.SERVICE, "box")
        if service is None or service["spec"]["selector"] != {names.PART_OF: uid}:
            return None
        owners = [owner["uid"] for owner in service["metadata"]["ownerReferences"]]
        return service if [uid] == owners else None

    return await until(read)


async def replaced(world: World, pod: Wire) -> Wire:
    """The Instance, once it is Ready by another Pod than *pod*."""

    async def read() -> Wire | None:
        held = await world.is_in_phase("Ready")
        return held if held["status"]["podUID"] != pod["metadata"]["uid"] else None

    return await until(read)


@pytest_asyncio.fixture
async def upgraded(operator: Operator) -> Operator:
    """The new operator, not at work yet."""
    await operator.kill()
    return operator


@pytest.mark.parametrize("asked", ["", "before the upgrade"])
async def test_t5_a_pod_of_an_older_generation_is_not_restarted_by_the_upgrade(
    world: World, upgraded: Operator, pods: History, *, asked: str
) -> None:
    before = await left_behind(world, restartedAt=asked)
    await upgraded.start()

    pending = await world.tells("RestartPending", "True", "IntentChanged")
    after = await world.is_in_phase("Ready")
    await is_ours(world)

    assert "restartedAt" in pending["message"]
    assert node_ports(before) == node_ports(after)
    assert (after["status"]["podUID"],) == (await pods.caught_up()).made


async def test_s3_the_service_of_an_older_generation_changes_hands_before_a_restart(
    world: World, upgraded: Operator, services: History, pods: History
) -> None:
    before = await left_behind(world, restartedAt="before the upgrade")
    pod = await world.get(names.POD, "box")
    await upgraded.start()
    await world.is_in_phase("Ready")
    await world.edit(restartedAt="after the upgrade")
    after = await replaced(world, pod)

    assert node_ports(before) == node_ports(after)
    assert 1 == len((await services.caught_up()).uids)
    assert 2 == len((await pods.caught_up()).made)
    assert 1 == pods.most_at_once


async def test_s3_the_service_changes_hands_also_when_the_restart_was_asked_for_before(
    world: World, upgraded: Operator, services: History
) -> None:
    before = await left_behind(world)
    await world.edit(stop=True)
    await upgraded.start()
    after = await world.is_in_phase("Stopped")
    await is_ours(world)

    assert node_ports(before) == node_ports(after)
    assert 1 == len((await services.caught_up()).uids)


async def test_s3_a_pod_stays_for_as_long_as_its_service_cannot_change_hands(
    world: World, upgraded: Operator, proxy: Proxy, services: History
) -> None:
    before = await left_behind(world)
    await world.edit(stop=True)
    of_service = names.SERVICE.path(world.key("box", names.SERVICE))
    proxy.judge = lambda call: (
        Fate.BROKEN if call.writes and call.path == of_service else Fate.PASSES
    )
    upgraded.kubeconfig = str(proxy.kubeconfig)
    await upgraded.start()

    async def was_tried_again() -> bool:
        return proxy.count("PATCH", names.SERVICE, namespace=world.namespace) > 2

    await until(was_tried_again)
    assert "deletionTimestamp" not in (await world.get(names.POD, "box"))["metadata"]

    proxy.judge = passes
    after = await world.is_in_phase("Stopped")

    assert node_ports(before) == node_ports(after)
    assert 1 == len((await services.caught_up()).uids)


@pytest.mark.parametrize("late", [False, True], ids=["at once", "late"])
async def test_s5_node_ports_outlive_a_pod_that_took_its_service_along(
    world: World, upgraded: Operator, *, late: bool
) -> None:
    before = await left_behind(world)
    await world.delete(names.POD, "box")
    await world.gone(names.POD, "box")
    if late:
        await world.gone(names.SERVICE, "box")
    await upgraded.start()
    after = await world.is_in_phase("Ready")
    service = await is_ours(world)

    assert node_ports(before) == node_ports(after)
    assert set(node_ports(before).values()) == {p["nodePort"] for p in service["spec"]["ports"]}
