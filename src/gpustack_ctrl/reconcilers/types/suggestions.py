"""The InstanceTypes that the nodes of a cluster call for.

One for each product, dialect, operating system and architecture, and one without cards.
They are a start: an administrator reads, changes and applies them.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping

from gpustack_ctrl.api.core import Node
from gpustack_ctrl.api.instance_type import (
    InstanceType,
    InstanceTypeSpec,
    UnitResources,
)
from gpustack_ctrl.api.manufacturers import Manufacturer
from gpustack_ctrl.api.meta import ObjectMeta
from gpustack_ctrl.api.resources import Family
from gpustack_ctrl.reconcilers.types.offers import ARCH, OS, Offer, Sort, offers

LONGEST_NAME = 63
LONGEST_DISPLAY_NAME = 64
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
_GENERAL_UNIT = UnitResources(cpu=1, ram="2Gi")
_UNKNOWN_UNIT = UnitResources(cpu=4, ram="16Gi")
_LARGEST_UNIT = UnitResources(cpu=12, ram="192Gi")
_UNITS = (
    (16, UnitResources(cpu=8, ram="32Gi")),
    (48, UnitResources(cpu=8, ram="64Gi")),
    (96, UnitResources(cpu=12, ram="128Gi")),
)
"""What comes with a card of up to so many GiB of memory."""

_OF_REPLICAS = "Each unit is a time-slicing replica: several share one card."
_OF_ANY_PRODUCT = "No label tells the product: it takes any node with cards of this maker."


def suggestions(
    nodes: Iterable[Node], makers: Mapping[str, Manufacturer]
) -> tuple[InstanceType, ...]:
    """An InstanceType for each sort of accelerator that *nodes* offer, and one without."""
    seen = tuple(nodes)
    groups: dict[Sort, list[Offer]] = {}
    for node in seen:
        for offer in offers(node, makers):
            groups.setdefault(offer.sort, []).append(offer)
    wanted = [
        *((_stem(sort), _accelerated(sort, groups[sort])) for sort in sorted(groups)),
        *(("cpu", spec) for spec in _general(seen)),
    ]
    return tuple(
        InstanceType(metadata=ObjectMeta(name=name), spec=spec) for name, spec in _named(wanted)
    )


def unit_resources(memory_mib: int | None) -> UnitResources:
    """What comes with one card that has so much memory."""
    if memory_mib is None:
        return _UNKNOWN_UNIT
    fitting = (unit for most, unit in _UNITS if memory_mib <= most << 10)
    return next(fitting, _LARGEST_UNIT)


def _accelerated(sort: Sort, group: Iterable[Offer]) -> InstanceTypeSpec:
    """What all of *group* offers together; of its memories the smallest."""
    held = tuple(group)
    families = {family for offer in held for family in offer.families}
    profiles = {name: profile for offer in held for name, profile in offer.profiles.items()}
    memory = min((offer.memory_mib for offer in held if offer.memory_mib), default=None)
    key, product = sort.product
    return InstanceTypeSpec(
        displayName=(product or sort.maker)[:LONGEST_DISPLAY_NAME],
        description=_description(sort),
        manufacturer=sort.maker,
        dialect=sort.dialect,
        resourceName=sort.resource,
        families=tuple(family for family in Family if family in families),
        acceleratorMemoryMiB=memory,
        partitionProfiles=tuple(profiles[name] for name in sorted(profiles)),
        unitResources=unit_resources(memory),
        os=sort.os,
        arch=sort.arch,
        nodeSelector={key: product} if product else {},
    )


def _description(sort: Sort) -> str:
    notes = ((sort.replicas, _OF_REPLICAS), (not sort.product[1], _OF_ANY_PRODUCT))
    return " ".join(note for holds, note in notes if holds)


def _general(nodes: Iterable[Node]) -> Iterator[InstanceTypeSpec]:
    """A type without cards for each platform."""
    labels = [node.metadata.labels for node in nodes]
    for os, arch in sorted({(told.get(OS, ""), told.get(ARCH, "")) for told in labels}):
        yield InstanceTypeSpec(displayName="CPU", unitResources=_GENERAL_UNIT, os=os, arch=arch)


def _stem(sort: Sort) -> str:
    product = _slug(sort.product[1])
    return product if product.startswith(sort.maker) else _slug(f"{sort.maker}-{product}")


def _named(
    wanted: Iterable[tuple[str, InstanceTypeSpec]],
) -> Iterator[tuple[str, InstanceTypeSpec]]:
    """Each spec with a name of its own: its stem, and what tells it from others of that stem."""
    pairs = tuple(wanted)
    taken: set[str] = set()
    for stem, spec in pairs:
        alike = [_tellings(other) for held, other in pairs if held == stem]
        tells = [told for told, *others in zip(_tellings(spec), *alike, strict=True)
                 if len(set(others)) > 1]  # fmt: skip
        plain = _slug("-".join((stem, *tells)))
        numbered = (f"{plain[: LONGEST_NAME - 4]}-{number}" for number in itertools.count(2))
        name = next(name for name in itertools.chain((plain,), numbered) if name not in taken)
        taken.add(name)
        yield name, spec


def _tellings(spec: InstanceTypeSpec) -> tuple[str, ...]:
    return spec.dialect.value, spec.os, spec.arch


def _slug(text: str) -> str:
    return _NOT_IN_NAMES.sub("-", text.lower())[:LONGEST_NAME].strip("-")
