"""What is told of one node: its readings, for those Instances that are on it now."""

from collections.abc import Iterator, Sequence
from itertools import chain

import attrs

from gpustack_ctrl.exporter.accelerators import Devices
from gpustack_ctrl.exporter.kubelet import Reading
from gpustack_ctrl.exporter.pages import Pages
from gpustack_ctrl.exporter.roster import Roster
from gpustack_ctrl.metering.accelerators.attribution import Seen, attribute
from gpustack_ctrl.metering.accelerators.tenants import PodRef
from gpustack_ctrl.metering.collection import KUBELET, Outcome, collection_samples
from gpustack_ctrl.metering.devices import device_samples
from gpustack_ctrl.metering.exposition import Sample
from gpustack_ctrl.metering.members import Member
from gpustack_ctrl.metering.use import missing_samples, use_samples

USE = "use"
DEVICES = "devices"
COLLECTION = "collection"
_UNREAD = Reading(None, ())
_UNASKED = Devices()


@attrs.frozen
class Taken:
    """What was read of the kubelet and of the sources, and until when the latter may be told."""

    kubelet: Reading = _UNREAD
    devices: Devices = _UNASKED
    devices_until: float = 0


@attrs.frozen(kw_only=True)
class NodePage:
    """The parts of *pages* that tell of *node*."""

    node: str
    roster: Roster
    pages: Pages
    reference: bool

    def tell(self, taken: Taken) -> None:
        """Tell what was *taken*, of those who are on the node now."""
        held = self.roster.on(self.node)
        use = use_samples(held, taken.kubelet.uses or {}, reference=self.reference)
        devices = self._devices(held, taken)
        self.pages.put(self._part(USE), use)
        self.pages.put(self._part(DEVICES), devices, expires=taken.devices_until)
        self.pages.put(self._part(COLLECTION), _collection(self.node, held, taken))

    def tell_only(self, outcome: Outcome) -> None:
        """Tell how reading went, and nothing else."""
        self.forget()
        self.pages.put(self._part(COLLECTION), collection_samples(self.node, [outcome]))

    def forget(self) -> None:
        """Tell nothing more."""
        for kind in (USE, DEVICES, COLLECTION):
            self.pages.drop(self._part(kind))

    def _part(self, kind: str) -> str:
        return f"{kind}/{self.node}"

    def _devices(self, held: Sequence[Member], taken: Taken) -> Iterator[Sample]:
        """Which of *held* is told which figure of which card."""
        if not taken.devices.outcomes:
            return iter(())
        told = attribute(self._seen(held, taken), self.roster.makers())
        return device_samples(self.node, held, told, reference=self.reference)

    def _seen(self, held: Sequence[Member], taken: Taken) -> Seen:
        node, uses = self.roster.node(self.node), taken.kubelet.uses or {}
        refs = (PodRef(*member.placed[:2], member.pod.metadata.uid) for member in held)
        return Seen(
            instances={member.instance.uid: member.instance.key for member in held},
            pods=tuple(member.pod for member in held),
            running=tuple(ref for ref in refs if ref.uid in uses),
            samples=taken.devices.samples,
            grants=taken.devices.grants,
            node_labels=node.metadata.labels if node else {},
            silence=taken.devices.silence,
        )


def _collection(node: str, held: Sequence[Member], taken: Taken) -> Iterator[Sample]:
    """How reading went, and why a member is told nothing."""
    kubelet, devices = taken.kubelet, taken.devices
    failure = kubelet.outcomes[-1].failure
    return chain(
        collection_samples(node, (*kubelet.outcomes, *devices.outcomes)),
        missing_samples(held, kubelet.uses, source=KUBELET, failure=failure),
    )
