"""What is left of an InstanceType: four views, from Nodes and from anybody's Pods."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from tests.integration.devices.fleet import CARD_MIB, ONLY, Own
from tests.integration.world import World, until

pytestmark = pytest.mark.usefixtures("operator")

GPU = "nvidia.com/gpu"


def view(capacity: int, allocated: int, remaining: int, once: int) -> dict[str, int]:
    """One view as the status writes it."""
    return {
        "capacity": capacity,
        "allocated": allocated,
        "remaining": remaining,
        "onceMaxRequest": once,
    }


async def foreign_pod(world: World, own: Own, name: str = "foreign", cards: int = 1) -> None:
    """A Pod that belongs to no Instance and holds cards of the type's nodes."""
    held = {"limits": {GPU: str(cards)}}
    container = {"name": "train", "image": "train:1", "resources": held}
    spec = {"containers": [container], "nodeSelector": {ONLY: own.name}}
    await world.create(names.POD, {"metadata": {"name": name}, "spec": spec})


async def test_four_views_tell_what_is_there_held_and_left(world: World, own: Own) -> None:
    own.add_node()
    empty = await own.told(whole=view(2, 0, 2, 2))

    assert view(20, 0, 20, 20) == empty["shared"]
    assert view(200, 0, 200, 100) == empty["sliced"]
    assert view(14, 0, 14, 1) == empty["partitioned"]
    assert ("Active", 1) == (empty["phase"], empty["nodes"])

    await world.instance("whole", type=own.name)
    await world.instance("shared", type=own.name, resources={"acceleratorShared": True})
    half = {"acceleratorSlicedMemoryMiB": CARD_MIB // 2}
    await world.instance("mib", type=own.name, resources=half)
    quarter = {"acceleratorSlicedMemoryPercentage": 25}
    await world.instance("percent", type=own.name, resources=quarter)
    part = {"acceleratorPartitionedProfile": "3g.40gb"}
    await world.instance("part", type=own.name, resources=part)
    held = await own.told(
        whole=view(2, 1, 1, 1),
        shared=view(20, 1, 19, 19),
        sliced=view(200, 75, 125, 100),
        partitioned=view(14, 1, 13, 1),
    )

    assert "1/1  19/19  100/125  1/13" == held["summary"]


async def test_an_odd_number_of_mib_is_rounded_up_to_percent(world: World, own: Own) -> None:
    own.add_node(gpus=1)
    asked = {"acceleratorSlicedMemoryMiB": CARD_MIB // 3}
    await world.instance(type=own.name, resources=asked)
    await own.told(sliced=view(100, 34, 66, 66))


async def test_pods_of_others_count_and_no_request_spans_nodes(world: World, own: Own) -> None:
    own.add_node("a")
    own.add_node("b")
    await own.told(whole=view(4, 0, 4, 2))
    await foreign_pod(world, own)
    await own.told(whole=view(4, 1, 3, 2))
    await foreign_pod(world, own, "another", 2)
    await own.told(whole=view(4, 3, 1, 1))
    await world.delete(names.POD, "another")
    await own.told(whole=view(4, 1, 3, 2))


async def test_a_pod_that_ended_holds_nothing(world: World, own: Own) -> None:
    own.add_node()
    await foreign_pod(world, own)
    await own.told(whole=view(2, 1, 1, 1))
    key = world.key("foreign", names.POD)
    await world.rest.merge_patch(names.POD, key, {"status": {"phase": "Succeeded"}}, "status")
    await own.told(whole=view(2, 0, 2, 2))


async def test_nodes_that_take_no_pods_are_left_out(
    world: World, own: Own, cluster: Cluster
) -> None:
    first, second = own.add_node("a"), own.add_node("b")
    await own.told(whole=view(4, 0, 4, 2), nodes=2)
    cluster.kubectl("cordon", first)
    await own.told(whole=view(2, 0, 2, 2), nodes=1)
    cluster.lose_node(second)
    none = await own.told(whole=view(0, 0, 0, 0), nodes=0)

    assert "no node that is Ready and takes Pods has the labels of the type" == none["message"]

    cluster.kubectl("uncordon", first)
    cluster.recover_node(second)
    await own.told(whole=view(4, 0, 4, 2), nodes=2)


@contextmanager
def watched(cluster: Cluster, name: str, notes: Path) -> Iterator[None]:
    """Let kubectl note every version of the type in *notes* for the length of the block."""
    form = 'jsonpath={.metadata.resourceVersion}{"\\n"}'
    command = [
        str(cluster.layout.bin / "kubectl"),
        "get",
        "instancetype",
        name,
        "--watch",
        "-o",
        form,
    ]
    environment = {**os.environ, **cluster.environment()}
    with (
        notes.open("wb") as output,
        subprocess.Popen(command, env=environment, stdout=output) as process,
    ):
        try:
            yield
        finally:
            process.terminate()


async def test_each_change_is_one_write_of_the_status(
    world: World, own: Own, cluster: Cluster, tmp_path: Path
) -> None:
    own.add_node()
    await own.told(whole=view(2, 0, 2, 2))
    notes = tmp_path / "versions"

    async def noted() -> list[str]:
        """All versions up to the one that is there now."""
        last = (await world.get(names.INSTANCE_TYPE, own.name))["metadata"]["resourceVersion"]
        versions = notes.read_text().split()
        return versions if versions[-1:] == [last] else []

    with watched(cluster, own.name, notes):
        before = await until(noted)
        await foreign_pod(world, own)
        await own.told(whole=view(2, 1, 1, 1))
        await world.instance(type=own.name, resources={"acceleratorShared": True})
        await world.is_in_phase("Ready")
        await own.told(shared=view(20, 1, 19, 19))
        await world.delete(names.POD, "foreign")
        await own.told(whole=view(2, 0, 2, 2))
        after = await until(noted)

    assert 3 == len(after) - len(before)


async def test_kubectl_shows_what_one_request_could_get_and_what_is_left(
    world: World, own: Own, cluster: Cluster
) -> None:
    own.add_node()
    await own.edit(unitResources={"cpu": 8, "ram": "64Gi"})
    await own.told(whole=view(2, 0, 2, 2))
    header, row = cluster.kubectl("get", "instancetypes", own.name).splitlines()

    assert ["NAME", "MANUFACTURER", "CPU", "RAM", "EX/SH/SL/PT", "PHASE", "AGE"] == header.split()
    assert f"{own.name} nvidia 8 64Gi 2/2 20/20 100/200 1/14 Active" in " ".join(row.split())


async def test_a_maker_that_nobody_knows_is_told(own: Own) -> None:
    await own.edit(manufacturer="acme")
    told = await own.told(
        message="manufacturer 'acme' is not known: the known ones are amd, ascend, cambricon, "
        "hygon, iluvatar, metax, mthreads, nvidia, thead"
    )

    assert "summary" not in told


@pytest.mark.parametrize("deleted", [True, False])
async def test_a_type_that_goes_or_is_held_leaves_running_instances_alone(
    world: World, own: Own, *, deleted: bool
) -> None:
    own.add_node()
    await world.instance(type=own.name)
    before = (await world.is_in_phase("Ready"))["status"]
    if deleted:
        await world.delete(names.INSTANCE_TYPE, own.name)
        await world.gone(names.INSTANCE_TYPE, own.name)
    else:
        await own.edit(inactive=True)
        await own.told(phase="Inactive")
    await world.edit(displayName="touched")
    after = (await world.is_in_phase("Ready"))["status"]

    assert before["podUID"] == after["podUID"]
    assert "blocker" not in after

    await world.edit(stop=True)
    await world.is_in_phase("Stopped")
    await world.edit(stop=False)
    held = await world.tells("Ready", "False", "TypeNotFound" if deleted else "TypeInactive")

    assert own.name in held["message"]
    assert await world.find(names.POD, "box") is None


async def test_t5_an_edit_of_the_type_asks_for_a_restart_and_makes_none(
    world: World, own: Own
) -> None:
    own.add_node()
    await world.instance(type=own.name)
    before = (await world.is_in_phase("Ready"))["status"]["podUID"]
    await own.edit(unitResources={"cpu": 2, "ram": "3Gi"})
    told = await world.tells("RestartPending", "True")

    assert "stop and start, or set spec.restartedAt" in told["message"]
    assert before == (await world.is_in_phase("Ready"))["status"]["podUID"]

    await world.edit(restartedAt="now")
    await world.tells("RestartPending", "False")
    main = (await world.get(names.POD, "box"))["spec"]["containers"][0]

    assert "2" == main["resources"]["limits"]["cpu"]
