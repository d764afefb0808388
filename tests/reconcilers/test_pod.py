"""I: when a Pod is made, when it has to go, and what is put right on one that stays."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.core import Pod, PodContainer
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_status import InstanceStatus
from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.plan.actions import Apply, Create, Delete, PatchType
from gpustack_ctrl.reconcilers import pod
from gpustack_ctrl.reconcilers.pod_template import rendered
from gpustack_ctrl.reconcilers.settings.in_force import SettingsInForce
from tests.helpers.builders import (
    ON,
    ending,
    instance,
    instance_type,
    owner,
    pod_of,
    policy,
    remade,
    seen,
)

BOX = instance()
POD = pod_of(BOX)


def deleted(because: str) -> Delete:
    return Delete(resource=names.POD, key=BOX.key, uid="uid-of-pod", because=because)


def test_i1_a_missing_pod_is_made_as_rendered() -> None:
    template = rendered(seen(BOX))

    [action] = pod.plan(seen(BOX))

    assert isinstance(action, Create)
    assert codec.to_wire(template) == action.body
    assert (names.POD, BOX.key) == (action.resource, action.key)


def test_i1_a_second_pod_is_never_made_beside_one_of_another_name() -> None:
    other = remade(POD, name="box-2")

    assert () == pod.plan(seen(BOX, pods=(other,)))


NOT_MADE: dict[str, Callable[[], Any]] = {
    "stopped": lambda: seen(instance(stop=True)),
    "being deleted": lambda: seen(instance(deleting=True)),
    "without its type": lambda: seen(BOX, type=None),
    "of an inactive type": lambda: seen(BOX, type=instance_type(InstanceTypeSpec(inactive=True))),
    "while no isolation is known": lambda: seen(BOX, settings=SettingsInForce(isolation=None)),
    "before its policy": lambda: seen(BOX, settings=SettingsInForce(isolation=ON)),
}


@pytest.mark.parametrize("snapshot", NOT_MADE.values(), ids=NOT_MADE)
def test_no_pod_is_made(snapshot: Callable[[], Any]) -> None:
    assert () == pod.plan(snapshot())


def test_n2_a_pod_is_made_once_its_policy_is_in_place() -> None:
    on = SettingsInForce(isolation=ON)

    [action] = pod.plan(seen(BOX, settings=on, policy=policy(ON)))

    assert isinstance(action, Create)


def test_i5_a_stop_deletes_the_pod() -> None:
    assert (deleted("stopped"),) == pod.plan(seen(instance(stop=True), pod=POD))


@pytest.mark.parametrize(
    ("made_with", "wanted", "expected"),
    [
        ("", "", ()),
        ("once", "once", ()),
        ("", "once", (deleted("restarted"),)),
        ("once", "twice", (deleted("restarted"),)),
        ("once", "", (deleted("restarted"),)),
    ],
)
def test_i5_a_changed_restarted_at_replaces_the_pod(
    made_with: str, wanted: str, expected: tuple[Delete, ...]
) -> None:
    made = pod_of(BOX, annotations={names.RESTARTED_AT: made_with})

    assert expected == pod.plan(seen(instance(restartedAt=wanted), pod=made))


def test_t5_a_pod_of_an_older_generation_stays_and_is_marked() -> None:
    asked = instance(restartedAt="long ago")
    (marked,) = pod.plan(seen(asked, pod=pod_of(BOX, annotations={})))

    assert isinstance(marked, Apply)
    assert {"metadata": {"annotations": {names.RESTARTED_AT: "long ago"}}} == marked.patch


def test_i5_a_stop_and_a_start_seen_in_one_pass_are_no_restart() -> None:
    assert () == pod.plan(seen(instance(stop=False), pod=POD))


def test_i5_a_pod_made_by_a_pass_is_what_the_next_one_wants() -> None:
    asked = instance(restartedAt="once")
    template = rendered(seen(asked))
    assert template is not None
    made = codec.from_wire(codec.to_wire(template), Pod)

    assert "" == pod.must_go(seen(asked), made)


@pytest.mark.parametrize(
    "of", [instance(stop=True), instance(restartedAt="now"), instance()], ids=repr
)
def test_a_pod_that_is_ending_is_waited_for(of: Instance) -> None:
    assert () == pod.plan(seen(of, pod=ending(POD)))


def test_a_deleted_instance_leaves_its_pod_to_the_collector() -> None:
    assert () == pod.plan(seen(instance(deleting=True, stop=True), pod=POD))


@pytest.mark.parametrize("change", ["image", "env", "type"])
def test_t5_a_changed_spec_never_ends_a_running_pod(change: str) -> None:
    edits: dict[str, Any] = {"image": "registry.example/work:2", "type": "large"}
    edited = instance(**({change: edits[change]} if change in edits else {"args": ("-v",)}))

    assert () == pod.plan(seen(edited, pod=POD))


MARKS = {names.PART_OF: "uid-of-box", names.TYPE: "instances"}
EDITED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a label removed": (
        {"labels": {names.PART_OF: "uid-of-box"}},
        {"labels": {names.TYPE: "instances"}},
    ),
    "both labels removed": ({"labels": {}}, {"labels": MARKS}),
    "a label changed": (
        {"labels": MARKS | {names.TYPE: "other"}},
        {"labels": {names.TYPE: "instances"}},
    ),
    "the owner removed": ({"ownerReferences": ()}, {"ownerReferences": [{}]}),
    "an owner added": (
        {"ownerReferences": (owner(), owner("ReplicaSet", uid="set"))},
        {"ownerReferences": [{}]},
    ),
    "the owner no controller any more": (
        {"ownerReferences": (attrs.evolve(owner(), controller=None),)},
        {"ownerReferences": [{}]},
    ),
}


@pytest.mark.parametrize(("edit", "expected"), EDITED.values(), ids=EDITED)
def test_marks_of_the_pod_that_somebody_edited_are_put_back(
    edit: dict[str, Any], expected: dict[str, Any]
) -> None:
    whole = codec.to_wire(POD.metadata)["ownerReferences"]
    wanted = expected | ({"ownerReferences": whole} if "ownerReferences" in expected else {})

    [action] = pod.plan(seen(BOX, pod=remade(POD, **edit)))

    assert isinstance(action, Apply)
    assert {"metadata": wanted} == action.patch
    assert ("uid-of-pod", "7") == (action.uid, action.resource_version)


def test_labels_and_annotations_of_others_are_left_alone() -> None:
    theirs = remade(
        POD, labels=MARKS | {"team": "x"}, annotations={names.RESTARTED_AT: "", "mesh": "on"}
    )

    assert () == pod.plan(seen(BOX, pod=theirs))


def running(image: str, *, told: str, uid: str = "uid-of-pod") -> Any:
    """An Instance whose status noted an image, over a Pod that has one."""
    status = InstanceStatus(podUID=uid, image=told)
    containers = (PodContainer(name="main", image=image), PodContainer(name="mesh", image="m:1"))
    spec = attrs.evolve(POD.spec, containers=containers)
    return seen(instance(status=status), pod=attrs.evolve(POD, spec=spec))


def test_an_image_that_somebody_set_is_put_back_to_what_the_pod_was_made_with() -> None:
    [action] = pod.plan(running("evil:1", told="registry.example/work:1"))

    assert isinstance(action, Apply)
    assert PatchType.STRATEGIC is action.how
    assert {
        "spec": {"containers": [{"name": "main", "image": "registry.example/work:1"}]}
    } == action.patch


@pytest.mark.parametrize(
    "snapshot",
    [
        running("mirror.example/work:1", told="mirror.example/work:1"),
        running("evil:1", told=""),
        running("evil:1", told="registry.example/work:1", uid="uid-of-an-earlier-pod"),
    ],
    ids=["a webhook's image", "nothing noted yet", "noted of an earlier Pod"],
)
def test_an_image_is_not_fought_over(snapshot: Any) -> None:
    assert () == pod.plan(snapshot)


def test_a_pod_without_the_container_main_is_left_alone() -> None:
    status = InstanceStatus(podUID="uid-of-pod", image="registry.example/work:1")
    bare = attrs.evolve(POD, spec=attrs.evolve(POD.spec, containers=()))

    assert () == pod.plan(seen(instance(status=status), pod=bare))
