"""T1: the status never lies: it speaks of the spec it has seen, and of nothing else."""

import pytest

from gpustack_ctrl.api import names
from tests.integration.operations.conftest import Kubectl
from tests.integration.world import Operator, Wire, World, condition, until

TAMPERED = {
    "phase": "Failed",
    "message": "somebody was here",
    "nodeName": "elsewhere",
    "conditions": [
        {
            "type": "Ready",
            "status": "False",
            "reason": "Nonsense",
            "lastTransitionTime": "2020-01-01T00:00:00Z",
        },
        {
            "type": "Invented",
            "status": "True",
            "reason": "Nonsense",
            "lastTransitionTime": "2020-01-01T00:00:00Z",
        },
    ],
}


async def observed(world: World) -> tuple[int, set[int]]:
    """The generation of the Instance, and those that its conditions speak of."""
    held = await world.get(names.INSTANCE, "box")
    told = {one["observedGeneration"] for one in held["status"]["conditions"]}
    return held["metadata"]["generation"], told


async def test_t1_every_condition_carries_the_generation_it_speaks_of(
    world: World, operator: Operator
) -> None:
    await world.instance(ports=[{"port": 8080}])
    await world.is_in_phase("Ready")
    first = await observed(world)
    await world.edit(displayName="another name")
    await world.is_in_phase("Ready")
    second = await observed(world)
    await world.edit(stop=True)
    await world.is_in_phase("Stopped")
    third = await observed(world)

    assert [(1, {1}), (2, {2}), (3, {3})] == [first, second, third]


async def test_t1_a_status_that_somebody_wrote_into_is_put_right(
    world: World, operator: Operator
) -> None:
    await world.instance(ports=[{"port": 8080}])
    before = (await world.is_in_phase("Ready"))["status"]
    key = world.key("box", names.INSTANCE)
    await world.rest.merge_patch(names.INSTANCE, key, {"status": TAMPERED}, "status")

    async def is_put_right() -> Wire | None:
        status: Wire = (await world.get(names.INSTANCE, "box"))["status"]
        return status if status["phase"] == "Ready" else None

    after = await until(is_put_right)

    assert timeless(before) == timeless(after)


def timeless(status: Wire) -> Wire:
    """*status* without since when each condition holds, which tampering did change."""
    conditions = [{**one, "lastTransitionTime": ""} for one in status["conditions"]]
    return {**status, "conditions": conditions}


async def test_t1_a_status_that_somebody_removed_is_written_anew(
    world: World, operator: Operator
) -> None:
    await world.instance(ports=[{"port": 8080}])
    before = (await world.is_in_phase("Ready"))["status"]
    key = world.key("box", names.INSTANCE)
    await world.rest.merge_patch(names.INSTANCE, key, {"status": None}, "status")
    after = (await world.is_in_phase("Ready"))["status"]

    assert timeless(before) == timeless(after)


async def test_t1_an_old_condition_is_no_answer_to_a_new_spec(
    world: World, operator: Operator, kubectl: Kubectl
) -> None:
    """`kubectl wait` looks at the generation of a condition: what nobody has judged is not so."""
    await world.instance()
    await world.is_in_phase("Ready")
    await operator.kill()
    before = await kubectl("wait", "--for=condition=Ready", "--timeout=5s", "instance/box")
    await world.edit(displayName="not seen by anybody")
    told = await world.get(names.INSTANCE, "box")
    after = await kubectl(
        "wait", "--for=condition=Ready", "--timeout=1s", "instance/box", check=False
    )

    assert before.endswith("condition met\n")
    assert "True" == condition(told, "Ready")["status"]
    assert "timed out waiting for the condition" in after


@pytest.mark.parametrize(
    ("condition", "change"), [("Ready", {"stop": False}), ("Stopped", {"stop": True})]
)
async def test_t2_kubectl_wait_sees_what_happens(
    world: World, operator: Operator, kubectl: Kubectl, condition: str, change: Wire
) -> None:
    await world.instance(stop=not change["stop"])
    await world.is_in_phase("Ready" if change["stop"] else "Stopped")
    await world.edit(**change)
    said = await kubectl("wait", f"--for=condition={condition}", "--timeout=60s", "instance/box")

    assert "instance.worker.gpustack.ai/box condition met\n" == said
