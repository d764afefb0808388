"""L1, L7 to L11, L18, T4: how Pods of an Instance end, and what is told and done about it."""

import pytest

from e2e.cluster import Cluster, Fault
from gpustack_ctrl.api import names
from tests.integration.devices.fleet import Own, blocked, say
from tests.integration.observer import History
from tests.integration.world import Operator, Wire, World, condition, until

pytestmark = pytest.mark.usefixtures("operator")

EVICTION = {"metadata": {"name": "box"}, "deleteOptions": {"gracePeriodSeconds": 2}}


async def counted(world: World, count: int) -> Wire:
    """The status of the Instance, once so many Pods failed in a row."""

    async def read() -> Wire | None:
        status = (await world.get(names.INSTANCE, "box")).get("status", {})
        return dict(status) if status.get("failures", {}).get("count") == count else None

    return await until(read)


async def test_l1_a_second_pod_of_the_instance_is_told_and_neither_is_touched(
    world: World, own: Own, operator: Operator
) -> None:
    own.add_node()
    await world.instance(type=own.name)
    await world.is_in_phase("Ready")
    await operator.kill()
    first = await world.get(names.POD, "box")
    meta = {
        "name": "twin",
        "labels": first["metadata"]["labels"],
        "ownerReferences": first["metadata"]["ownerReferences"],
    }
    container = {"name": "main", "image": "workload:1"}
    await world.create(names.POD, {"metadata": meta, "spec": {"containers": [container]}})
    await operator.start()
    told = await world.tells("Ready", "False", "MultiplePods")

    assert "Pods twin belong to this Instance too: delete them" in told["message"]
    uids = {pod["metadata"]["uid"] for pod in await world.list(names.POD)}
    assert 2 == len(uids)
    assert first["metadata"]["uid"] in uids

    await world.delete(names.POD, "twin")
    ready = await world.is_in_phase("Ready")

    assert first["metadata"]["uid"] == ready["status"]["podUID"]


async def test_l1_a_pod_that_only_wants_to_end_with_the_instance_is_not_a_second_one(
    world: World, own: Own
) -> None:
    own.add_node()
    instance = await world.instance(type=own.name)
    await world.is_in_phase("Ready")
    owner = {
        "apiVersion": names.INSTANCE.api_version,
        "kind": names.INSTANCE.kind,
        "name": "box",
        "uid": instance["metadata"]["uid"],
    }
    meta = {"name": "debug", "ownerReferences": [owner]}
    container = {"name": "main", "image": "workload:1"}
    await world.create(names.POD, {"metadata": meta, "spec": {"containers": [container]}})
    await world.edit(displayName="seen")

    assert "blocker" not in (await world.is_in_phase("Ready"))["status"]


async def test_l7_l8_a_device_that_fails_every_time_never_leaves_more_than_one_dead_pod(
    world: World, own: Own, cluster: Cluster, pods: History
) -> None:
    cluster.set_fault(own.add_node(), Fault.UNEXPECTED_ADMISSION_ERROR)
    await world.instance(type=own.name)
    first = await counted(world, 1)
    told = await blocked(world, "device", "UnexpectedAdmissionError")

    assert "Allocate failed due to requested number of devices unavailable" in told["message"]
    assert f"another Pod is made at {first['failures']['retryAt']}" in told["message"]

    second = await counted(world, 2)
    await pods.caught_up()

    assert first["failures"]["podUID"] != second["failures"]["podUID"]
    assert first["failures"]["retryAt"] < second["failures"]["retryAt"]
    assert 1 == pods.most_at_once
    assert 2 == len(pods.uids)

    await world.edit(stop=True)
    await world.is_in_phase("Stopped")


