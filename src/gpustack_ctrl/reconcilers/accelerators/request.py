"""What an Instance asks of its node's device plugin: (type, resources) -> resource names.

The container `main` alone owns the accelerator. The sidecar asks for the visibility of
main's cards, which is not an accelerator, and only where the device plugin offers that.
"""

from collections.abc import Mapping
from fractions import Fraction

import attrs

from gpustack_ctrl.api.instance_type import Dialect, InstanceTypeSpec
from gpustack_ctrl.api.manufacturers import MANUFACTURERS, Manufacturer
from gpustack_ctrl.api.resources import Family, InstanceResources
from gpustack_ctrl.reconcilers.accelerators import dialects, shares
from gpustack_ctrl.reconcilers.accelerators.asking import Asking, asking_of
from gpustack_ctrl.reconcilers.accelerators.refusal import Refusal

__all__ = ["AcceleratorRequest", "Refusal", "request"]


@attrs.frozen(kw_only=True)
class AcceleratorRequest:
    """The accelerator of one Instance; without one, *family* is None and *count* is 0.

    *main* are the limits, and equal requests, of the container `main`; *sidecar* those
    of `sshd`. *share* is how many units of the type size CPU and memory, or why that
    is not known, which matters only where the user leaves one of them to the type.
    """

    family: Family | None = None
    count: int = 0
    main: Mapping[str, str] = attrs.field(factory=dict)
    sidecar: Mapping[str, str] = attrs.field(factory=dict)
    share: Fraction | Refusal = Fraction(1)


def request(
    offered: InstanceTypeSpec,
    asked: InstanceResources,
    manufacturers: Mapping[str, Manufacturer] = MANUFACTURERS,
) -> AcceleratorRequest | Refusal:
    """What *asked* comes to on the type *offered*: one family, or none, or a refusal."""
    asking = asking_of(asked, default=1 if offered.manufacturer else 0)
    if isinstance(asking, Refusal):
        return asking
    if asking.count == 0:
        return AcceleratorRequest()
    maker = _maker(offered, asking, manufacturers)
    if isinstance(maker, Refusal):
        return maker
    refused = _not_offered(offered, asking)
    return refused or _requested(offered, asking, maker)


def _requested(
    offered: InstanceTypeSpec, asking: Asking, maker: Manufacturer
) -> AcceleratorRequest | Refusal:
    main = dialects.limits(offered, asking, maker)
    if isinstance(main, Refusal):
        return main
    return AcceleratorRequest(
        family=asking.family,
        count=asking.count,
        main=main,
        sidecar=_visibility(offered, asking, maker),
        share=shares.share(offered, asking),
    )


def _visibility(
    offered: InstanceTypeSpec, asking: Asking, maker: Manufacturer
) -> Mapping[str, str]:
    if offered.dialect is not Dialect.GPUSTACK:
        return {}  # Nobody registers the visibility resource there: the Pod would never schedule.
    return {maker.visibility_resource: str(asking.count)}


def _maker(
    offered: InstanceTypeSpec, asking: Asking, manufacturers: Mapping[str, Manufacturer]
) -> Manufacturer | Refusal:
    if not offered.manufacturer:
        return Refusal(
            reason="NoAccelerator",
            message=f"{asking.field} asks for an accelerator but the InstanceType has none: "
            "leave it out, or choose a type with accelerators",
        )
    maker = manufacturers.get(offered.manufacturer)
    known = ", ".join(sorted(manufacturers))
    return maker or Refusal(
        reason="UnknownManufacturer",
        message=f"manufacturer {offered.manufacturer!r} of the InstanceType is not known: "
        f"an administrator must set its spec.manufacturer to one of {known}",
    )


def _not_offered(offered: InstanceTypeSpec, asking: Asking) -> Refusal | None:
    if offered.families and asking.family not in offered.families:
        ways = "; ".join(_HOW_TO_ASK[family] for family in offered.families)
        return Refusal(
            reason="FamilyNotOffered",
            message=f"{asking.field} asks for family {asking.family}, which the InstanceType "
            f"does not offer: {ways}; or choose another type",
        )
    return _profile_not_offered(offered, asking) or _too_large(offered, asking)


def _profile_not_offered(offered: InstanceTypeSpec, asking: Asking) -> Refusal | None:
    names = [profile.name for profile in offered.partitionProfiles]
    if asking.family is not Family.PARTITIONED or not names or asking.profile in names:
        return None
    return Refusal(
        reason="ProfileNotOffered",
        message=f"{asking.field} {asking.profile!r} is not offered by the InstanceType: "
        f"set it to one of {', '.join(names)}",
    )


def _too_large(offered: InstanceTypeSpec, asking: Asking) -> Refusal | None:
    card, part = offered.acceleratorMemoryMiB, asking.memory_mib
    if card is None or part is None or part <= card:
        return None
    return Refusal(
        reason="SliceTooLarge",
        message=f"{asking.field} is {part} but a card of the InstanceType has {card} MiB: "
        "lower it, or set accelerator to ask for whole cards",
    )


_HOW_TO_ASK: Mapping[Family, str] = {
    Family.WHOLE: "set accelerator to ask for whole cards",
    Family.SHARED: "set acceleratorShared to ask for shared cards",
    Family.SLICED: "set acceleratorSlicedMemoryPercentage to ask for a slice",
    Family.PARTITIONED: "set acceleratorPartitionedProfile to ask for a partition",
}
