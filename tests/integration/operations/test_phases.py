"""T2: each phase, brought about by what brings it about in real life."""

import asyncio

import pytest

from e2e.cluster import Cluster, Fault
from e2e.cluster.api import STRATEGIC_PATCH
from gpustack_ctrl.api import names
from tests.integration.operations.admission import Admission
from tests.integration.operations.conftest import Maker
from tests.integration.world import Wire, World, condition

pytestmark = pytest.mark.usefixtures("operator")

HOLD = "gpustack-ctrl.test/hold"
GATE = "kueue.x-k8s.io/admission"
GATED = f"""
    spec: Object.spec{{
      schedulingGates: [Object.spec.schedulingGates{{name: "{GATE}"}}]
    }}
"""


def reasons(instance: Wire) -> tuple[str, str]:
    """Why *instance* is not Ready, and what its Pod waits for at the scheduler."""
    return condition(instance, "Ready")["reason"], condition(instance, "PodScheduled")["reason"]


async def test_t2_pending_while_no_node_has_room(world: World) -> None:
    await world.instance(resources={"accelerator": 99})
    held = await world.is_in_phase("Pending")

    assert "False" == condition(held, "Ready")["status"]
    assert "nodeName" not in held["status"]


async def test_t2_queued_until_the_queue_lifts_its_gate(
    world: World, admission: Admission, offer: Maker
) -> None:
    """As Kueue does it: by the label that the type asks for, a gate at creation, lifted later."""
    await admission.apply(GATED, seen=lambda pod: pod["spec"].get("schedulingGates"))
    await world.instance(type=await offer(queueName="team-queue"))
    held = await world.is_in_phase("Queued")
    pod = await world.get(names.POD, "box")

    assert "team-queue" == pod["metadata"]["labels"][names.QUEUE_NAME]
    assert ("SchedulingGated", "SchedulingGated") == reasons(held)
    assert "queue" == held["status"]["blocker"]["gate"]
    assert GATE in held["status"]["blocker"]["message"]

    await world.patch(names.POD, "box", {"spec": {"schedulingGates": None}})
    ready = await world.is_in_phase("Ready")

    assert pod["metadata"]["uid"] == ready["status"]["podUID"]
    assert "blocker" not in ready["status"]


async def test_t2_starting_while_the_image_is_pulled(
    world: World, cluster: Cluster, node: str, offer: Maker
) -> None:
    slow = Fault.SLOW_IMAGE_PULL.lasting("1h")
    await asyncio.to_thread(cluster.set_fault, node, slow)
    await world.instance(type=await offer(nodeSelector={"only": node}))
    held = await world.is_in_phase("Starting")

    assert ("Starting", "Scheduled") == reasons(held)
    assert node == held["status"]["nodeName"]


async def test_t2_stopping_until_the_pod_is_gone_then_stopped(world: World) -> None:
    await world.instance(ports=[{"port": 8080}])
    await world.is_in_phase("Ready")
    await world.patch(names.POD, "box", {"metadata": {"finalizers": [HOLD]}})
    await world.edit(stop=True)
    held = await world.is_in_phase("Stopping")

    assert ("Stopping", "Scheduled") == reasons(held)
    assert ("False", "Stopping") == (
        condition(held, "Stopped")["status"],
        condition(held, "Stopped")["reason"],
    )

    await world.patch(names.POD, "box", {"metadata": {"finalizers": None}})
    held = await world.is_in_phase("Stopped")

    assert ("Stopped", "NoPod") == reasons(held)
    assert "podUID" not in held["status"]


async def test_t2_failed_when_the_pod_ended_for_good(world: World) -> None:
    await world.instance()
    await world.is_in_phase("Ready")
    over = {"phase": "Failed", "reason": "Evicted", "message": "The node was low on memory."}
    await world.rest.merge_patch(names.POD, world.key("box", names.POD), {"status": over}, "status")
    held = await world.is_in_phase("Failed")

    assert "Evicted" == condition(held, "Ready")["reason"]
    assert "low on memory" in held["status"]["message"]


async def test_t2_deleting_while_somebody_holds_the_instance(world: World) -> None:
    """No finalizer is ours, but others may have put one there."""
    await world.create(
        names.INSTANCE,
        {
            "metadata": {"name": "box", "finalizers": [HOLD]},
            "spec": {"type": "missing", "image": "workload:1"},
        },
    )
    await world.is_in_phase("Pending")
    await world.delete(names.INSTANCE, "box")
    held = await world.is_in_phase("Deleting")

    assert "Deleting" == condition(held, "Ready")["reason"]

    await world.patch(names.INSTANCE, "box", {"metadata": {"finalizers": None}})
    await world.gone(names.INSTANCE, "box")


async def test_t2_unknown_while_the_node_does_not_answer(
    world: World, cluster: Cluster, node: str, offer: Maker
) -> None:
    await world.instance(type=await offer(nodeSelector={"only": node}))
    before = await world.is_in_phase("Ready")
    await asyncio.to_thread(cluster.lose_node, node)
    held = await world.is_in_phase("Unknown")

    assert ("Unknown", "NodeLost") == (
        condition(held, "Ready")["status"],
        condition(held, "Ready")["reason"],
    )
    assert node in condition(held, "Ready")["message"]
    assert before["status"]["podUID"] == held["status"]["podUID"]

    await asyncio.to_thread(cluster.recover_node, node)
    ready = [{"type": "Ready", "status": "True"}]
    path = names.POD.path(world.key("box", names.POD), subresource="status")
    cluster.api().patch(path, {"status": {"conditions": ready}}, kind=STRATEGIC_PATCH)
    await world.is_in_phase("Ready")
