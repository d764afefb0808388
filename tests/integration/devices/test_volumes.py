"""Volumes and variables of an Instance: what reaches its Pod, and what is missing is named."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from e2e.cluster import Cluster
from e2e.cluster.nodes import SIMULATED
from gpustack_ctrl.api import names
from gpustack_ctrl.reconcilers.conditions import timestamp
from tests.integration.devices.fleet import Own, blocked, say
from tests.integration.world import Operator, Wire, World, until

pytestmark = pytest.mark.usefixtures("operator")

TOKEN = {"name": "token", "key": "value", "optional": True}
LIMIT = {"resource": "limits.memory"}
POD_IP = {"fieldPath": "status.podIP"}
ALLOWED = "instance-host-path-volume-allowed"


async def test_each_source_of_an_additional_volume_reaches_the_pod(
    world: World, own: Own, operator: Operator
) -> None:
    own.add_node()
    settings = World(world.rest, operator.namespace)
    await settings.patch(names.SETTING, ALLOWED, {"spec": {"value": "true"}})
    asked = [
        {"mountPath": "/data", "persistent": {"name": "data"}, "subPath": "a/b"},
        {"mountPath": "/etc/app", "configMap": {"name": "app"}, "readOnly": True},
        {"mountPath": "/etc/token", "secret": {"name": "token"}},
        {"mountPath": "/models", "hostPath": {"path": "/mnt/models", "type": "Directory"}},
    ]
    await world.instance(type=own.name, additionalVolumes=asked, sharedMemory="2Gi")
    pod = (await made(world))["spec"]
    volumes = {held.pop("name"): held for held in pod["volumes"]}
    mounts = {held["mountPath"]: held for held in pod["containers"][0]["volumeMounts"]}

    assert {"medium": "Memory", "sizeLimit": "2Gi"} == volumes["shared-memory"]["emptyDir"]
    assert "shared-memory" == mounts["/dev/shm"]["name"]  # noqa: S108 - where it is.
    assert "a/b" == mounts["/data"]["subPath"]
    assert [True] == [held["readOnly"] for held in mounts.values() if "readOnly" in held]
    assert "/etc/app" in mounts
    sources = {path: source(volumes[mounts[path]["name"]]) for path in mounts}
    assert {
        "/workspace": ("emptyDir", None),
        "/dev/shm": ("emptyDir", None),  # noqa: S108 - where it is.
        "/data": ("persistentVolumeClaim", "data"),
        "/etc/app": ("configMap", "app"),
        "/etc/token": ("secret", "token"),
        "/models": ("hostPath", "/mnt/models"),
    } == sources


def source(volume: Wire) -> tuple[str, str | None]:
    """The kind of a volume, and the name of what it stands for."""
    kind, held = next(iter(volume.items()))
    named = (held.get(key) for key in ("claimName", "secretName", "name", "path"))
    return kind, next((name for name in named if name), None)


async def made(world: World) -> Wire:
    """The Pod, once it is there."""

    async def read() -> Wire | None:
        return await world.find(names.POD, "box")

    return await until(read)


async def test_an_ephemeral_workspace_has_its_limit(world: World, own: Own) -> None:
    own.add_node()
    await world.instance(type=own.name, volume={"ephemeral": {"capacity": "7Gi"}})
    pod = (await made(world))["spec"]

    assert {"sizeLimit": "7Gi"} == pod["volumes"][0]["emptyDir"]
    assert "22Gi" == pod["containers"][0]["resources"]["limits"]["ephemeral-storage"]


async def test_variables_of_every_source_reach_the_workload(world: World, own: Own) -> None:
    own.add_node()
    env = [
        {"name": "PLAIN", "value": "multi\nline ü"},
        {"name": "FROM_SECRET", "valueFrom": {"secretKeyRef": TOKEN}},
        {"name": "FROM_CONFIG", "valueFrom": {"configMapKeyRef": {"name": "app", "key": "a"}}},
        {"name": "ADDRESS", "valueFrom": {"fieldRef": POD_IP}},
        {"name": "MEMORY", "valueFrom": {"resourceFieldRef": LIMIT}},
    ]
    sources = [{"prefix": "APP_", "configMapRef": {"name": "app", "optional": True}}]
    await world.instance(type=own.name, env=env, envFrom=sources)
    main = (await made(world))["spec"]["containers"][0]
    held = {variable.pop("name"): variable for variable in main["env"]}

    assert {"value": "multi\nline ü"} == held["PLAIN"]
    assert {"valueFrom": {"secretKeyRef": TOKEN}} == held["FROM_SECRET"]
    assert POD_IP.items() <= held["ADDRESS"]["valueFrom"]["fieldRef"].items()
    assert LIMIT.items() <= held["MEMORY"]["valueFrom"]["resourceFieldRef"].items()
    assert sources == main["envFrom"]


@pytest.mark.parametrize(
    "sentence",
    ['secret "token" not found', 'configmap "app" not found', "couldn't find key a in ConfigMap"],
)
async def test_t3_what_a_variable_refers_to_and_is_missing_is_named(
    world: World, own: Own, sentence: str
) -> None:
    own.add_node()
    await world.instance(type=own.name)
    await world.is_in_phase("Ready")
    waiting = {"reason": "CreateContainerConfigError", "message": sentence}
    await say_waiting(world, waiting)
    told = await blocked(world, "container", "CreateContainerConfigError")

    assert told["message"].startswith(sentence)
    assert "create what it names, or drop the reference while stopped" in told["message"]


async def say_waiting(world: World, waiting: Wire) -> None:
    """Let the kubelet say that `main` waits."""
    container = {"name": "main", "image": "x", "imageID": "", "ready": False, "restartCount": 0}
    await say(
        world,
        conditions=[{"type": "Ready", "status": "False"}],
        containerStatuses=[{**container, "state": {"waiting": waiting}}],
    )


async def unmounted(world: World, own: Own, cluster: Cluster, *, for_seconds: int) -> None:
    """A Pod that its kubelet could not set up for so long, with two volumes that are missing."""
    node = own.add_node()
    silent = {"metadata": {"labels": {SIMULATED: None}}}
    cluster.api().patch(f"/api/v1/nodes/{node}", silent)
    missing: list[dict[str, Any]] = [
        {"mountPath": "/etc/app", "configMap": {"name": "app"}},
        {"mountPath": "/etc/token", "secret": {"name": "token"}},
    ]
    await world.instance(type=own.name, additionalVolumes=missing)

    async def is_bound() -> bool:
        pod = await world.find(names.POD, "box")
        return bool(pod and pod["spec"].get("nodeName"))

    await until(is_bound)
    since = timestamp(datetime.now(UTC) - timedelta(seconds=for_seconds))  # noqa: TID251 - a kubelet's.
    waits = {"status": "False", "lastTransitionTime": since}
    told = [{"type": kind, **waits} for kind in ("PodReadyToStartContainers", "Ready")]
    await say(
        world,
        conditions=[{"type": "PodScheduled", "status": "True"}, *told],
        startTime=since,
    )


async def test_t3_volumes_that_are_not_mounted_are_named_after_a_while_without_an_event(
    world: World, own: Own, cluster: Cluster
) -> None:
    await unmounted(world, own, cluster, for_seconds=26)
    version = (await world.get(names.POD, "box"))["metadata"]["resourceVersion"]
    told = await blocked(world, "volume", "VolumesNotMounted")

    assert "it needs ConfigMap app, Secret token" in told["message"]
    assert "kubectl describe pod" in told["message"]
    assert version == (await world.get(names.POD, "box"))["metadata"]["resourceVersion"]
