"""T5: what the cluster's own admission makes of a Pod restarts nothing and is not fought."""

import pytest

from gpustack_ctrl.api import names
from tests.integration.observer import History
from tests.integration.operations.admission import REFUSED, Admission
from tests.integration.world import Wire, World, condition, until

pytestmark = pytest.mark.usefixtures("operator")

MIRRORED = """
    spec: Object.spec{
      containers: [Object.spec.containers{name: "main", image: "mirror.example/workload:1"}]
    }
"""
SIDECAR = """
    spec: Object.spec{
      containers: [Object.spec.containers{name: "proxy", image: "proxy:1"}]
    }
"""
MARKED = """
    metadata: Object.metadata{
      labels: {"mesh.example/injected": "true"},
      annotations: {"mesh.example/version": "1"}
    }
"""


async def all_in_force(admission: Admission) -> None:
    """Let each Pod be made with another image, one container more, and marks."""
    await admission.apply(MIRRORED, seen=lambda pod: "mirror" in str(pod["spec"]["containers"]))
    await admission.apply(SIDECAR, seen=lambda pod: len(pod["spec"]["containers"]) == 2)
    await admission.apply(MARKED, seen=lambda pod: "mesh.example/injected" in str(pod["metadata"]))


async def looked_at_again(world: World, times: int = 3) -> Wire:
    """The Instance after so many more passes, each for a change that concerns no Pod."""
    for number in range(times):
        await world.edit(displayName=f"look {number}")
        await world.is_in_phase("Ready")
    return await world.get(names.INSTANCE, "box")


async def test_t5_a_changed_pod_is_kept_as_it_is(
    world: World, admission: Admission, pods: History
) -> None:
    await all_in_force(admission)
    await world.instance(ports=[{"port": 8080}])
    first = await world.is_in_phase("Ready")
    made = await world.get(names.POD, "box")
    later = await looked_at_again(world)
    kept = await world.get(names.POD, "box")

    assert {"main": "mirror.example/workload:1", "proxy": "proxy:1"} == {
        held["name"]: held["image"] for held in kept["spec"]["containers"]
    }
    assert "true" == kept["metadata"]["labels"]["mesh.example/injected"]
    assert "mesh.example/version" in kept["metadata"]["annotations"]
    assert made["metadata"]["resourceVersion"] == kept["metadata"]["resourceVersion"]
    assert 1 == len((await pods.caught_up()).uids)
    assert "False" == condition(later, "RestartPending")["status"]
    assert first["status"]["podUID"] == later["status"]["podUID"]
    assert "mirror.example/workload:1" == later["status"]["image"]
    assert "workload:1" == later["spec"]["image"]


async def test_t5_admission_that_comes_later_restarts_nothing(
    world: World, admission: Admission, pods: History
) -> None:
    await world.instance()
    await world.is_in_phase("Ready")
    await all_in_force(admission)
    later = await looked_at_again(world)

    assert "False" == condition(later, "RestartPending")["status"]
    assert 1 == len((await pods.caught_up()).uids)

    await world.edit(restartedAt="now")

    async def is_replaced() -> Wire | None:
        status = (await world.is_in_phase("Ready"))["status"]
        return status if status["podUID"] != later["status"]["podUID"] else None

    again = await until(is_replaced)

    assert "mirror.example/workload:1" == again["image"]


async def test_t5_a_pod_that_admission_refuses_is_told_in_its_words(
    world: World, admission: Admission
) -> None:
    broken = 'spec: Object.spec{containers: [Object.spec.containers{name: "Not A Name"}]}'
    await admission.apply(broken, seen=lambda pod: REFUSED in pod)
    await world.instance()

    async def is_refused() -> Wire | None:
        status = (await world.get(names.INSTANCE, "box")).get("status", {})
        blocker: Wire | None = status.get("blocker")
        return blocker

    told = await until(is_refused)

    assert "Not A Name" in told["message"]
    assert ("admission", "PodRefused") == (told["gate"], told["reason"])
