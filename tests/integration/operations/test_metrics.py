"""The page of metrics of a real operator: what it says of real Instances."""

import asyncio
import re
import shutil
import subprocess
from datetime import datetime

import pytest

from gpustack_ctrl.api import names
from gpustack_ctrl.api.instance_status import Phase
from gpustack_ctrl.metering.families import Group, catalogue
from tests.cli.command import Process
from tests.integration.operations.conftest import Maker
from tests.integration.operations.scrape import Told, about, operator, samples, shows
from tests.integration.world import TYPE, Wire, World, until

__all__ = ["operator"]

PROMTOOL = shutil.which("promtool")
GI = 1 << 30
USAGE = {family.name for family in catalogue() if family.group is Group.USAGE}
PASSED = {"gpustack_instance_pending_seconds_total", "gpustack_instance_stopped_seconds_total"}


def state_of(told: dict[str, list[Told]]) -> dict[str, list[Told]]:
    """What is *told* but for times, which run on."""
    return {name: held for name, held in told.items() if name not in USAGE}


async def test_an_instance_of_a_type_without_cards(
    world: World, operator: Process, offer: Maker
) -> None:
    name = await offer(unitResources={"cpu": "1500m", "ram": "3Gi"})
    instance = await world.instance(type=name)
    status = (await world.is_in_phase("Ready"))["status"]
    told = await shows(operator, instance, "Ready")
    started = datetime.fromisoformat(status["startTime"]).timestamp()
    digest = told["gpustack_instance_info"][0][0]["image_digest"]
    what = {"type": name, "node": status["nodeName"], "image": "workload:1"}

    assert re.fullmatch("sha256:[0-9a-f]{64}", digest)
    assert told.keys() >= PASSED
    assert {
        "gpustack_instance_info": [({**what, "image_digest": digest}, 1.0)],
        "gpustack_instance_phase": [({"phase": "Ready"}, 1.0)],
        "gpustack_instance_ready": [({}, 1.0)],
        "gpustack_instance_cpu_limit_cores": [({}, 1.5)],
        "gpustack_instance_cpu_request_cores": [({}, 1.2)],
        "gpustack_instance_memory_limit_bytes": [({}, 3.0 * GI)],
        "gpustack_instance_memory_request_bytes": [({}, 3.0 * GI / 8)],
        "gpustack_instance_ephemeral_storage_limit_bytes": [({}, 15.0 * GI)],
        "gpustack_instance_restarts_total": [({}, 0.0)],
        "gpustack_instance_start_time_seconds": [({}, started)],
    } == state_of(told)


@pytest.mark.parametrize(
    ("resources", "accelerators", "cores"),
    [
        ({"accelerator": 2}, ("Whole", 2.0), 8.0),
        ({"accelerator": 3, "acceleratorShared": True, "cpu": 2}, ("Shared", 3.0), 2.0),
        ({"acceleratorSlicedMemoryPercentage": 25}, ("Sliced", 1.0), 1.0),
    ],
)
async def test_accelerators_are_told_by_family_and_the_cpu_that_comes_with_them(
    world: World, operator: Process, offer: Maker, *, resources: Wire,
    accelerators: tuple[str, float], cores: float,
) -> None:  # fmt: skip
    unit = {"cpu": 4, "ram": "8Gi"}
    name = await offer(manufacturer="nvidia", acceleratorMemoryMiB=81920, unitResources=unit)
    instance = await world.instance(type=name, resources=resources)
    await world.is_in_phase("Ready")
    told = await shows(operator, instance, "Ready")
    family, count = accelerators

    assert [({"family": family}, count)] == told["gpustack_instance_accelerators"]
    assert [({}, cores)] == told["gpustack_instance_cpu_limit_cores"]


async def test_a_stopped_instance_keeps_what_it_is_and_loses_what_its_pod_was(
    world: World, operator: Process
) -> None:
    instance = await world.instance()
    await world.is_in_phase("Ready")
    await world.edit(stop=True)
    await world.is_in_phase("Stopped")
    told = await shows(operator, instance, "Stopped")

    what = {"type": TYPE, "node": "", "image": "workload:1", "image_digest": ""}

    assert told.keys() >= PASSED
    assert {
        "gpustack_instance_info": [(what, 1.0)],
        "gpustack_instance_phase": [({"phase": "Stopped"}, 1.0)],
        "gpustack_instance_ready": [({}, 0.0)],
        "gpustack_instance_accelerators": [({"family": "Whole"}, 1.0)],
    } == state_of(told)


async def test_failed_and_restarted_are_told(world: World, operator: Process) -> None:
    instance = await world.instance()
    await world.is_in_phase("Ready")
    again = [{"name": "main", "ready": False, "restartCount": 3, "image": "", "imageID": ""}]
    over = {"phase": "Failed", "reason": "Evicted", "containerStatuses": again}
    key = world.key("box", names.POD)
    await world.rest.merge_patch(names.POD, key, {"status": over}, "status")
    told = await shows(operator, instance, "Failed")

    assert [({}, 3.0)] == told["gpustack_instance_restarts_total"]
    assert [({}, 0.0)] == told["gpustack_instance_ready"]


async def test_instances_are_counted_by_namespace_and_phase(
    world: World, operator: Process
) -> None:
    for name, stop in (("one", False), ("two", False), ("three", True)):
        await world.instance(name, stop=stop)

    async def counted() -> bool:
        found = await asyncio.to_thread(
            operator.samples, "gpustack_instances", namespace=world.namespace
        )
        phases = {sample.labels["phase"]: sample.value for sample in found}
        zeros = {str(phase): 0.0 for phase in Phase}
        return phases == {**zeros, "Ready": 2.0, "Stopped": 1.0}

    await until(counted)


async def test_a_deleted_instance_leaves_no_series(world: World, operator: Process) -> None:
    instance = await world.instance(ports=[{"port": 8080}])
    await world.is_in_phase("Ready")
    await shows(operator, instance, "Ready")
    await world.delete(names.INSTANCE, "box")
    await world.gone(names.INSTANCE, "box")

    async def is_gone() -> bool:
        page = await asyncio.to_thread(operator.page)
        return about(page, instance) == {} and world.namespace not in page

    await until(is_gone)


async def test_one_name_used_twice_is_two_instances(world: World, operator: Process) -> None:
    first = await world.instance(stop=True)
    await shows(operator, first, "Stopped")
    await world.delete(names.INSTANCE, "box")
    await world.gone(names.INSTANCE, "box")
    second = await world.instance(stop=True)
    await shows(operator, second, "Stopped")

    assert {} == about(operator.page(), first)


async def test_no_series_has_a_label_that_prometheus_sets_itself(
    world: World, operator: Process
) -> None:
    instance = await world.instance()
    await shows(operator, instance, "Ready")
    found = samples(operator.page())

    assert found
    assert not any({"instance", "job"} & set(sample.labels) for sample in found)


@pytest.mark.skipif(PROMTOOL is None, reason="needs promtool: see e2e/packages.txt")
async def test_promtool_finds_nothing_to_complain_about(world: World, operator: Process) -> None:
    instance = await world.instance(ports=[{"port": 8080}])
    await shows(operator, instance, "Ready")
    checked = await asyncio.to_thread(_checked, operator.page())

    assert (0, "", "") == (checked.returncode, checked.stdout, checked.stderr)


def _checked(page: str) -> subprocess.CompletedProcess[str]:
    command = [str(PROMTOOL), "check", "metrics"]
    return subprocess.run(command, input=page, capture_output=True, text=True, check=False)
