"""The reading of one Instance's hold of one card, from the samples that it may be told."""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from gpustack_ctrl.metering.accelerators.holders import Hold, Holders, same_maker, sample_card
from gpustack_ctrl.metering.accelerators.readings import (
    AcceleratorReading,
    DeviceSample,
    Extent,
    Mode,
)
from gpustack_ctrl.metering.accelerators.tenants import Tenant, Tenants

_USE = ("memory_total_bytes", "memory_used_bytes", "cores_utilization")
_FACTS = ("temperature_celsius", "unhealthy")


@attrs.frozen
class Samples:
    """The samples of one node, found by what they are about."""

    by_card: Mapping[str, tuple[DeviceSample, ...]]
    """All samples of a card, by its id."""
    slices: Mapping[tuple[str, str], tuple[DeviceSample, ...]]
    """The slices of a tenant, by the UID of its Pod and the id of the card."""

    def about(self, hold: Hold) -> tuple[DeviceSample, ...]:
        """Samples of the very card or partition that is held, whoever uses it."""
        return tuple(
            sample
            for sample in self._of(hold)
            if sample.extent is not Extent.SLICE and sample_card(sample).place == hold.card.place
        )

    def of_card(self, hold: Hold) -> tuple[DeviceSample, ...]:
        """Samples of the whole card of which *hold* may be a part."""
        return tuple(sample for sample in self._of(hold) if sample.extent is Extent.DEVICE)

    def parted(self, hold: Hold) -> bool:
        """Whether the card has partitions."""
        return any(sample.extent is Extent.PARTITION for sample in self._of(hold))

    def own(self, tenant: Tenant, hold: Hold) -> tuple[DeviceSample, ...]:
        """The slices that *tenant* has of the card."""
        found = self.slices.get((tenant.uid, hold.card.id), ())
        return tuple(one for one in found if same_maker(one.manufacturer, hold.manufacturer))

    def _of(self, hold: Hold) -> tuple[DeviceSample, ...]:
        found = self.by_card.get(hold.card.id, ())
        return tuple(one for one in found if same_maker(one.manufacturer, hold.manufacturer))


def arranged(samples: Iterable[DeviceSample], tenants: Tenants) -> Samples:
    """*samples* by what they are about."""
    by_card: dict[str, list[DeviceSample]] = {}
    slices: dict[tuple[str, str], list[DeviceSample]] = {}
    for sample in samples:
        by_card.setdefault(sample.id, []).append(sample)
        whose = tenants.claimed(sample.pod) if sample.pod and sample.pod.of_main else None
        if sample.extent is Extent.SLICE and isinstance(whose, Tenant):
            slices.setdefault((whose.uid, sample.id), []).append(sample)
    return Samples(
        {card: tuple(told) for card, told in by_card.items()},
        {key: tuple(told) for key, told in slices.items()},
    )


def reading(tenant: Tenant, hold: Hold, samples: Samples, held: Holders) -> AcceleratorReading:
    """What *tenant* is told of what it holds."""
    about, of_card = samples.about(hold), samples.of_card(hold)
    mine = _mine(hold, samples) if held.alone(hold) is tenant else ()
    return AcceleratorReading(
        id=hold.card.place,
        index=next((one.index for one in (*about, *of_card) if one.index), ""),
        manufacturer=hold.manufacturer,
        mode=hold.mode or Mode.SLICED,
        power_watts=_first(_unless_parted(hold, mine), "power_watts"),
        **_use(samples.own(tenant, hold), mine),
        **{name: _first((*about, *of_card), name) for name in _FACTS},
    )


def _mine(hold: Hold, samples: Samples) -> tuple[DeviceSample, ...]:
    """Of what is held alone; who has a part of a card has not the card, if it is named so."""
    parted = hold.mode is Mode.PARTITIONED or samples.parted(hold)
    return tuple(one for one in samples.about(hold) if one.extent is Extent.PARTITION or not parted)


def _use(slices: tuple[DeviceSample, ...], mine: tuple[DeviceSample, ...]) -> dict[str, Any]:
    """One's slices, all together; else what is one's own whole."""
    return {
        name: _first(mine, name) if _sum(slices, name) is None else _sum(slices, name)
        for name in _USE
    }


def _unless_parted(hold: Hold, mine: tuple[DeviceSample, ...]) -> tuple[DeviceSample, ...]:
    """What a partition's sample says of power is the whole card's."""
    return () if hold.mode is Mode.PARTITIONED else mine


def _first(samples: Iterable[DeviceSample], name: str) -> Any:
    told = (getattr(sample, name) for sample in samples)
    return next((figure for figure in told if figure is not None), None)


def _sum(slices: tuple[DeviceSample, ...], name: str) -> Any:
    """The sum over *slices*, if every one of them tells the figure."""
    told = [getattr(sample, name) for sample in slices]
    return None if not told or None in told else sum(told)
