"""T3, V1 to V10: failures that stay invisible elsewhere are told by gate, sentence and remedy."""

import pytest

from e2e.cluster import Cluster, Fault
from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import Resource
from tests.integration.devices.fleet import QUOTA, Own, blocked, say
from tests.integration.world import World

pytestmark = pytest.mark.usefixtures("operator")

LIMITS = Resource(group="", version="v1", kind="LimitRange", plural="limitranges")
LEVEL = "pod-security.kubernetes.io/enforce"
GPU = "nvidia.com/gpu"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGCYCcIZOTu7cyZ4Rz6NWU+6OUhWg6r3HXeo+Zmk4Iex me@home"


async def limit_range(world: World, **limit: object) -> None:
    """Bound the containers of the namespace."""
    spec = {"limits": [{"type": "Container", **limit}]}
    await world.create(LIMITS, {"metadata": {"name": "bounds"}, "spec": spec})


async def with_login(world: World, own: Own) -> None:
    """Ask for an Instance with an SSH server beside it."""
    await world.create(names.SSH_PUBLIC_KEY, {"metadata": {"name": "me"}, "spec": {"data": KEY}})
    await world.instance(type=own.name, sshPublicKey={"name": "me"}, ports=[{"port": 22}])


async def test_v1_a_quota_is_told_in_its_words_and_its_end_is_noticed(
    world: World, own: Own
) -> None:
    own.add_node()
    hard = {"hard": {f"requests.{GPU}": "0"}}
    await world.create(QUOTA, {"metadata": {"name": "none"}, "spec": hard})
    await world.instance(type=own.name)
    told = await blocked(world, "quota", "QuotaExceeded")

    assert f"exceeded quota: none, requested: requests.{GPU}=1" in told["message"]
    assert "have an administrator raise the quota" in told["message"]
    assert await world.find(names.POD, "box") is None

    await world.delete(QUOTA, "none")
    await world.is_in_phase("Ready")


async def test_v2_a_quota_that_wants_limits_of_the_sidecar_is_told_and_defaults_help(
    world: World, own: Own
) -> None:
    own.add_node()
    hard = {"hard": {"limits.cpu": "64", "limits.memory": "512Gi"}}
    await world.create(QUOTA, {"metadata": {"name": "limits"}, "spec": hard})
    await with_login(world, own)
    told = await blocked(world, "quota", "QuotaNeedsLimits")

    assert "must specify limits.cpu for: sshd" in told["message"]
    assert "give the namespace a LimitRange with defaults" in told["message"]

    await limit_range(world, default={"cpu": "500m", "memory": "256Mi"})
    await world.is_in_phase("Ready")


async def test_v2_a_limit_range_above_what_is_asked_for_is_told(world: World, own: Own) -> None:
    await limit_range(world, min={"memory": "1Ti"})
    await world.instance(type=own.name)
    told = await blocked(world, "limitRange", "LimitRangeViolation")

    assert "minimum memory usage per Container is 1Ti" in told["message"]
    assert "keep spec.resources within the LimitRange" in told["message"]


async def test_v3_pod_security_is_told_with_the_fields_and_baseline_lets_logins_in(
    world: World, own: Own, cluster: Cluster
) -> None:
    own.add_node()
    cluster.kubectl("label", "namespace", world.namespace, f"{LEVEL}=restricted")
    await with_login(world, own)
    told = await blocked(world, "podSecurity", "PodSecurityViolation")

    assert 'violates PodSecurity "restricted:latest"' in told["message"]
    assert "allowPrivilegeEscalation != false" in told["message"]
    assert "relax the Pod Security level of the namespace" in told["message"]

    relabelled = ("label", "--overwrite", "namespace", world.namespace, f"{LEVEL}=baseline")
    cluster.kubectl(*relabelled)
    await world.is_in_phase("Ready")


async def test_v4_l6_an_image_is_told_with_the_kubelets_words_and_stopping_frees_the_card(
    world: World, own: Own, cluster: Cluster
) -> None:
    cluster.set_fault(own.add_node(), Fault.IMAGE_PULL_BACK_OFF)
    await world.instance(type=own.name, image="nginx:nope")
    told = await blocked(world, "image", "ImagePullBackOff")

    assert 'Back-off pulling image "nginx:nope"' in told["message"]
    assert "check spec.image and spec.imagePullSecret" in told["message"]
    await own.told(whole={"capacity": 2, "allocated": 1, "remaining": 1, "onceMaxRequest": 1})

    await world.edit(stop=True)
    await world.is_in_phase("Stopped")
    await own.told(whole={"capacity": 2, "allocated": 0, "remaining": 2, "onceMaxRequest": 2})


