"""Who holds which card of a node, by all who say so together.

Every hint that somebody else may use a card counts, also one that cannot be right: a
figure that is withheld costs less than a neighbour's.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum

import attrs

from gpustack_ctrl.api.names import MAIN
from gpustack_ctrl.metering.accelerators.grants import (
    Card,
    DeviceGrant,
    Makers,
    annotated,
    card_of,
)
from gpustack_ctrl.metering.accelerators.readings import DeviceSample, Extent, Mode, Reason
from gpustack_ctrl.metering.accelerators.tenants import Tenant, Tenants


class Other(Enum):
    """Somebody who is no tenant, and need not be the same one each time."""

    SOMEBODY = "somebody"


Holder = Tenant | Reason | Other


@attrs.frozen(kw_only=True)
class Hold:
    """That *holder* has *card*; a Reason stands for whom a source means but we cannot tell.

    *mode* is how a tenant has it: its own word, unless the kubelet knows of others. Who
    *looks* is another container of the tenant than `main`: no grant, but somebody.
    """

    card: Card
    holder: Holder
    manufacturer: str = ""
    mode: Mode | None = None
    looks: bool = False


@attrs.frozen
class Holders:
    """All holds of a node, by the place of the card."""

    by_place: Mapping[str, tuple[Hold, ...]]
    parts: frozenset[tuple[str, str]]
    """The tenants that have a partition, by the UID of the Pod, and the id of its card."""

    def has_part(self, tenant: Tenant, card: Card) -> bool:
        """Whether *card* is whole and *tenant*, who is said to have it, has a part of it."""
        return not card.partition and (tenant.uid, card.id) in self.parts

    def alone(self, hold: Hold) -> Tenant | None:
        """The tenant that has the card to itself, if there is one, whoever says so."""
        holds = self._at(hold.card.place, hold.manufacturer)
        tenants = {one.holder for one in holds if isinstance(one.holder, Tenant)}
        grants = [one for one in holds if not one.looks]
        if len(tenants) != 1 or not grants or any(map(_may_be_others, grants)):
            return None
        return tenants.pop()

    def failed(self, place: str, manufacturer: str) -> Reason | None:
        """Why it cannot be told whom a source means by *place*, if that is so."""
        holders = (hold.holder for hold in self._at(place, manufacturer))
        return next((holder for holder in holders if isinstance(holder, Reason)), None)

    def _at(self, place: str, manufacturer: str) -> tuple[Hold, ...]:
        found = self.by_place.get(place, ())
        return tuple(hold for hold in found if same_maker(hold.manufacturer, manufacturer))


def same_maker(one: str, other: str) -> bool:
    """Whether a card may be of both: ids such as `0` are not of one manufacturer alone."""
    return not one or not other or one == other


def _may_be_others(hold: Hold) -> bool:
    shared = hold.mode not in {Mode.EXCLUSIVE, Mode.PARTITIONED} or hold.card.shared
    return shared or not isinstance(hold.holder, Tenant)


def holders(
    tenants: Tenants,
    makers: Makers,
    samples: tuple[DeviceSample, ...],
    grants: Iterable[DeviceGrant],
    *,
    shared: bool,
) -> Holders:
    """Who holds what by samples, by the kubelet's *grants* and by annotations.

    *shared*: the node gives cards to several Pods under the name of whole ones.
    """
    known = frozenset(sample.id for sample in samples)
    claimed = tuple(_by_samples(tenants, samples))
    kubelet = tuple(_by_kubelet(tenants, makers, grants))
    told = [*claimed, *(hold for hold in kubelet if not isinstance(hold.holder, Tenant))]
    for tenant in tenants.by_uid.values():
        mine = _places(h for h in claimed if h.holder is tenant and not h.looks)
        own = tuple(hold for hold in kubelet if hold.holder is tenant)
        told.extend(_news(mine, _better(own, tuple(_by_annotation(tenant)), known), known))
    return _arranged(tuple(_as_shared(hold) if shared else hold for hold in told))


def _arranged(holds: tuple[Hold, ...]) -> Holders:
    parts = (
        (hold.holder.uid, hold.card.id)
        for hold in holds
        if isinstance(hold.holder, Tenant) and hold.card.partition and not hold.looks
    )
    return Holders(_by_place(holds), frozenset(parts))


def _places(holds: Iterable[Hold]) -> frozenset[str]:
    return frozenset(hold.card.place for hold in holds)


def _news(
    claimed: frozenset[str], holds: tuple[Hold, ...], known: frozenset[str]
) -> tuple[Hold, ...]:
    """Of *holds* those that are not a card in *claimed* under another name.

    A partition has a name of its own for the kubelet, and the card's for the source.
    """
    if len(claimed) < len(_places(holds)):
        return holds
    return tuple(hold for hold in holds if hold.card.id in known)


def _by_place(holds: Iterable[Hold]) -> Mapping[str, tuple[Hold, ...]]:
    found: dict[str, list[Hold]] = {}
    for hold in holds:
        found.setdefault(hold.card.place, []).append(hold)
    return {place: tuple(held) for place, held in found.items()}


def _better(
    kubelet: tuple[Hold, ...], annotation: tuple[Hold, ...], known: frozenset[str]
) -> tuple[Hold, ...]:
    """The kubelet's word, unless it speaks of cards that no source has heard of.

    HAMi's plugin, for one, tells the kubelet ids of its own making.
    """
    heard_of = any(hold.card.id in known for hold in kubelet)
    return kubelet if heard_of or not annotation else annotation


def _as_shared(hold: Hold) -> Hold:
    if hold.mode is not Mode.EXCLUSIVE:
        return hold
    return attrs.evolve(hold, mode=Mode.SHARED)


def _by_samples(tenants: Tenants, samples: Iterable[DeviceSample]) -> Iterator[Hold]:
    for sample in samples:
        if sample.pod is not None:
            found = tenants.claimed(sample.pod)
            held = _held(sample_card(sample), found, sample.manufacturer)
            yield attrs.evolve(held, looks=isinstance(found, Tenant) and not sample.pod.of_main)


def sample_card(sample: DeviceSample) -> Card:
    """What *sample* is about; a slice is a use of the whole card."""
    parted = sample.extent is Extent.PARTITION
    return Card(sample.id, sample.partition if parted else "")


def _held(card: Card, holder: Holder, manufacturer: str) -> Hold:
    given = holder.given if isinstance(holder, Tenant) else None
    return Hold(
        card=card,
        holder=holder,
        manufacturer=given.manufacturer if given else manufacturer,
        mode=_mode(card, given.mode if given else None),
    )


def _mode(card: Card, mode: Mode | None) -> Mode | None:
    """What has the number of a partition is one, whatever its resource is called."""
    parted = card.partition or card.id.startswith("MIG-")
    if parted and mode is not Mode.SHARED:
        return Mode.PARTITIONED
    return Mode.SHARED if card.shared and mode in {None, Mode.EXCLUSIVE} else mode


def _by_annotation(tenant: Tenant) -> Iterator[Hold]:
    for card in annotated(tenant.pod):
        yield _held(card, tenant, "")


def _by_kubelet(tenants: Tenants, makers: Makers, grants: Iterable[DeviceGrant]) -> Iterator[Hold]:
    for grant in grants:
        given = makers.given(grant.resource)
        if given is None:
            continue  # Not a device: units of a part of one, or the sidecar's look.
        if not tenants.runs(grant.namespace, grant.pod):
            continue  # The kubelet may list Pods that have ended (kubernetes#119423).
        holder = _holder(tenants, grant)
        for device in grant.devices:
            yield _held(card_of(device), holder, given.manufacturer)


def _holder(tenants: Tenants, grant: DeviceGrant) -> Holder:
    """The kubelet tells no UID; a Pod that is ours but not its `main` is not looked into."""
    found = tenants.named(grant.namespace, grant.pod)
    if isinstance(found, Tenant):
        return found if grant.container == MAIN else Other.SOMEBODY
    return Other.SOMEBODY
