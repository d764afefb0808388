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
from gpustack_ctrl.metering.accelerators.tenants import PodRef
from gpustack_ctrl.metering.collection import KUBELET, Outcome, collection_samples
from gpustack_ctrl.metering.devices import device_samples
from gpustack_ctrl.metering.exposition import Sample
from gpustack_ctrl.metering.members import Member
from gpustack_ctrl.metering.use import missing_samples, use_samples
from gpustack_ctrl.runtime.clock import Clock, TimerHandle

JITTER = 0.1
MOST_PERIODS = 4
"""How rarely a node is asked that does not answer."""
GOOD_FOR_PERIODS = 2
MOST_FAILURES = 8
"""Counted; more make no difference."""
PARTS = ("use", "devices", "collection")
LATE = "late"
NO_NODE = "no_node"

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


_UNREAD = Reading(None, ())
_UNASKED = Devices()


@attrs.frozen
class _Taken:
    """What was read of the kubelet and of the sources, and until when either may be told."""

    kubelet: Reading = _UNREAD
    kubelet_until: float = 0
    devices: Devices = _UNASKED
    devices_until: float = 0


@attrs.define(kw_only=True)
class NodeCollector:
    """Tells what the Instances on one node use.

    Guarantees: one request at a time; nothing that failed to be read again is told, nor
    anything older than two periods; a Pod that is gone is told of no more, at once; what the
    kubelet tells waits for no other source.
    """

    node: str
    shared: Collecting
    _kubelet: KubeletReader = attrs.field(init=False)
    _devices: DeviceReader = attrs.field(init=False)
    _taken: _Taken = attrs.field(factory=_Taken, init=False)
    _failures: int = attrs.field(default=0, init=False)
    _late: TimerHandle | None = attrs.field(default=None, init=False)

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
            began = self.shared.clock.monotonic()
            try:
                await self._read()
            except Exception as error:  # noqa: BLE001 -- one node must not end the others.
                self._fail(error)
            took = self.shared.clock.monotonic() - began
            await self.shared.clock.sleep(max(self.shared.period * JITTER, self._pause() - took))

    def refresh(self) -> None:
        """Tell the last readings anew: another Instance is here, or one is not any more."""
        if not self._taken.kubelet.outcomes:
            return
        try:
            self._tell()
        except Exception as error:  # noqa: BLE001 -- as above.
            self._fail(error)

    def forget(self) -> None:
        """Tell nothing more."""
        self._expect(None)
        self._taken = _Taken()
        for part in PARTS:
            self.shared.pages.drop(f"{part}/{self.node}")

    async def _read(self) -> None:
        node = self.shared.roster.node(self.node)
        if node is None:
            self._note(_failed(NO_NODE, f"node {self.node} is not there"))
            return
        async with self.shared.lanes.entered(failed_before=self._failures > 0):
            kubelet = await self._kubelet.read(node, self.shared.roster.on(self.node))
        self._note(kubelet)
        await self._read_devices(node)

    async def _read_devices(self, node: Node) -> None:
        """Where there is anything to ask; until all answered, only where a place is free now."""
        last, lanes = self._taken.devices.outcomes, self.shared.lanes
        failed_before = not last or any(told.failure for told in last)
        if not (self._devices.any and node.address) or (failed_before and lanes.slow_is_full):
            return
        async with lanes.entered(failed_before=failed_before):
            devices = await self._devices.read(node.address)
        self._taken = attrs.evolve(self._taken, devices=devices, devices_until=self._good_until())
        self._tell()

    def _note(self, reading: Reading) -> None:
        """Tell what the kubelet says now, or why it says nothing."""
        self._count(reading)
        self._taken = attrs.evolve(self._taken, kubelet=reading, kubelet_until=self._good_until())
        self._expect(None if reading.uses is None else self._grow_late)
        self._tell()

    def _good_until(self) -> float:
        return self.shared.clock.monotonic() + GOOD_FOR_PERIODS * self.shared.period

    def _expect(self, otherwise: Callable[[], None] | None) -> None:
        """Call *otherwise* unless something new is told in time."""
        if self._late is not None:
            self._late.cancel()
        seconds = GOOD_FOR_PERIODS * self.shared.period
        self._late = self.shared.clock.call_later(seconds, otherwise) if otherwise else None

    def _grow_late(self) -> None:
        """Tell why there is nothing any more: the node's turn to be read did not come."""
        last = self._taken.kubelet.outcomes[-1].last_success
        late = _failed(LATE, "not read again in time", last_success=last)
        self._taken = attrs.evolve(self._taken, kubelet=late)
        self.refresh()

    def _tell(self) -> None:
        """Put the pages of the node: samples for those who are on it now."""
        held, taken, pages = self.shared.roster.on(self.node), self._taken, self.shared.pages
        use = use_samples(held, taken.kubelet.uses or {}, reference=self.shared.reference)
        pages.put(f"use/{self.node}", use, expires=taken.kubelet_until)
        pages.put(f"devices/{self.node}", self._of_devices(held), expires=taken.devices_until)
        pages.put(f"collection/{self.node}", self._collection(held))

    def _of_devices(self, held: Sequence[Member]) -> Iterator[Sample]:
        """Which of *held* is told which figure of which card."""
        if not self.shared.sources:
            return iter(())
        told = attribute(self._seen(held), self.shared.roster.makers())
        return device_samples(self.node, held, told, reference=self.shared.reference)

    def _seen(self, held: Sequence[Member]) -> Seen:
        node, uses = self.shared.roster.node(self.node), self._taken.kubelet.uses or {}
        refs = (PodRef(*member.placed[:2], member.pod.metadata.uid) for member in held)
        return Seen(
            instances={member.instance.uid: member.instance.key for member in held},
            pods=tuple(member.pod for member in held),
            running=tuple(ref for ref in refs if ref.uid in uses),
            samples=self._taken.devices.samples,
            grants=self._taken.devices.grants,
            node_labels=node.metadata.labels if node else {},
            silence=self._taken.devices.silence,
        )

    def _collection(self, held: Sequence[Member]) -> Iterator[Sample]:
        kubelet, devices = self._taken.kubelet, self._taken.devices
        failure = kubelet.outcomes[-1].failure
        return chain(
            collection_samples(self.node, (*kubelet.outcomes, *devices.outcomes)),
            missing_samples(held, kubelet.uses, source=KUBELET, failure=failure),
        )

    def _pause(self) -> float:
        """From one reading to the next: longer when it fails again and again."""
        periods = min(1 << max(0, self._failures - 1), MOST_PERIODS)
        return self.shared.period * periods * (1 + JITTER * (2 * self.shared.random() - 1))

    def _fail(self, error: Exception) -> None:
        """Tell that our own reading is at fault, and nothing else of the node."""
        log.error("reading a node raised", node=self.node, exc_info=error)
        self._failures = min(self._failures + 1, MOST_FAILURES)
        self.forget()
        told = collection_samples(self.node, [Outcome(source=KUBELET, failure="fault", seconds=0)])
        self.shared.pages.put(f"collection/{self.node}", told)

    def _count(self, reading: Reading) -> None:
        """Count failures; a line when reading begins to fail, and when it works again."""
        failed = reading.uses is None
        if failed and not self._failures:
            why = "; ".join(told.message for told in reading.outcomes)
            log.warning("a node's figures cannot be read", node=self.node, why=why)
        if not failed and self._failures:
            log.info("a node's figures are read again", node=self.node)
        self._failures = min(self._failures + 1, MOST_FAILURES) if failed else 0


def _failed(failure: str, message: str, *, last_success: float | None = None) -> Reading:
    """A reading that there was not."""
    told = Outcome(
        source=KUBELET, failure=failure, message=message, seconds=0, last_success=last_success
    )
    return Reading(None, (told,))
