"""Which Instance is told which figure: what a sample measures, to whom it belongs.

- A slice's or a partition's own figures go to the Instance that has it.
- A whole card's use goes to the Instance that has the whole card to itself. Where others
  may use it, too, nobody is told: the figure is of all of them together.
- Temperature and health are facts about the card and go to all that hold a part of it.
  Power is use.
- Of a figure that nobody is told there is a gap, with the reason.

Assumes that the samples, the kubelet's answers and the Pods were read one shortly after
another. A source that keeps figures for longer than that may tell the last use of a Pod
that has just gone as that of the next one on the card, unless it tells the Pod, too.
"""

from collections.abc import Iterator, Mapping

import attrs

from gpustack_ctrl.api.core import Pod
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.metering.accelerators import telling
from gpustack_ctrl.metering.accelerators.grants import DeviceGrant, Makers
from gpustack_ctrl.metering.accelerators.holders import Hold, Holders, holders, sample_card
from gpustack_ctrl.metering.accelerators.readings import (
    AcceleratorReading,
    Attribution,
    DeviceSample,
    EntryPoint,
    Extent,
    Gap,
    Reason,
)
from gpustack_ctrl.metering.accelerators.telling import Samples
from gpustack_ctrl.metering.accelerators.tenants import PodRef, Tenant, tenants

MOST_CARDS = 256
"""How many cards of one node are followed; the rest are a gap."""

_STRATEGY = "nvidia.com/gpu.sharing-strategy"
_FIGURE = {EntryPoint.MEMORY: "memory_used_bytes", EntryPoint.CORES: "cores_utilization"}
_STOCK = Makers()


@attrs.frozen(kw_only=True)
class Seen:
    """What is known of one node at one time.

    *instances* are all Instances by UID. *running* are the Pods of the kubelet's summary,
    *grants* its answer about devices, empty where it was not asked. *node_labels* tell
    whether the node shares cards. *silence* is why no source tells of a card, where the
    reader of the sources knows.
    """

    instances: Mapping[str, ObjectKey]
    pods: tuple[Pod, ...]
    running: tuple[PodRef, ...]
    samples: tuple[DeviceSample, ...] = ()
    grants: tuple[DeviceGrant, ...] = ()
    node_labels: Mapping[str, str] = attrs.field(factory=dict)
    silence: Reason = Reason.UNSUPPORTED


@attrs.frozen
class _Told:
    """A reading, the hold that it is of, and whose."""

    tenant: Tenant
    hold: Hold
    reading: AcceleratorReading


def attribute(seen: Seen, makers: Makers = _STOCK) -> Attribution:
    """Who is told what of the samples in *seen*.

    Guarantees: a figure of use is told to one Instance at most, and only to one whose
    alone it is by all that *seen* holds.
    """
    known = tenants(seen.pods, seen.running, seen.instances, makers)
    followed = _followed(seen.samples)
    held = holders(known, makers, followed, seen.grants, shared=_shares(seen.node_labels))
    samples = telling.arranged(followed, known)
    told = tuple(_told(held, samples))
    gaps = (*_withheld(told, samples, held, seen.silence), *_nobodys(followed, held), *_rest(seen))
    return Attribution(readings=_by_instance(told), gaps=_one_each(gaps))


def _followed(samples: tuple[DeviceSample, ...]) -> tuple[DeviceSample, ...]:
    """Samples of the first cards by id, so that each reading follows the same ones."""
    cards = frozenset(sorted({sample.id for sample in samples})[:MOST_CARDS])
    return tuple(sample for sample in samples if sample.id in cards)


def _shares(labels: Mapping[str, str]) -> bool:
    """Whether NVIDIA's feature discovery says that cards are time-sliced or served by MPS."""
    return labels.get(_STRATEGY, "none") not in {"", "none"}


def _told(held: Holders, samples: Samples) -> Iterator[_Told]:
    """One reading for each tenant and card, however many say that it has the card."""
    for holds in held.by_place.values():
        own = {h.holder: h for h in holds if isinstance(h.holder, Tenant) and not h.looks}
        for tenant, hold in own.items():
            if not held.has_part(tenant, hold.card):
                yield _Told(tenant, hold, telling.reading(tenant, hold, samples, held))


def _by_instance(told: tuple[_Told, ...]) -> Mapping[str, tuple[AcceleratorReading, ...]]:
    found: dict[str, list[AcceleratorReading]] = {}
    for one in sorted(told, key=lambda one: one.reading.id):
        found.setdefault(one.tenant.instance, []).append(one.reading)
    return {uid: tuple(readings) for uid, readings in found.items()}


def _withheld(
    told: tuple[_Told, ...], samples: Samples, held: Holders, silence: Reason
) -> Iterator[Gap]:
    """The figures that a tenant's reading lacks."""
    for one in told:
        reason = _why(one, samples, held, silence)
        for entry_point, figure in _FIGURE.items():
            if getattr(one.reading, figure) is None:
                yield Gap(
                    id=one.reading.id,
                    entry_point=entry_point,
                    reason=reason,
                    manufacturer=one.reading.manufacturer,
                )


def _why(one: _Told, samples: Samples, held: Holders, silence: Reason) -> Reason:
    failed = held.failed(one.hold.card.place, one.hold.manufacturer)
    if failed is not None:
        return failed
    whole = samples.parted(one.hold) and not one.hold.card.partition
    if samples.about(one.hold) and (whole or held.alone(one.hold) is not one.tenant):
        return Reason.MEDIATED
    if samples.about(one.hold) or samples.own(one.tenant, one.hold):
        return Reason.UNSUPPORTED
    return silence


def _nobodys(samples: tuple[DeviceSample, ...], held: Holders) -> Iterator[Gap]:
    """The figures of a Pod that cannot be found, or that a source does not name."""
    for sample in samples:
        reason = _whose(sample, held)
        for entry_point, figure in _FIGURE.items():
            if reason is not None and getattr(sample, figure) is not None:
                yield Gap(
                    id=sample_card(sample).place,
                    entry_point=entry_point,
                    reason=reason,
                    manufacturer=sample.manufacturer,
                )


def _whose(sample: DeviceSample, held: Holders) -> Reason | None:
    """A slice is somebody's; a card or a partition that nobody is named for may be free."""
    if sample.pod is None:
        return Reason.NO_POD_COMPONENT if sample.extent is Extent.SLICE else None
    return held.failed(sample_card(sample).place, sample.manufacturer)


def _rest(seen: Seen) -> Iterator[Gap]:
    if len({sample.id for sample in seen.samples}) > MOST_CARDS:
        for entry_point in EntryPoint:
            yield Gap(id="", entry_point=entry_point, reason=Reason.BOUNDED)


def _one_each(gaps: tuple[Gap, ...]) -> tuple[Gap, ...]:
    """The first reason for each figure of a card, in the order of the cards."""
    first: dict[tuple[str, str, EntryPoint], Gap] = {}
    for gap in gaps:
        first.setdefault((gap.manufacturer, gap.id, gap.entry_point), gap)
    return tuple(sorted(first.values()))
