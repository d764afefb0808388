"""InstanceType: what an administrator offers, and all that a tenant may not decide."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, ClassVar

import attrs
from annotated_types import Ge, Le, MaxLen, MinLen

from gpustack_ctrl.api.markers import Column, Doc, ListMap, Pattern, Quantity
from gpustack_ctrl.api.meta import ObjectMeta
from gpustack_ctrl.api.resources import Family


class Dialect(StrEnum):
    """Whose names a cluster's device plugins give to accelerators."""

    GPUSTACK = "gpustack"
    NVIDIA = "nvidia"
    HAMI = "hami"


@attrs.frozen(kw_only=True)
class UnitResources:
    """What comes with one card, or with one CPU where there is no card."""

    cpu: Annotated[Quantity | None, Doc("Cores per unit.")] = None
    ram: Annotated[Quantity | None, Doc("Memory per unit.")] = None


@attrs.frozen(kw_only=True)
class PartitionProfile:
    """A hardware partition that the cards of a type can be cut into."""

    name: Annotated[
        str,
        MinLen(1),
        MaxLen(63),
        Pattern(r"[a-z0-9A-Z]([-._a-z0-9A-Z]*[a-z0-9A-Z])?"),
        Doc("Profile, such as 3g.40gb."),
    ]
    memoryMiB: Annotated[int | None, Ge(1), Le(16777216), Doc("Its memory.")] = None


@attrs.frozen(kw_only=True)
class Toleration:
    """A taint that Instances of a type put up with, in the form of core/v1."""

    key: Annotated[str, MaxLen(317), Doc("Key of the taint; empty: all.")] = ""
    operator: Annotated[str, MaxLen(16), Doc("Exists or Equal.")] = ""
    value: Annotated[str, MaxLen(253), Doc("Value of the taint.")] = ""
    effect: Annotated[str, MaxLen(32), Doc("NoSchedule, PreferNoSchedule or NoExecute.")] = ""
    tolerationSeconds: Annotated[int | None, Doc("How long to stay, for NoExecute.")] = None


Labels = Mapping[Annotated[str, MaxLen(317)], Annotated[str, MaxLen(63)]]
Annotations = Mapping[Annotated[str, MaxLen(317)], Annotated[str, MaxLen(4096)]]


@attrs.frozen(kw_only=True)
class InstanceTypeSpec:
    """What is offered."""

    displayName: Annotated[str, MaxLen(64), Doc("Name for people.")] = ""
    description: Annotated[str, MaxLen(1024), Doc("What the type is good for.")] = ""
    inactive: Annotated[bool, Doc("Hold new Instances back. Running ones stay as they are.")] = (
        False
    )
    manufacturer: Annotated[
        str, MaxLen(63), Doc("Manufacturer of the cards; empty: a type without accelerators.")
    ] = ""
    dialect: Annotated[Dialect, Doc("Whose names the device plugin gives to accelerators.")] = (
        Dialect.GPUSTACK
    )
    resourceName: Annotated[
        str, MaxLen(253), Doc("Resource of a whole card. Absent: the manufacturer's.")
    ] = ""
    families: Annotated[
        tuple[Family, ...], MaxLen(4), Doc("Ways to hold a card that are offered; empty: all.")
    ] = ()
    acceleratorMemoryMiB: Annotated[int | None, Ge(1), Le(16777216), Doc("Memory of one card.")] = (
        None
    )
    partitionProfiles: Annotated[
        tuple[PartitionProfile, ...],
        ListMap(("name",)),
        MaxLen(64),
        Doc("Partitions that are offered."),
    ] = ()
    unitResources: Annotated[UnitResources, Doc("CPU and memory that come with one card.")] = (
        UnitResources()
    )
    localStorage: Annotated[Quantity | None, Doc("Ephemeral storage of an Instance.")] = None
    os: Annotated[str, MaxLen(63), Doc("Operating system of the nodes.")] = ""
    arch: Annotated[str, MaxLen(63), Doc("Processor architecture of the nodes.")] = ""
    nodeSelector: Annotated[Labels, MaxLen(32), Doc("Labels of the nodes.")] = attrs.field(
        factory=dict
    )
    tolerations: Annotated[
        tuple[Toleration, ...], MaxLen(32), Doc("Taints that Instances put up with.")
    ] = ()
    runtimeClassName: Annotated[
        str, MaxLen(253), Doc("RuntimeClass, used where it exists. Absent: the manufacturer's.")
    ] = ""
    queueName: Annotated[str, MaxLen(253), Doc("Kueue LocalQueue that admits Instances.")] = ""
    priorityClassName: Annotated[str, MaxLen(253), Doc("PriorityClass of the Pods.")] = ""
    podAnnotations: Annotated[Annotations, MaxLen(32), Doc("Annotations of the Pods.")] = (
        attrs.field(factory=dict)
    )


class TypePhase(StrEnum):
    """Whether Instances may be made."""

    ACTIVE = "Active"
    INACTIVE = "Inactive"


@attrs.frozen(kw_only=True)
class View:
    """One way to hold an accelerator, over all nodes of the type that can be scheduled to."""

    capacity: Annotated[int, Doc("How much there is.")] = 0
    allocated: Annotated[int, Doc("How much Pods hold, anybody's.")] = 0
    remaining: Annotated[int, Doc("How much is left.")] = 0
    onceMaxRequest: Annotated[int, Doc("The most that one Instance could get now.")] = 0


@attrs.frozen(kw_only=True)
class InstanceTypeStatus:
    """What is left of the type, by the four ways to hold a card."""

    observedGeneration: Annotated[int | None, Doc("The spec that this speaks of.")] = None
    phase: Annotated[TypePhase | None, Doc("Whether Instances may be made.")] = None
    message: Annotated[str, MaxLen(1024), Doc("Why not, or what is amiss.")] = ""
    nodes: Annotated[int, Doc("Nodes that Instances of the type can be scheduled to.")] = 0
    whole: Annotated[View, Doc("Whole cards (EX).")] = View()
    shared: Annotated[View, Doc("Shares of cards (SH).")] = View()
    sliced: Annotated[View, Doc("Slices (SL), in percent of one card's memory.")] = View()
    partitioned: Annotated[View, Doc("Hardware partitions (PT).")] = View()
    summary: Annotated[
        str, MaxLen(128), Doc("onceMaxRequest/remaining of EX, SH, SL and PT, for kubectl.")
    ] = ""


@attrs.frozen(kw_only=True)
class InstanceType:
    """A kind of Instance that an administrator offers."""

    columns: ClassVar[tuple[Column, ...]] = (
        Column("Manufacturer", ".spec.manufacturer"),
        Column("CPU", ".spec.unitResources.cpu"),
        Column("RAM", ".spec.unitResources.ram"),
        Column("EX/SH/SL/PT", ".status.summary"),
        Column("Phase", ".status.phase"),
        Column("Age", ".metadata.creationTimestamp", "date"),
        Column("Nodes", ".status.nodes", "integer", wide=True),
        Column("Message", ".status.message", wide=True),
    )

    metadata: ObjectMeta
    spec: Annotated[InstanceTypeSpec, Doc("What is offered.")] = InstanceTypeSpec()
    status: Annotated[InstanceTypeStatus, Doc("What is left; written by the operator.")] = (
        InstanceTypeStatus()
    )
