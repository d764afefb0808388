"""What accelerators a node offers, and in whose names: read from its resources and labels."""

from collections.abc import Iterator, Mapping

import attrs

from gpustack_ctrl.api.core import Node
from gpustack_ctrl.api.instance_type import Dialect, PartitionProfile
from gpustack_ctrl.api.manufacturers import HamiNames, Manufacturer
from gpustack_ctrl.api.product_labels import (
    MIG_STRATEGY,
    PRODUCT_LABELS,
    ProductLabels,
    memory_mib,
)
from gpustack_ctrl.api.resources import Family
from gpustack_ctrl.reconcilers.types.capacity import extended

OS = "kubernetes.io/os"
ARCH = "kubernetes.io/arch"
_NO_LABELS = ProductLabels(product=())
_MIG = "-MIG-"
_REPLICAS = "-SHARED"


@attrs.frozen(kw_only=True, order=True)
class Sort:
    """What nodes have in common that one InstanceType can serve.

    *resource* is set where it is not known from the maker. *product* is the label that
    tells it, as key and value, or two empty strings.
    """

    maker: str
    product: tuple[str, str] = ("", "")
    dialect: Dialect
    resource: str = ""
    os: str = ""
    arch: str = ""

    @property
    def replicas(self) -> bool:
        """Whether each unit is a time-slicing replica of a card."""
        return self.product[1].endswith(_REPLICAS)


@attrs.frozen(kw_only=True)
class Offer:
    """What one node offers of one sort."""

    sort: Sort
    families: frozenset[Family]
    profiles: Mapping[str, PartitionProfile] = attrs.field(factory=dict)
    memory_mib: int | None = None


def offers(node: Node, makers: Mapping[str, Manufacturer]) -> Iterator[Offer]:
    """An offer for each of *makers* whose accelerators the node has."""
    there = {name for name, amount in extended(node.status.allocatable).items() if amount > 0}
    for maker in makers.values():
        offer = _read(node, maker, there)
        if offer is not None and offer.families:
            yield _labelled(offer, node)


def _read(node: Node, maker: Manufacturer, there: set[str]) -> Offer | None:
    """The dialect is told by the names that are there; a plain count alone is stock."""
    base = maker.resource
    parts = (f"{base}.sliced", f"{base}.partitioned", maker.visibility_resource)
    if any(name.startswith(parts) for name in there):
        return _gpustack(maker, there)
    if maker.hami is not None and _is_hami(node, maker, maker.hami, there):
        return _hami(maker, maker.hami, there)
    if maker.key == "nvidia":
        return _nvidia(node, maker, there)
    if base not in there:
        return None
    sort = Sort(maker=maker.key, dialect=Dialect.NVIDIA, resource=base)
    return Offer(sort=sort, families=frozenset({Family.WHOLE}))


def _gpustack(maker: Manufacturer, there: set[str]) -> Offer:
    base = maker.resource
    prefix = f"{base}.partitioned.{maker.partition_kind}-"
    profiles = _profiles(prefix, there) if maker.partition_kind else {}
    had = {
        Family.WHOLE: base in there,
        Family.SHARED: f"{base}.shared" in there,
        Family.SLICED: f"{base}.sliced" in there,
        Family.PARTITIONED: bool(profiles),
    }
    sort = Sort(maker=maker.key, dialect=Dialect.GPUSTACK)
    return Offer(sort=sort, families=_held(had), profiles=profiles)


def _is_hami(node: Node, maker: Manufacturer, hami: HamiNames, there: set[str]) -> bool:
    """HAMi's own names, or its note on the node: its counts may be called as the maker's."""
    own = {hami.devices, hami.memory, hami.memory_percentage, hami.cores} - {"", maker.resource}
    noted = f"hami.io/node-{maker.key}-register" in node.metadata.annotations
    return bool(own & there) or (noted and hami.devices in there)


def _hami(maker: Manufacturer, hami: HamiNames, there: set[str]) -> Offer:
    had = {
        Family.WHOLE: (hami.whole or hami.devices) in there,
        Family.SLICED: hami.devices in there and bool(hami.memory or hami.memory_percentage),
    }
    return Offer(sort=Sort(maker=maker.key, dialect=Dialect.HAMI), families=_held(had))


def _nvidia(node: Node, maker: Manufacturer, there: set[str]) -> Offer:
    base = maker.resource
    single = _single_profile(node)
    if single is not None and base in there:
        return Offer(
            sort=Sort(maker=maker.key, dialect=Dialect.NVIDIA, resource=base),
            families=frozenset({Family.PARTITIONED}),
            profiles={single.name: single},
        )
    found = _profiles(f"{base.partition('/')[0]}/mig-", there)
    profiles = {name: _with_memory(profile, node) for name, profile in found.items()}
    had = {
        Family.WHOLE: base in there,
        Family.SHARED: f"{base}.shared" in there,
        Family.PARTITIONED: bool(profiles),
    }
    sort = Sort(maker=maker.key, dialect=Dialect.NVIDIA)
    return Offer(sort=sort, families=_held(had), profiles=profiles)


def _held(had: Mapping[Family, bool]) -> frozenset[Family]:
    return frozenset(family for family, there in had.items() if there)


def _profiles(prefix: str, there: set[str]) -> Mapping[str, PartitionProfile]:
    names = sorted(name.removeprefix(prefix) for name in there if name.startswith(prefix))
    return {name: PartitionProfile(name=name) for name in names if name}


def _single_profile(node: Node) -> PartitionProfile | None:
    """The profile that whole cards stand for under MIG strategy `single`."""
    labels = node.metadata.labels
    product = labels.get("nvidia.com/gpu.product", "").removesuffix(_REPLICAS)
    if labels.get(MIG_STRATEGY) != "single" or _MIG not in product:
        return None
    memory = memory_mib(labels.get("nvidia.com/gpu.memory", ""))
    return PartitionProfile(name=product.rpartition(_MIG)[2], memoryMiB=memory)


def _with_memory(profile: PartitionProfile, node: Node) -> PartitionProfile:
    told = node.metadata.labels.get(f"nvidia.com/mig-{profile.name}.memory", "")
    return attrs.evolve(profile, memoryMiB=memory_mib(told))


def _labelled(offer: Offer, node: Node) -> Offer:
    labels, sort = node.metadata.labels, offer.sort
    keys = PRODUCT_LABELS.get(sort.maker, _NO_LABELS)
    told = ((key, labels[key]) for key in keys.product if labels.get(key))
    of_a_part = offer.families == {Family.PARTITIONED} and sort.resource
    return attrs.evolve(
        offer,
        sort=attrs.evolve(
            sort,
            product=next(told, ("", "")),
            os=labels.get(OS, ""),
            arch=labels.get(ARCH, ""),
        ),
        memory_mib=None if of_a_part else memory_mib(labels.get(keys.memory, "")),
    )
