"""What the nodes of an InstanceType offer, and what Pods hold of it.

Only extended resources are counted, as the device plugins of the nodes report them: we
keep no ledger of devices that could disagree with theirs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

import attrs

from gpustack_ctrl.api import quantity
from gpustack_ctrl.api.core import Node, Pod, Quantities
from gpustack_ctrl.api.instance_type import Dialect, InstanceTypeSpec, View
from gpustack_ctrl.api.manufacturers import Manufacturer
from gpustack_ctrl.api.meta import condition_of
from gpustack_ctrl.api.resources import Family
from gpustack_ctrl.reconcilers.accelerators.dialects.nvidia import is_single
from gpustack_ctrl.reconcilers.status.pod_progress import has_ended

WHOLE_CARD = 100
"""A card in percent of its own memory: no slice is larger."""


@attrs.frozen(kw_only=True)
class NodeUse:
    """What one node offers of each extended resource, and what Pods hold of it."""

    offers: Mapping[str, int]
    held: Mapping[str, int]

    def free(self, resource: str) -> int:
        """What is left of *resource*."""
        return max(0, self.offers.get(resource, 0) - self.held.get(resource, 0))


def is_of_type(node: Node, offered: InstanceTypeSpec) -> bool:
    """Whether Instances of the type can be scheduled to *node* now."""
    ready = condition_of(node.status.conditions, "Ready")
    if node.spec.unschedulable or ready is None or ready.status != "True":
        return False
    wanted = {**offered.nodeSelector}
    if offered.os:
        wanted["kubernetes.io/os"] = offered.os
    if offered.arch:
        wanted["kubernetes.io/arch"] = offered.arch
    return wanted.items() <= node.metadata.labels.items()


def use_of(node: Node, pods: Iterable[Pod]) -> NodeUse:
    """What *node* offers, and what *pods*, all of its Pods, hold."""
    held: Counter[str] = Counter()
    for pod in pods:
        if not has_ended(pod):
            held.update(held_by(pod))
    return NodeUse(offers=extended(node.status.allocatable), held=held)


def held_by(pod: Pod) -> Mapping[str, int]:
    """The extended resources that *pod* holds: as the scheduler counts, the most at once.

    Containers and sidecars run together; other init containers before them, one by one.
    """
    together: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    for container in pod.spec.initContainers:
        asked = extended(container.resources.requests)
        if container.stays:
            together.update(asked)
        alone |= together if container.stays else together + Counter(asked)
    for container in pod.spec.containers:
        together.update(extended(container.resources.requests))
    return together | alone


def extended(quantities: Quantities) -> Mapping[str, int]:
    """The extended resources among *quantities*: those with a domain in their name."""
    return {name: int(quantity.parse(held)) for name, held in quantities.items() if "/" in name}


def holds_extended(pod: Pod) -> bool:
    """Whether the Pod asks for any extended resource."""
    containers = (*pod.spec.containers, *pod.spec.initContainers)
    return any("/" in name for held in containers for name in held.resources.requests)


def whole(resource: str, uses: Iterable[NodeUse]) -> View:
    """The view of a resource that one Instance may take as much of as one node has."""
    nodes = tuple(uses)
    free = [node.free(resource) for node in nodes]
    return _view(resource, nodes, most=max(free, default=0))


def sliced(prefix: str, uses: Iterable[NodeUse], card_mib: int | None) -> View:
    """The view of slices, in percent of a card; slices in MiB are converted, rounded up."""
    percent, mib = f"{prefix}.memory-percentage", f"{prefix}.memory-mib"
    converted = tuple(_in_percent(node, percent, mib, card_mib) for node in uses)
    free = [node.free(percent) for node in converted]
    return _view(percent, converted, most=min(WHOLE_CARD, max(free, default=0)))


def partitioned(resources: Iterable[str], uses: Iterable[NodeUse]) -> View:
    """The view of hardware partitions, of which an Instance may have one."""
    nodes = tuple(uses)
    views = [_view(resource, nodes, most=0) for resource in resources]
    remaining = sum(view.remaining for view in views)
    return View(
        capacity=sum(view.capacity for view in views),
        allocated=sum(view.allocated for view in views),
        remaining=remaining,
        onceMaxRequest=min(1, remaining),
    )


def views(
    offered: InstanceTypeSpec, maker: Manufacturer, uses: Iterable[NodeUse]
) -> Mapping[Family, View]:
    """A view for each family that the type offers."""
    found = _DIALECTS[offered.dialect](offered, maker, tuple(uses))
    return {
        family: view
        for family, view in found.items()
        if not offered.families or family in offered.families
    }


def _gpustack(
    offered: InstanceTypeSpec, maker: Manufacturer, nodes: tuple[NodeUse, ...]
) -> Mapping[Family, View]:
    base = offered.resourceName or maker.resource
    return {
        Family.WHOLE: whole(base, nodes),
        Family.SHARED: whole(f"{base}.shared", nodes),
        Family.SLICED: sliced(f"{base}.sliced", nodes, offered.acceleratorMemoryMiB),
        Family.PARTITIONED: partitioned((f"{base}.partitioned",), nodes),
    }


def _stock(
    offered: InstanceTypeSpec, maker: Manufacturer, nodes: tuple[NodeUse, ...]
) -> Mapping[Family, View]:
    """The views under a maker's stock plugin: what it calls shared is never whole, too.

    A named resource of a type without whole cards stands for partitions of one profile.
    """
    base = offered.resourceName or maker.resource
    if is_single(offered):
        return {Family.PARTITIONED: partitioned((base,), nodes)}
    domain = base.partition("/")[0]
    profiles = {name for node in nodes for name in node.offers if name.startswith(f"{domain}/mig-")}
    partitions = partitioned(sorted(profiles), nodes)
    if base.endswith(".shared"):
        return {Family.SHARED: whole(base, nodes), Family.PARTITIONED: partitions}
    return {
        Family.WHOLE: whole(base, nodes),
        Family.SHARED: whole(f"{base}.shared", nodes),
        Family.PARTITIONED: partitions,
    }


def _hami(
    offered: InstanceTypeSpec, maker: Manufacturer, nodes: tuple[NodeUse, ...]
) -> Mapping[Family, View]:
    """Devices alone: nodes do not tell of HAMi's memory and cores as resources."""
    named = maker.hami.whole or maker.hami.devices if maker.hami else ""
    return {Family.WHOLE: whole(offered.resourceName or named, nodes)}


_DIALECTS: Mapping[
    Dialect,
    Callable[[InstanceTypeSpec, Manufacturer, tuple[NodeUse, ...]], Mapping[Family, View]],
] = {Dialect.GPUSTACK: _gpustack, Dialect.NVIDIA: _stock, Dialect.HAMI: _hami}


def _view(resource: str, nodes: Iterable[NodeUse], *, most: int) -> View:
    held = tuple(nodes)
    return View(
        capacity=sum(node.offers.get(resource, 0) for node in held),
        allocated=sum(node.held.get(resource, 0) for node in held),
        remaining=sum(node.free(resource) for node in held),
        onceMaxRequest=most,
    )


def _in_percent(node: NodeUse, percent: str, mib: str, card_mib: int | None) -> NodeUse:
    held = node.held.get(percent, 0)
    in_mib = node.held.get(mib, 0)
    if in_mib and card_mib:
        part = Fraction(in_mib * WHOLE_CARD, card_mib)
        held += -(-part.numerator // part.denominator)
    return NodeUse(offers=node.offers, held={percent: held})
