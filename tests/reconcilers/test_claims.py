"""S6: whose an object is that stands under an Instance's name, and what adoption changes."""

from typing import Any

import attrs
import pytest

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import Pod, Service
from gpustack_ctrl.api.meta import ObjectMeta, OwnerReference
from gpustack_ctrl.plan.actions import Apply, Delete
from gpustack_ctrl.reconcilers import pod, service
from gpustack_ctrl.reconcilers.adoption import awaits_adoption, service_claim
from gpustack_ctrl.reconcilers.claims import Claim, claim, described, owner_of
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot
from tests.helpers.builders import (
    TCP_80,
    ending,
    instance,
    meta,
    owner,
    pod_of,
    ports,
    promised,
    remade,
    seen,
    service_of,
)

OURS = {names.PART_OF: "uid-of-box"}
EARLIER = owner(uid="uid-of-an-earlier-box")
OTHER_GROUP = attrs.evolve(EARLIER, apiVersion="elsewhere.example/v1")
CLAIMS: dict[str, tuple[ObjectMeta | None, Claim]] = {
    "nothing there": (None, Claim.ABSENT),
    "controlled by this Instance": (meta(ownerReferences=(owner(),)), Claim.OURS),
    "and on its way out": (ending(pod_of(instance())).metadata, Claim.OURS),
    "controlled by it, label gone": (meta(ownerReferences=(owner(),), labels={}), Claim.OURS),
    "owner removed by hand, label left": (meta(labels=OURS), Claim.OURS),
    "our label, another controller": (
        meta(labels=OURS, ownerReferences=(owner("ReplicaSet", uid="uid-of-a-set"),)),
        Claim.FOREIGN,
    ),
    "no owner, no label": (meta(), Claim.FOREIGN),
    "the label of an earlier Instance, without owner": (
        meta(labels={names.PART_OF: "uid-of-an-earlier-box"}),
        Claim.FOREIGN,
    ),
    "an owner that is no controller": (
        meta(ownerReferences=(attrs.evolve(owner(), controller=None),)),
        Claim.FOREIGN,
    ),
    "an earlier Instance of the name": (meta(ownerReferences=(EARLIER,)), Claim.PASSING),
    "the same kind of another group": (meta(ownerReferences=(OTHER_GROUP,)), Claim.FOREIGN),
    "an Instance of another name": (
        meta(ownerReferences=(owner(name="bench", uid="uid-of-bench"),)),
        Claim.FOREIGN,
    ),
    "somebody else's, on its way out": (ending(Pod(metadata=meta())).metadata, Claim.PASSING),
}
NOT_OURS = [name for name, (_, told) in CLAIMS.items() if told in (Claim.FOREIGN, Claim.PASSING)]


@pytest.mark.parametrize(("found", "expected"), CLAIMS.values(), ids=CLAIMS)
def test_s6_what_is_ours_is_decided_by_uid(found: ObjectMeta | None, expected: Claim) -> None:
    have = None if found is None else Pod(metadata=found)

    assert expected is claim(instance(), have)


@pytest.mark.parametrize("name", NOT_OURS)
def test_s6_a_foreign_or_passing_object_is_never_touched(name: str) -> None:
    found, _ = CLAIMS[name]
    assert found is not None
    of = instance(ports=ports(TCP_80))
    snapshot = seen(of, pod=Pod(metadata=found), service=Service(metadata=found))

    assert () == service.plan(snapshot)
    assert () == pod.plan(snapshot)


def test_s6_an_object_is_described_by_its_controller() -> None:
    assert "controlled by ReplicaSet web" == described(
        meta(ownerReferences=(owner("ReplicaSet", "web"),))
    )
    assert "without an owner" == described(meta())


def test_s3_our_owner_reference_makes_the_instance_the_controller() -> None:
    assert OwnerReference(
        apiVersion="worker.gpustack.ai/v1",
        kind="Instance",
        name="box",
        uid="uid-of-box",
        controller=True,
        blockOwnerDeletion=True,
    ) == owner_of(instance())


RUNNING = instance(ports=ports(TCP_80), status=promised(tcp80=30080))
POD = pod_of(RUNNING)


def old_service(
    *, controller: bool | None = None, of: str = "uid-of-pod", name: str = "box", **selector: str
) -> Service:
    """A Service as an older generation made it: it belongs to the Pod."""
    held = attrs.evolve(owner("Pod", name, of), controller=controller)
    made = service_of(RUNNING, (TCP_80, 30080))
    changed = attrs.evolve(made, spec=attrs.evolve(made.spec, selector=selector))
    adopted: Service = remade(changed, ownerReferences=(held,), labels={})
    return adopted


def left_by_a_pod_that_is_gone() -> InstanceSnapshot:
    left = old_service(of="uid-of-an-older-pod")
    spec = attrs.evolve(left.spec, selector={names.PART_OF: "uid-of-box"})
    return seen(RUNNING, service=attrs.evolve(left, spec=spec))


ADOPTABLE = {
    "our Pod owns it": seen(RUNNING, pod=POD, service=old_service()),
    "our Pod controls it": seen(RUNNING, pod=POD, service=old_service(controller=True)),
    "it selects us by UID": left_by_a_pod_that_is_gone(),
}
NOT_ADOPTABLE = {
    "a foreign Pod owns it": seen(
        RUNNING, pod=remade(POD, ownerReferences=(), labels={}), service=old_service()
    ),
    "a Pod that is gone owned it": seen(RUNNING, service=old_service()),
    "a Pod of another name": seen(RUNNING, pod=POD, service=old_service(name="bench")),
    "it is going": seen(RUNNING, pod=POD, service=ending(old_service())),
    "nobody owns it": seen(
        RUNNING, pod=POD, service=remade(old_service(app="box"), ownerReferences=())
    ),
    "there is none": seen(RUNNING, pod=POD),
}


@pytest.mark.parametrize("snapshot", ADOPTABLE.values(), ids=ADOPTABLE)
def test_a_service_of_our_own_pod_is_taken_over_in_place(snapshot: InstanceSnapshot) -> None:
    [action] = service.plan(snapshot)

    assert Claim.OURS is service_claim(snapshot)
    assert isinstance(action, Apply)
    assert "uid-of-service" == action.uid
    assert ["uid-of-box"] == [held["uid"] for held in action.patch["metadata"]["ownerReferences"]]
    assert "ports" not in action.patch.get("spec", {})


@pytest.mark.parametrize("snapshot", NOT_ADOPTABLE.values(), ids=NOT_ADOPTABLE)
def test_s6_any_other_service_of_a_pod_is_not_taken_over(snapshot: InstanceSnapshot) -> None:
    assert not awaits_adoption(snapshot)
    assert Claim.OURS is not service_claim(snapshot)


def test_a_wide_selector_is_narrowed_to_the_instance() -> None:
    [action] = service.plan(seen(RUNNING, pod=POD, service=old_service(app="box")))

    assert isinstance(action, Apply)
    assert {"app": None, names.PART_OF: "uid-of-box"} == action.patch["spec"]["selector"]


@pytest.mark.parametrize("change", [{"stop": True}, {"restartedAt": "now"}])
def test_the_pod_stays_until_its_service_has_changed_hands(change: dict[str, Any]) -> None:
    changed = attrs.evolve(RUNNING, spec=attrs.evolve(RUNNING.spec, **change))
    after = service_of(RUNNING, (TCP_80, 30080))

    assert () == pod.plan(seen(changed, pod=POD, service=old_service()))

    [action] = pod.plan(seen(changed, pod=POD, service=after))

    assert isinstance(action, Delete)
