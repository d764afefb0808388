"""S: the Service of an Instance, and node ports that stay."""

from typing import Any

import pytest

from gpustack_ctrl.api import names
from tests.integration.world import Operator, Wire, World, condition, node_ports, until

pytestmark = pytest.mark.usefixtures("operator")

WEB = {"port": 8080}
DNS_TCP = {"port": 53}
DNS_UDP = {"port": 53, "protocol": "UDP"}


async def running(world: World, *ports: Wire) -> Wire:
    """An Instance with *ports*, Ready."""
    await world.instance(ports=list(ports))
    return await world.is_in_phase("Ready")


async def restarted(world: World, **spec: Any) -> Wire:
    """The Instance after a stop, an edit and a start."""
    await world.edit(stop=True)
    await world.is_in_phase("Stopped")
    await world.edit(**spec)
    await world.edit(stop=False)
    return await world.is_in_phase("Ready")


async def test_s1_ports_are_reached_through_a_node_port_service_of_the_same_name(
    world: World,
) -> None:
    instance = await running(world, WEB, DNS_TCP, DNS_UDP)
    service = await world.get(names.SERVICE, "box")

    allocated = {
        (port["port"], port["protocol"]): port["nodePort"] for port in service["spec"]["ports"]
    }

    assert "NodePort" == service["spec"]["type"]
    assert {(8080, "TCP"), (53, "TCP"), (53, "UDP")} == set(allocated)
    assert allocated == node_ports(instance)
    assert ["tcp-53", "tcp-8080", "udp-53"] == sorted(
        port["name"] for port in service["spec"]["ports"]
    )


async def test_s2_a_stop_keeps_the_service_and_a_start_reports_the_same_node_ports(
    world: World,
) -> None:
    before = await running(world, WEB, DNS_UDP)
    uid = (await world.get(names.SERVICE, "box"))["metadata"]["uid"]

    await world.edit(stop=True)
    stopped = await world.is_in_phase("Stopped")

    assert node_ports(before) == node_ports(stopped)
    assert uid == (await world.get(names.SERVICE, "box"))["metadata"]["uid"]

    await world.edit(stop=False)
    after = await world.is_in_phase("Ready")

    assert node_ports(before) == node_ports(after)
    assert uid == (await world.get(names.SERVICE, "box"))["metadata"]["uid"]


async def test_s3_the_service_is_owned_by_the_instance_and_selects_by_its_uid(
    world: World,
) -> None:
    instance = await running(world, WEB)
    service = await world.get(names.SERVICE, "box")
    pod = await world.get(names.POD, "box")
    uid = instance["metadata"]["uid"]

    assert {"app.kubernetes.io/part-of": uid} == service["spec"]["selector"]
    assert uid == pod["metadata"]["labels"]["app.kubernetes.io/part-of"]
    assert [("Instance", uid)] == [
        (owner["kind"], owner["uid"]) for owner in service["metadata"]["ownerReferences"]
    ]


async def test_s4_ports_edited_while_stopped_take_effect_at_the_next_start(world: World) -> None:
    before = node_ports(await running(world, WEB, DNS_TCP))
    await world.edit(stop=True)
    await world.is_in_phase("Stopped")
    await world.edit(ports=[DNS_UDP, {"port": 8080, "name": "renamed"}])
    await world.is_in_phase("Stopped")
    untouched = await world.get(names.SERVICE, "box")

    assert {(8080, "TCP"), (53, "TCP")} == {
        (port["port"], port["protocol"]) for port in untouched["spec"]["ports"]
    }

    await world.edit(stop=False)
    after = node_ports(await world.is_in_phase("Ready"))

    assert {(8080, "TCP"), (53, "UDP")} == set(after)
    assert before[8080, "TCP"] == after[8080, "TCP"]


async def test_s4_clearing_the_ports_deletes_the_service_at_the_next_start(world: World) -> None:
    await running(world, WEB)
    cleared = await restarted(world, ports=[])

    assert {} == node_ports(cleared)
    await world.gone(names.SERVICE, "box")


async def test_s5_a_deleted_service_comes_back_with_the_same_node_ports(world: World) -> None:
    before = node_ports(await running(world, WEB, DNS_UDP))
    old = (await world.get(names.SERVICE, "box"))["metadata"]["uid"]

    await world.delete(names.SERVICE, "box")

    async def is_back() -> Wire | None:
        service = await world.find(names.SERVICE, "box")
        return service if service and service["metadata"]["uid"] != old else None

    service = await until(is_back)

    assert before == {
        (port["port"], port["protocol"]): port["nodePort"] for port in service["spec"]["ports"]
    }


