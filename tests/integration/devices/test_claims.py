"""T3: claims that are bound, unbound, missing, on their way out, or wait for their first Pod."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import pytest_asyncio

from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import Resource
from tests.integration.devices.fleet import CLAIM, Own, blocked
from tests.integration.world import Wire, World, until

pytestmark = pytest.mark.usefixtures("operator")

VOLUME = Resource(
    group="", version="v1", kind="PersistentVolume", plural="persistentvolumes", namespaced=False
)
CLASS = Resource(
    group="storage.k8s.io", version="v1", kind="StorageClass", plural="storageclasses",
    namespaced=False,
)  # fmt: skip
SIZE = {"storage": "1Gi"}
HOME = {"persistent": {"name": "home"}}


@pytest_asyncio.fixture
async def first_consumer(world: World) -> AsyncIterator[str]:
    """A class whose claims are bound when a Pod wants them, to volumes that an admin makes."""
    body = {
        "metadata": {"name": world.namespace},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    await world.create(CLASS, body)
    yield world.namespace
    await world.delete(CLASS, world.namespace)


@pytest_asyncio.fixture
async def volumes(world: World) -> AsyncIterator[list[str]]:
    """Names of volumes to remove at the end."""
    made: list[str] = []
    yield made
    for name in made:
        await world.patch(VOLUME, name, {"metadata": {"finalizers": []}})
        await world.delete(VOLUME, name)


async def claimed(world: World, storage_class: str = "", **rest: Any) -> None:
    """Make the claim `home`."""
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": SIZE},
        "storageClassName": storage_class,
    }
    await world.create(CLAIM, {"metadata": {"name": "home", **rest}, "spec": spec})


async def volume(
    world: World, made: list[str], storage_class: str = "", **source: Mapping[str, Any]
) -> None:
    """Make a volume that only the claim `home` of this namespace can be bound to."""
    spec = {
        "capacity": SIZE,
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "claimRef": {"namespace": world.namespace, "name": "home"},
        **(source or {"hostPath": {"path": "/data"}}),
    }
    await world.create(VOLUME, {"metadata": {"name": world.namespace}, "spec": spec})
    made.append(world.namespace)


async def bound(world: World) -> Wire:
    """The claim, once it is bound."""

    async def read() -> Wire | None:
        held = await world.get(CLAIM, "home")
        return held if held["status"]["phase"] == "Bound" else None

    return await until(read)


async def test_a_bound_claim_is_mounted_as_the_workspace(
    world: World, own: Own, volumes: list[str]
) -> None:
    own.add_node()
    await volume(world, volumes)
    await claimed(world)
    await bound(world)
    await world.instance(type=own.name, volume=HOME, volumeMount="/home/me")
    await world.is_in_phase("Ready")
    pod = (await world.get(names.POD, "box"))["spec"]

    assert {"claimName": "home"} == pod["volumes"][0]["persistentVolumeClaim"]
    assert "/home/me" == pod["containers"][0]["volumeMounts"][0]["mountPath"]


async def test_t3_a_claim_that_waits_for_its_first_pod_is_bound_by_the_instance(
    world: World, own: Own, first_consumer: str, volumes: list[str]
) -> None:
    node = own.add_node()
    await claimed(world, first_consumer)
    await world.instance(type=own.name, volume=HOME)
    told = await blocked(world, "volume", "ClaimUnbound")

    assert "persistent volumes to bind" in told["message"]
    assert "kubectl describe pvc" in told["message"]

    terms = [{"matchExpressions": [{"key": names.HOSTNAME, "operator": "In", "values": [node]}]}]
    affinity = {"required": {"nodeSelectorTerms": terms}}
    await volume(world, volumes, first_consumer, local={"path": "/data"}, nodeAffinity=affinity)
    await world.is_in_phase("Ready")

    assert world.namespace == (await bound(world))["spec"]["volumeName"]


async def test_t3_a_missing_claim_is_named_and_its_coming_helps(
    world: World, own: Own, volumes: list[str]
) -> None:
    own.add_node()
    await world.instance(type=own.name, volume=HOME)
    told = await blocked(world, "volume", "ClaimNotFound")

    assert 'persistentvolumeclaim "home" not found' in told["message"]
    assert "create the PersistentVolumeClaim" in told["message"]

    await volume(world, volumes)
    await claimed(world)
    await world.is_in_phase("Ready")


async def test_t3_a_claim_that_nothing_provides_for_is_told(world: World, own: Own) -> None:
    own.add_node()
    await claimed(world)
    await world.instance(type=own.name, volume=HOME)
    told = await blocked(world, "volume", "ClaimUnbound")

    assert "unbound immediate PersistentVolumeClaims" in told["message"]

    await world.edit(stop=True)
    await world.is_in_phase("Stopped")


async def test_l14_a_claim_on_its_way_out_is_told_and_not_used(
    world: World, own: Own, volumes: list[str]
) -> None:
    own.add_node()
    await volume(world, volumes)
    await claimed(world, finalizers=["test/hold"])
    await bound(world)
    await world.delete(CLAIM, "home")
    await world.instance(type=own.name, volume=HOME)
    told = await blocked(world, "volume", "ClaimTerminating")

    assert 'persistentvolumeclaim "home" is being deleted' in told["message"]
    assert "create it anew, or name another one" in told["message"]

    await world.patch(CLAIM, "home", {"metadata": {"finalizers": []}})
    await blocked(world, "volume", "ClaimNotFound")
