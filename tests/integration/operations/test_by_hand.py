"""A Pod that somebody edits or deletes by hand is put right, once."""

from typing import Any

import pytest

from gpustack_ctrl.api import names
from tests.integration.observer import History
from tests.integration.operations.conftest import Kubectl
from tests.integration.world import Wire, World, until

pytestmark = pytest.mark.usefixtures("operator")


async def ready(world: World) -> Wire:
    """The Pod of a new Instance that is Ready."""
    await world.instance()
    await world.is_in_phase("Ready")
    return await world.get(names.POD, "box")


async def put_right(world: World, before: Wire, *path: str) -> Wire:
    """The Pod, once what is under *path* is as it was *before*; it was changed meanwhile."""

    async def read() -> Wire | None:
        pod = await world.get(names.POD, "box")
        return pod if _at(pod, path) == _at(before, path) else None

    return await until(read)


def _at(held: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        held = held.get(step)
    return held


async def test_another_image_is_put_back(world: World, kubectl: Kubectl, pods: History) -> None:
    pod = await ready(world)
    said = await kubectl("set", "image", "pod/box", "main=other:2")
    after = await _with_image(world, "workload:1")

    assert "pod/box image updated\n" == said
    assert ["workload:1", "other:2", "workload:1"] == _images(await pods.caught_up())
    assert pod["metadata"]["uid"] == after["metadata"]["uid"]


async def _with_image(world: World, image: str) -> Wire:
    async def read() -> Wire | None:
        pod = await world.get(names.POD, "box")
        return pod if pod["spec"]["containers"][0]["image"] == image else None

    return await until(read)


def _images(history: History) -> list[str]:
    """The images that the Pod had, one after the other."""
    all_ = [state["spec"]["containers"][0]["image"] for state in history.states]
    return [image for image, before in zip(all_, [None, *all_], strict=False) if image != before]


@pytest.mark.parametrize("label", [names.PART_OF, names.TYPE])
async def test_a_stripped_label_is_put_back(
    world: World, kubectl: Kubectl, pods: History, label: str
) -> None:
    pod = await ready(world)
    await kubectl("label", "pod", "box", f"{label}-")
    after = await put_right(world, pod, "metadata", "labels")
    history = await pods.caught_up()

    assert any(label not in state["metadata"].get("labels", {}) for state in history.states)
    assert pod["metadata"]["uid"] == after["metadata"]["uid"]


async def test_a_label_and_an_annotation_of_somebody_else_stay(
    world: World, kubectl: Kubectl
) -> None:
    pod = await ready(world)
    await kubectl("label", "pod", "box", "cost-center=7")
    await kubectl("annotate", "pod", "box", "example.com/note=mine")
    await world.edit(displayName="looked at again")
    await world.is_in_phase("Ready")
    after = await world.get(names.POD, "box")

    assert {**pod["metadata"]["labels"], "cost-center": "7"} == after["metadata"]["labels"]
    assert "mine" == after["metadata"]["annotations"]["example.com/note"]


@pytest.mark.parametrize("how", [(), ("--force", "--grace-period=0")])
async def test_i1_a_deleted_pod_comes_back(
    world: World, kubectl: Kubectl, pods: History, how: tuple[str, ...]
) -> None:
    pod = await ready(world)
    await kubectl("delete", "pod", "box", *how)

    async def is_back() -> Wire | None:
        found = await world.find(names.POD, "box")
        return found if found and found["metadata"]["uid"] != pod["metadata"]["uid"] else None

    again = await until(is_back)
    held = await world.is_in_phase("Ready")

    assert again["metadata"]["uid"] == held["status"]["podUID"]
    assert 1 == (await pods.caught_up()).most_at_once