async def test_s5_a_node_port_that_was_taken_meanwhile_is_named_with_its_holder(
    world: World, operator: Operator
) -> None:
    port = node_ports(await running(world, WEB))[8080, "TCP"]
    await operator.kill()
    await world.delete(names.SERVICE, "box")
    await world.gone(names.SERVICE, "box")
    thief = {"type": "NodePort", "ports": [{"port": 1, "nodePort": port}]}
    await world.create(names.SERVICE, {"metadata": {"name": "thief"}, "spec": thief})
    await operator.start()

    told = await world.tells("PortsReady", "False", "NodePortTaken")

    assert f"{port} by Service {world.namespace}/thief" in told["message"]
    assert "NodePortTaken" == (await world.tells("Ready", "False"))["reason"]

    await world.delete(names.SERVICE, "thief")
    after = await world.is_in_phase("Ready")

    assert {(8080, "TCP"): port} == node_ports(after)


@pytest.mark.parametrize("stop", [False, True])
async def test_s6_a_foreign_service_of_the_same_name_is_never_touched(
    world: World, *, stop: bool
) -> None:
    spec = {"ports": [{"port": 9}], "selector": {"app": "other"}}
    foreign = await world.create(names.SERVICE, {"metadata": {"name": "box"}, "spec": spec})
    await world.instance(ports=[WEB])
    told = await world.tells("NameConflict", "True", "ServiceNotOurs")

    assert f"Service {world.namespace}/box is without an owner" in told["message"]
    assert f"kubectl delete service box -n {world.namespace}" in told["message"]
    if stop:
        await restarted_with_conflict(world)
    await world.delete(names.INSTANCE, "box")
    await world.gone(names.INSTANCE, "box")

    assert foreign == await world.get(names.SERVICE, "box")


async def restarted_with_conflict(world: World) -> None:
    """Stop, clear the ports, start."""
    await world.edit(stop=True)
    await world.is_in_phase("Stopped")
    await world.edit(ports=[], stop=False)
    cleared = await world.is_in_phase("Ready")
    assert "" == condition(cleared, "NameConflict")["status"]


async def test_a_service_edited_by_hand_is_put_right(world: World) -> None:
    before = node_ports(await running(world, WEB))
    port = before[8080, "TCP"]
    spec = {
        "type": "ClusterIP",
        "selector": {"app": "other"},
        "ports": [{"port": 1, "targetPort": 2}],
    }
    await world.patch(names.SERVICE, "box", {"spec": spec, "metadata": {"ownerReferences": []}})
    uid = (await world.get(names.INSTANCE, "box"))["metadata"]["uid"]

    async def is_right() -> bool:
        service = await world.get(names.SERVICE, "box")
        wanted = {"port": 8080, "targetPort": 8080, "nodePort": port}
        return (
            service["spec"]["selector"] == {"app.kubernetes.io/part-of": uid}
            and [one for one in service["spec"]["ports"] if one.items() >= wanted.items()] != []
            and len(service["spec"]["ports"]) == 1
        )

    await until(is_right)


async def test_a_service_that_an_older_generation_gave_to_the_pod_is_adopted_before_the_pod_goes(
    world: World, operator: Operator
) -> None:
    before = node_ports(await running(world, WEB))
    pod = await world.get(names.POD, "box")
    await operator.kill()
    owner = {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": "box",
        "uid": pod["metadata"]["uid"],
        "controller": True,
    }
    wide = {
        "metadata": {"ownerReferences": [owner]},
        "spec": {"selector": pod["metadata"]["labels"]},
    }
    await world.patch(names.SERVICE, "box", wide)
    uid = (await world.get(names.SERVICE, "box"))["metadata"]["uid"]
    await world.edit(stop=True)
    await operator.start()
    await world.is_in_phase("Stopped")
    await world.edit(stop=False)
    after = await world.is_in_phase("Ready")

    service = await world.get(names.SERVICE, "box")

    assert before == node_ports(after)
    assert uid == service["metadata"]["uid"]
    assert ["app.kubernetes.io/part-of"] == list(service["spec"]["selector"])
    assert ["Instance"] == [one["kind"] for one in service["metadata"]["ownerReferences"]]
