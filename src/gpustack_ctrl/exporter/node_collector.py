"""One loop for each node that holds Instances: read, render, wait."""

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import attrs
import structlog

from gpustack_ctrl.api.core import Node
from gpustack_ctrl.exporter.accelerators import DeviceReader, Devices, Source
from gpustack_ctrl.exporter.kubelet import KubeletReader, Reading
from gpustack_ctrl.exporter.lanes import Lanes
from gpustack_ctrl.exporter.pages import Pages
from gpustack_ctrl.exporter.roster import Roster
from gpustack_ctrl.exporter.sources import Endpoints, Kubelets
from gpustack_ctrl.metering.accelerators.attribution import Seen, attribute
from gpustack_ctrl.metering.accelerators.readings import Attribution
from gpustack_ctrl.metering.accelerators.tenants import PodRef
from gpustack_ctrl.metering.collection import KUBELET, Outcome, collection_samples
from gpustack_ctrl.metering.devices import device_samples
from gpustack_ctrl.metering.exposition import Sample
from gpustack_ctrl.metering.members import Member
from gpustack_ctrl.metering.use import missing_samples, use_samples
from gpustack_ctrl.runtime.clock import Clock

JITTER = 0.1
MOST_PERIODS = 4
"""How rarely a node is asked that does not answer."""
GOOD_FOR_PERIODS = 2

log = structlog.get_logger(__name__)


@attrs.frozen(kw_only=True)
class Collecting:
    """What all loops share."""

    kubelets: Kubelets
    endpoints: Endpoints
    sources: Sequence[Source] = ()
    pod_resources: Path | None = None
    roster: Roster
    pages: Pages
    lanes: Lanes
    clock: Clock
    period: float
    reference: bool
    random: Callable[[], float] = random.random


@attrs.frozen
class _Taken:
    """A reading, and until when it may be told."""

    kubelet: Reading
    devices: Devices
    good_until: float


@attrs.define(kw_only=True)
class NodeCollector:
    """Tells what the Instances on one node use.

    Guarantees: one request at a time; nothing that failed to be read again is told, nor
    anything older than two periods; a Pod that is gone is told of no more, at once.
    """

    node: str
    shared: Collecting
    _kubelet: KubeletReader = attrs.field(init=False)
    _devices: DeviceReader = attrs.field(init=False)
    _taken: _Taken | None = attrs.field(default=None, init=False)
    _failures: int = attrs.field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        self._kubelet = KubeletReader(self.shared.kubelets, self.shared.clock)
        self._devices = DeviceReader(
            sources=self.shared.sources,
            endpoints=self.shared.endpoints,
            socket=self.shared.pod_resources,
            clock=self.shared.clock,
        )

    async def run(self, *, within: float) -> None:
        """Read for ever, for the first time *within* so many seconds."""
        await self.shared.clock.sleep(within * self.shared.random())
        while True:
            try:
                await self._read()
            except Exception as error:  # noqa: BLE001 -- one node must not end the others.
                self._fail(error)
            await self.shared.clock.sleep(self._pause())

    def refresh(self) -> None:
        """Tell the last reading anew: another Instance is here, or one is not any more."""
        if self._taken is not None:
            self._tell(self._taken)

    def forget(self) -> None:
        """Tell nothing more."""
        for part in ("use", "collection"):
            self.shared.pages.drop(f"{part}/{self.node}")

    async def _read(self) -> None:
        node = self.shared.roster.node(self.node)
        if node is None:
            return
        async with self.shared.lanes.entered(failed_before=self._failures > 0):
            kubelet = await self._kubelet.read(node, self.shared.roster.on(self.node))
            devices = await self._devices_of(node)
        self._note(kubelet)
        good_until = self.shared.clock.monotonic() + GOOD_FOR_PERIODS * self.shared.period
        self._taken = _Taken(kubelet, devices, good_until)
        self._tell(self._taken)

    async def _devices_of(self, node: Node) -> Devices:
        return await self._devices.read(node.address) if node.address else Devices()

    def _tell(self, taken: _Taken) -> None:
        """Put the pages of the node: samples for those who are on it now."""
        held = self.shared.roster.on(self.node)
        use = self._use(held, taken)
        self.shared.pages.put(f"use/{self.node}", use, expires=taken.good_until)
        self.shared.pages.put(f"collection/{self.node}", self._collection(held, taken))

    def _use(self, held: Sequence[Member], taken: _Taken) -> Iterator[Sample]:
        reference = self.shared.reference
        told = self._attributed(held, taken)
        return chain(
            use_samples(held, taken.kubelet.uses or {}, reference=reference),
            device_samples(self.node, held, told, reference=reference),
        )

    def _attributed(self, held: Sequence[Member], taken: _Taken) -> Attribution:
        """Which of *held* is told which figure of which card."""
        if not self.shared.sources:
            return Attribution()
        node, uses = self.shared.roster.node(self.node), taken.kubelet.uses or {}
        refs = (PodRef(*member.placed[:2], member.pod.metadata.uid) for member in held)
        seen = Seen(
            instances={member.instance.uid: member.instance.key for member in held},
            pods=tuple(member.pod for member in held),
            running=tuple(ref for ref in refs if ref.uid in uses),
            samples=taken.devices.samples,
            grants=taken.devices.grants,
            node_labels=node.metadata.labels if node else {},
            silence=taken.devices.silence,
        )
        return attribute(seen, self.shared.roster.makers())

    def _collection(self, held: Sequence[Member], taken: _Taken) -> Iterator[Sample]:
        outcomes = taken.kubelet.outcomes
        return chain(
            collection_samples(self.node, (*outcomes, *taken.devices.outcomes)),
            missing_samples(held, taken.kubelet.uses, source=KUBELET, failure=outcomes[-1].failure),
        )

    def _pause(self) -> float:
        """Until the next reading: longer when it fails again and again."""
        periods = min(1 << max(0, self._failures - 1), MOST_PERIODS)
        return self.shared.period * periods * (1 + JITTER * (2 * self.shared.random() - 1))

    def _fail(self, error: Exception) -> None:
        """Tell that our own reading is at fault, and nothing else of the node."""
        log.error("reading a node raised", node=self.node, exc_info=error)
        self._failures += 1
        self._taken = None
        self.forget()
        told = collection_samples(self.node, [Outcome(source=KUBELET, failure="fault", seconds=0)])
        self.shared.pages.put(f"collection/{self.node}", told)

    def _note(self, reading: Reading) -> None:
        """Count failures; a line when reading begins to fail, and when it works again."""
        failed = reading.uses is None
        if failed and not self._failures:
            why = "; ".join(told.message for told in reading.outcomes)
            log.warning("a node's figures cannot be read", node=self.node, why=why)
        if not failed and self._failures:
            log.info("a node's figures are read again", node=self.node)
        self._failures = self._failures + 1 if failed else 0
