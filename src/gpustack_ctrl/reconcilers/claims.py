"""Whose an object is that stands under the name of an Instance's child."""

from enum import Enum

from gpustack_ctrl.api import names
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.meta import Object, ObjectMeta, OwnerReference


class Claim(Enum):
    """What an Instance may do with the object under its name."""

    ABSENT = "nothing is there"
    OURS = "made for this Instance, by UID"
    PASSING = "on its way out; wait for it"
    FOREIGN = "somebody else's; never touched"


def claim(instance: Instance, have: Object | None) -> Claim:
    """Whose *have* is, decided by UIDs: its controller's, or the one it was labelled with.

    The label tells a child whose owner somebody removed by hand from one that an earlier
    Instance left behind.
    """
    if have is None:
        return Claim.ABSENT
    owner = have.metadata.controller
    if instance.uid == (owner.uid if owner else have.metadata.labels.get(names.PART_OF)):
        return Claim.OURS
    if have.metadata.deleting or _of_an_earlier_instance(instance, owner):
        return Claim.PASSING
    return Claim.FOREIGN


def owner_of(instance: Instance) -> OwnerReference:
    """The reference that makes *instance* the controller of a child."""
    return OwnerReference(
        apiVersion=names.INSTANCE.api_version,
        kind=names.INSTANCE.kind,
        name=instance.key.name,
        uid=instance.uid,
        controller=True,
        blockOwnerDeletion=True,
    )


def owners(instance: Instance, have: ObjectMeta) -> tuple[OwnerReference, ...]:
    """Who a child of *instance* should belong to: to it, and to whom others gave it besides.

    Its own Pod is no owner: an older generation gave Services to Pods, to go with them.
    """
    ours = owner_of(instance)
    others = (
        held
        for held in have.ownerReferences
        if not held.controller and held.uid != ours.uid and held.kind != names.POD.kind
    )
    return (ours, *others)


def described(metadata: ObjectMeta) -> str:
    """Whose an object is, for a person: its controller, or that it has none."""
    owner = metadata.controller
    return f"controlled by {owner.kind} {owner.name}" if owner else "without an owner"


def _of_an_earlier_instance(instance: Instance, owner: OwnerReference | None) -> bool:
    """An Instance of the same name that was deleted: the garbage collector is at it."""
    if owner is None or owner.kind != names.INSTANCE.kind or owner.name != instance.key.name:
        return False
    return owner.apiVersion.partition("/")[0] == names.INSTANCE.group