async def test_v4_a_slow_pull_is_a_start_and_no_trouble(
    world: World, own: Own, cluster: Cluster
) -> None:
    cluster.set_fault(own.add_node(), Fault.SLOW_IMAGE_PULL.lasting("3s"))
    await world.instance(type=own.name)
    starting = await world.is_in_phase("Starting")

    assert "blocker" not in starting["status"]
    assert "the containers are starting" == starting["status"]["message"]

    await world.is_in_phase("Ready")


async def test_v5_no_room_is_a_wait_that_a_new_node_ends(world: World, own: Own) -> None:
    await world.instance(type=own.name)
    told = await blocked(world, "scheduling", "NoNode")

    assert f"has the labels of InstanceType {own.name}" in told["message"]
    assert "didn't match Pod's node affinity/selector" in told["message"]
    assert "Pending" == (await world.is_in_phase("Pending"))["status"]["phase"]

    own.add_node()
    ready = await world.is_in_phase("Ready")

    assert "failures" not in ready["status"]


async def test_v7_v10_what_never_fits_is_told_apart_from_what_waits(world: World, own: Own) -> None:
    own.add_node("a")
    own.add_node("b")
    await world.instance("first", type=own.name)
    await world.instance("second", type=own.name, resources={"accelerator": 2})
    await world.is_in_phase("Ready", "first")
    await world.is_in_phase("Ready", "second")
    await world.instance("wide", type=own.name, resources={"accelerator": 3})
    await world.instance("late", type=own.name, resources={"accelerator": 2})
    never = await blocked(world, "scheduling", "NeverFits", "wide")
    waits = await blocked(world, "scheduling", "Unschedulable", "late")

    assert never["message"].startswith(
        f"3 {GPU} are asked for, but the largest node of InstanceType {own.name} has 2: "
    )
    assert "ask for no more than that" in never["message"]
    assert "user" == never["owner"]
    assert f"Insufficient {GPU}" in waits["message"]
    assert f"2 {GPU} are asked for and at most 1 free on one node" in waits["message"]

    await world.edit("first", stop=True)
    await world.is_in_phase("Ready", "late")


async def test_v8_an_out_of_memory_kill_is_kept_over_the_restart(world: World, own: Own) -> None:
    own.add_node()
    await world.instance(type=own.name)
    pod = (await world.is_in_phase("Ready"))["status"]["podUID"]
    killed = {
        "exitCode": 137,
        "signal": 9,
        "reason": "OOMKilled",
        "finishedAt": "2026-11-30T12:00:00Z",
    }
    again = {
        "name": "main",
        "image": "x",
        "imageID": "",
        "ready": True,
        "restartCount": 1,
        "lastState": {"terminated": killed},
    }
    await say(world, containerStatuses=[again])
    await world.edit(displayName="seen")
    told = (await world.is_in_phase("Ready"))["status"]

    assert ("OOMKilled", 137, 9, pod) == tuple(
        told["lastTermination"][field] for field in ("reason", "exitCode", "signal", "podUID")
    )
    assert False is told["lastTermination"]["dataLost"]
    assert 1 == told["restarts"]


async def test_t3_gates_are_told_in_order_and_opening_one_shows_the_next(
    world: World, own: Own, cluster: Cluster
) -> None:
    await own.edit(inactive=True)
    cluster.kubectl("label", "namespace", world.namespace, f"{LEVEL}=restricted")
    hard = {"hard": {f"requests.{GPU}": "0"}}
    await world.create(QUOTA, {"metadata": {"name": "none"}, "spec": hard})
    await world.instance(type=own.name, image="nginx:nope")
    await blocked(world, "type", "TypeInactive")
    await own.edit(inactive=False)
    await blocked(world, "podSecurity", "PodSecurityViolation")
    cluster.kubectl("label", "namespace", world.namespace, f"{LEVEL}-")
    await blocked(world, "quota", "QuotaExceeded")
    await world.delete(QUOTA, "none")
    await blocked(world, "scheduling", "NoNode")
    own.add_node("a", gpus=0)
    await blocked(world, "scheduling", "NeverFits")
    cluster.kubectl("cordon", f"{own.name}-a")
    broken = {"topology.kubernetes.io/region": Fault.IMAGE_PULL_BACK_OFF}
    own.add_node("b", labels=broken)
    await blocked(world, "image", "ImagePullBackOff")
