"""What a Pod was given: in which mode, and which cards, by whoever says so.

Facts: NVIDIA's device plugin (NVIDIA/k8s-device-plugin) calls the shares of a time-sliced
card by its id, `::` and a number, and a partition `MIG-` and an id of its own, with old
drivers `MIG-<card>/<GPU instance>/<compute instance>`. Google's plugin says
`nvidia0/gi3/vgpu1`. HAMi's plugin tells the kubelet a card that the Pod need not get;
the right one is in the annotation `hami.io/vgpu-devices-allocated`, as `id,type,memory,
cores:` for each device and `;` after each container (Project-HAMi/HAMi, docs). The device
manager of gpustack writes `device.gpustack.ai/accelerator.allocated`: container name ->
devices.groups[] with manufacturer and accelerators[].id.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from gpustack_ctrl.api.core import Pod, PodContainer
from gpustack_ctrl.api.manufacturers import MANUFACTURERS, HamiNames, Manufacturer
from gpustack_ctrl.api.names import MAIN
from gpustack_ctrl.metering.accelerators.readings import Mode

ALLOCATED = "device.gpustack.ai/accelerator.allocated"
HAMI_ALLOCATED = "hami.io/vgpu-devices-allocated"

_OLD_PARTITION = re.compile(r"MIG-(?P<card>GPU-[^/]+)/(?P<partition>\d+)(/\d+)?")
_GKE_PARTITION = re.compile(r"(?P<card>nvidia\d+)/gi(?P<partition>\d+)")
_GKE_SHARE = re.compile(r"/vgpu\d+$")
_SUFFIXES = {
    "": Mode.EXCLUSIVE,
    ".shared": Mode.SHARED,
    ".sliced": Mode.SLICED,
    ".partitioned": Mode.PARTITIONED,
}
_PERCENT = "100"


@attrs.frozen(kw_only=True)
class DeviceGrant:
    """One line of the kubelet's answer: which devices of *resource* a container has."""

    namespace: str
    pod: str
    container: str
    resource: str
    devices: tuple[str, ...] = ()


@attrs.frozen
class Card:
    """A card, or a partition of one, and whether its id says that it is given to several."""

    id: str
    partition: str = ""
    shared: bool = False

    @property
    def place(self) -> str:
        """What a reading of it is called."""
        return f"{self.id}/{self.partition}" if self.partition else self.id


@attrs.frozen
class Given:
    """In which mode a container has cards of which manufacturer."""

    manufacturer: str
    mode: Mode


def card_of(device: str) -> Card:
    """The card that the kubelet calls *device*."""
    plain, shares, _ = device.partition("::")
    unshared = _GKE_SHARE.sub("", plain)
    shared = bool(shares) or unshared != plain
    parted = _OLD_PARTITION.fullmatch(unshared) or _GKE_PARTITION.fullmatch(unshared)
    if parted:
        return Card(parted["card"], parted["partition"], shared)
    return Card(unshared, shared=shared)


@attrs.frozen
class Makers:
    """Which resource is whose, by the names of whole cards."""

    rows: Mapping[str, Manufacturer] = attrs.field(factory=lambda: MANUFACTURERS)
    named: Mapping[str, str] = attrs.field(factory=dict)
    """Names of resources that InstanceTypes give, with the key of the manufacturer."""

    def given(self, resource: str) -> Given | None:
        """What a device of *resource* is, or None where *resource* counts something else."""
        for base, key in self._bases():
            mode = _mode(resource, base)
            if mode is not None:
                return Given(key, mode)
        return None

    def given_to(self, container: PodContainer) -> Given | None:
        """What *container* has; where it asks for parts of whole cards, a slice of them."""
        asked = {**container.resources.requests, **container.resources.limits}
        found = next(filter(None, map(self.given, asked)), None)
        if found is None:
            return None
        names = self._hami(found.manufacturer)
        return Given(found.manufacturer, Mode.SLICED) if _in_parts(names, asked) else found

    def _bases(self) -> Iterator[tuple[str, str]]:
        for resource, key in self.named.items():
            yield resource.removesuffix(".shared"), key
        for key, row in self.rows.items():
            yield row.resource, key
            if row.hami is not None:
                yield row.hami.devices, key

    def _hami(self, key: str) -> HamiNames | None:
        row = self.rows.get(key)
        return row.hami if row else None


def _mode(resource: str, base: str) -> Mode | None:
    """How a device of *resource* is held; None for what counts units, such as memory."""
    if resource.startswith(f"{base.partition('/')[0]}/mig-"):
        return Mode.PARTITIONED
    return _SUFFIXES.get(resource.removeprefix(base)) if resource.startswith(base) else None


def _in_parts(names: HamiNames | None, asked: Mapping[str, str]) -> bool:
    if names is None:
        return False
    if names.memory and names.memory in asked:
        return True
    percents = (names.memory_percentage, names.cores)
    return any(asked.get(name, _PERCENT) != _PERCENT for name in percents if name)


def annotated(pod: Pod) -> tuple[Card, ...]:
    """The cards of the container `main` by an annotation of *pod*, if there is one."""
    told = pod.metadata.annotations
    ids = [*_of_hami(told.get(HAMI_ALLOCATED, "")), *_of_gpustack(told.get(ALLOCATED, ""))]
    return tuple(Card(card) for card in dict.fromkeys(ids) if card)


def _of_hami(text: str) -> Iterator[str]:
    """The ids of the one container that has any; of several, it is not told which is ours."""
    held = [part for part in text.split(";") if "," in part]
    if len(held) == 1:
        for device in held[0].split(":"):
            yield device.partition(",")[0].strip()


def _of_gpustack(text: str) -> Iterator[str]:
    try:
        read = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return
    for group in _list(_map(_map(_map(read).get(MAIN)).get("devices")).get("groups")):
        for accelerator in _list(_map(group).get("accelerators")):
            yield str(_map(accelerator).get("id") or "")


def _map(read: Any) -> Mapping[str, Any]:
    return read if isinstance(read, dict) else {}


def _list(read: Any) -> Iterable[Any]:
    return read if isinstance(read, list) else ()