async def test_l9_an_evicted_workspace_comes_back_and_keeps_its_claim(
    world: World, own: Own, cluster: Cluster
) -> None:
    node = own.add_node()
    await world.instance(type=own.name)
    first = (await world.is_in_phase("Ready"))["status"]["podUID"]
    await say(world, phase="Failed", reason="Evicted", message="The node was low on disk.")
    told = await counted(world, 1)

    assert ("Failed", "Evicted", first) == (
        told["phase"],
        told["lastTermination"]["reason"],
        told["lastTermination"]["podUID"],
    )
    assert node == told["lastTermination"]["node"]

    async def is_back() -> bool:
        status = (await world.get(names.INSTANCE, "box"))["status"]
        return bool(status["phase"] == "Ready" and status["podUID"] != first)

    await until(is_back)


async def test_l11_t4_a_crash_loop_is_not_ready_and_its_last_end_is_told(
    world: World, own: Own, cluster: Cluster
) -> None:
    cluster.set_fault(own.add_node(), Fault.CRASH_LOOP_BACK_OFF)
    await world.instance(type=own.name)

    async def is_looping() -> Wire | None:
        status = (await world.get(names.INSTANCE, "box")).get("status", {})
        held = status.get("blocker", {}).get("reason") == "CrashLoopBackOff"
        return dict(status) if held and status.get("restarts", 0) >= 2 else None

    told = await until(is_looping)

    assert "container" == told["blocker"]["gate"]
    assert "(last exit code 1, Error)" in told["blocker"]["message"]
    assert "kubectl logs --previous" in told["blocker"]["message"]
    assert 1 == told["lastTermination"]["exitCode"]
    assert "Starting" == told["phase"]
    assert "failures" not in told

    await world.edit(stop=True)
    await world.is_in_phase("Stopped")


async def test_t4_a_drain_makes_another_pod_at_once_and_does_not_count(
    world: World, own: Own, cluster: Cluster
) -> None:
    cluster.set_fault(own.add_node(), Fault.SLOW_TERMINATION)
    await world.instance(type=own.name)
    first = (await world.is_in_phase("Ready"))["status"]["podUID"]
    pod = names.POD.path(world.key("box", names.POD), subresource="eviction")
    cluster.api().post(pod, {"apiVersion": "policy/v1", "kind": "Eviction", **EVICTION})

    async def is_back() -> Wire | None:
        status = (await world.get(names.INSTANCE, "box"))["status"]
        moved = status["phase"] == "Ready" and status["podUID"] != first
        return dict(status) if moved else None

    told = await until(is_back)

    assert "failures" not in told
    assert "EvictionByEvictionAPI" == told["lastTermination"]["reason"]
    assert True is told["lastTermination"]["dataLost"]


async def test_t4_l13_a_lost_node_is_told_and_its_return_needs_no_restart(
    world: World, own: Own, cluster: Cluster
) -> None:
    node = own.add_node()
    await world.instance(type=own.name)
    pod = (await world.is_in_phase("Ready"))["status"]["podUID"]
    cluster.lose_node(node)
    lost = await world.is_in_phase("Unknown")
    told = condition(lost, "Ready")

    assert ("Unknown", "NodeLost") == (told["status"], told["reason"])
    assert f"node {node} does not answer" in told["message"]

    cluster.recover_node(node)
    await say(world, conditions=[{"type": "Ready", "status": "True"}])
    back = await world.is_in_phase("Ready")

    assert pod == back["status"]["podUID"]
    assert "failures" not in back["status"]
    assert "lastTermination" not in back["status"]


async def test_l18_an_instance_of_which_nothing_is_there_has_a_status_that_is_taken(
    world: World,
) -> None:
    """No type, no Pod, no ports: nothing to list, and nothing sent as null that is a list."""
    await world.instance(type=f"{world.namespace}-absent")
    await world.tells("Ready", "False", "TypeNotFound")
    pending = await world.is_in_phase("Pending")

    assert {"ports", "podIPs", "hostIPs"}.isdisjoint(pending["status"])
    assert pending["metadata"]["generation"] == pending["status"]["observedGeneration"]
