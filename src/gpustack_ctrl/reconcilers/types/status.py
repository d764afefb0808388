"""What to tell of an InstanceType: what is left, and whether Instances may be made."""

from collections.abc import Mapping

import attrs

from gpustack_ctrl.api.instance_type import InstanceType, InstanceTypeStatus, TypePhase, View
from gpustack_ctrl.api.manufacturers import Manufacturer
from gpustack_ctrl.api.resources import Family
from gpustack_ctrl.reconcilers.types.capacity import NodeUse, views


@attrs.frozen(kw_only=True)
class TypeSnapshot:
    """A type, the nodes it can be scheduled to, and the makers that are known."""

    type: InstanceType
    uses: tuple[NodeUse, ...]
    manufacturers: Mapping[str, Manufacturer]


def type_status(seen: TypeSnapshot) -> InstanceTypeStatus:
    """The status of the type."""
    spec = seen.type.spec
    maker = seen.manufacturers.get(spec.manufacturer)
    told = InstanceTypeStatus(
        observedGeneration=seen.type.metadata.generation,
        phase=TypePhase.INACTIVE if spec.inactive else TypePhase.ACTIVE,
        message=_message(seen),
        nodes=len(seen.uses),
    )
    if maker is None:
        return told
    found = views(spec, maker, seen.uses)
    return attrs.evolve(
        told,
        whole=found.get(Family.WHOLE, View()),
        shared=found.get(Family.SHARED, View()),
        sliced=found.get(Family.SLICED, View()),
        partitioned=found.get(Family.PARTITIONED, View()),
        summary="  ".join(_summary(found.get(family)) for family in Family),
    )


def _message(seen: TypeSnapshot) -> str:
    spec = seen.type.spec
    if spec.manufacturer and spec.manufacturer not in seen.manufacturers:
        known = ", ".join(sorted(seen.manufacturers))
        return f"manufacturer {spec.manufacturer!r} is not known: the known ones are {known}"
    if spec.inactive:
        return "inactive: no new Instances are made, running ones stay"
    return "" if seen.uses else "no node that is Ready and takes Pods has the labels of the type"


def _summary(view: View | None) -> str:
    """What can be had at once, and at all; a hyphen where there is none or it is not offered."""
    return f"{view.onceMaxRequest}/{view.remaining}" if view and view.capacity else "-"
