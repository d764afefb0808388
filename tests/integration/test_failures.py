"""T3, T4: what holds an Instance back, and Pods that fail."""

from typing import Any

import pytest

from e2e.cluster import Cluster, Fault
from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import Resource
from tests.integration.world import TYPE, Operator, Wire, World, until

pytestmark = pytest.mark.usefixtures("operator")


async def fail(world: World, **status: Any) -> str:
    """Make the Pod of the Instance end as the kubelet would say; return its UID."""
    pod = await world.get(names.POD, "box")
    patch = {"status": {"phase": "Failed", **status}}
    await world.rest.merge_patch(names.POD, world.key("box", names.POD), patch, "status")
    return str(pod["metadata"]["uid"])


async def blocked(world: World, reason: str) -> Wire:
    """The blocker of the Instance, once it has *reason*."""

    async def read() -> Wire | None:
        told = (await world.get(names.INSTANCE, "box")).get("status", {}).get("blocker")
        return told if told and told["reason"] == reason else None

    return await until(read)


async def test_t3_an_unknown_type_is_told_and_its_coming_helps(world: World) -> None:
    name = f"{world.namespace}-late"
    await world.instance(type=name)
    told = await blocked(world, "TypeNotFound")

    assert ("type", "user") == (told["gate"], told["owner"])
    assert f"InstanceType {name} does not exist" in told["message"]

    await world.create(names.INSTANCE_TYPE, {"metadata": {"name": name}, "spec": {}})
    await world.is_in_phase("Ready")
    await world.delete(names.INSTANCE_TYPE, name)


async def test_t3_an_exceeded_quota_is_told_in_the_words_of_the_api_server(world: World) -> None:
    quota = {"hard": {"requests.nvidia.com/gpu": "0"}}
    resource = Resource(group="", version="v1", kind="ResourceQuota", plural="resourcequotas")
    await world.create(resource, {"metadata": {"name": "none"}, "spec": quota})
    await world.instance()
    told = await blocked(world, "QuotaExceeded")

    assert "quota" == told["gate"]
    assert "exceeded quota: none" in told["message"]
    assert "ask for less" in told["message"]

    await world.delete(resource, "none")
    await world.edit(displayName="again")
    await world.is_in_phase("Ready")


async def test_t3_a_pod_that_fits_nowhere_is_told_in_the_words_of_the_scheduler(
    world: World,
) -> None:
    await world.instance(resources={"accelerator": 99})
    told = await blocked(world, "NeverFits")

    assert "scheduling" == told["gate"]
    assert "Insufficient nvidia.com/gpu" in told["message"]


async def test_t3_a_missing_claim_is_told_by_name(world: World) -> None:
    await world.instance(volume={"persistent": {"name": "missing"}})
    told = await blocked(world, "ClaimNotFound")

    assert "volume" == told["gate"]
    assert "missing" in told["message"]


async def test_t3_an_image_that_cannot_be_pulled_is_told_and_can_be_stopped(
    world: World, cluster: Cluster
) -> None:
    spec = {"nodeSelector": {"only": world.namespace}}
    await world.create(names.INSTANCE_TYPE, {"metadata": {"name": world.namespace}, "spec": spec})
    cluster.add_node(world.namespace, labels={"only": world.namespace})
    cluster.set_fault(world.namespace, Fault.IMAGE_PULL_BACK_OFF)
    await world.instance(type=world.namespace)
    told = await blocked(world, "ImagePullBackOff")

    assert "image" == told["gate"]
    assert "check spec.image" in told["message"]

    await world.edit(stop=True)
    await world.is_in_phase("Stopped")
    cluster.remove_node(world.namespace)
    await world.delete(names.INSTANCE_TYPE, world.namespace)


async def test_t4_a_failed_pod_is_replaced_and_its_end_is_kept(world: World) -> None:
    await world.instance()
    first = (await world.is_in_phase("Ready"))["status"]["podUID"]
    failed = await fail(world, reason="Evicted", message="The node was low on resource: memory.")
    seen = (await world.is_in_phase("Failed"))["status"]

    assert first == failed == seen["lastTermination"]["podUID"]
    assert "Evicted" == seen["lastTermination"]["reason"]
    assert True is seen["lastTermination"]["dataLost"]
    assert 1 == seen["failures"]["count"]
    assert "another Pod is made at" in seen["blocker"]["message"]

    after = (await world.is_in_phase("Ready"))["status"]

    assert failed != after["podUID"]
    assert "low on resource" in after["lastTermination"]["message"]


async def test_t4_the_count_outlives_an_operator_and_is_reset_by_a_stop(
    world: World, operator: Operator
) -> None:
    await world.instance()
    await world.is_in_phase("Ready")
    await fail(world, reason="UnexpectedAdmissionError", message="Allocate failed")
    first = (await world.is_in_phase("Failed"))["status"]
    await operator.kill()
    await operator.start()
    second = (await world.is_in_phase("Failed"))["status"]

    assert first["failures"] == second["failures"]
    assert "device" == first["blocker"]["gate"]

    await world.edit(stop=True)
    await world.is_in_phase("Stopped")
    await world.edit(stop=False)
    again = (await world.is_in_phase("Ready"))["status"]

    assert "failures" not in again
    assert "UnexpectedAdmissionError" == again["lastTermination"]["reason"]


async def test_t4_after_the_last_try_nothing_is_made_by_itself(world: World) -> None:
    await world.instance()
    held = await world.is_in_phase("Ready")
    last = {
        "count": 5,
        "podUID": "an earlier one",
        "generation": held["metadata"]["generation"],
        "typeGeneration": (await world.get(names.INSTANCE_TYPE, TYPE))["metadata"]["generation"],
    }
    await world.rest.merge_patch(
        names.INSTANCE, world.key("box", names.INSTANCE), {"status": {"failures": last}}, "status"
    )

    async def is_seen() -> bool:
        status = (await world.get(names.INSTANCE, "box"))["status"]
        return bool(status.get("failures", {}).get("count") == 5)

    await until(is_seen)
    await fail(world, reason="Evicted")
    seen = (await world.is_in_phase("Failed"))["status"]

    assert 6 == seen["failures"]["count"]
    assert "retryAt" not in seen["failures"]
    assert "stop and start the Instance" in seen["blocker"]["message"]


async def test_t4_making_room_for_others_does_not_count(world: World) -> None:
    await world.instance()
    await world.is_in_phase("Ready")
    await fail(world, reason="OutOfnvidia.com/gpu", message="Node didn't have enough resource")
    seen = (await world.is_in_phase("Failed"))["status"]

    assert 0 == seen["failures"]["count"]
    assert "retryAt" in seen["failures"]
