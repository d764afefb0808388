"""One loop for each node that holds Instances: read, render, wait."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import attrs
import structlog

from gpustack_ctrl.api.core import Node
from gpustack_ctrl.api.unread import Unread
from gpustack_ctrl.exporter.accelerators import DeviceReader, Devices, Source
from gpustack_ctrl.exporter.kubelet import KubeletReader, Reading
from gpustack_ctrl.exporter.lanes import QUICK_SECONDS, Lanes
from gpustack_ctrl.exporter.node_page import NodePage, Taken
from gpustack_ctrl.exporter.pages import Pages
from gpustack_ctrl.exporter.roster import Roster
from gpustack_ctrl.exporter.sources import Endpoints, Kubelets
from gpustack_ctrl.metering.collection import KUBELET, Outcome
from gpustack_ctrl.runtime.clock import Clock, TimerHandle

JITTER = 0.1
MOST_PERIODS = 4
"""How rarely a node is asked that does not answer."""
GOOD_FOR_PERIODS = 2
MOST_FAILURES = 8
"""Counted; more make no difference."""

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
    _page: NodePage = attrs.field(init=False)
    _taken: Taken = attrs.field(factory=Taken, init=False)
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
        self._page = NodePage(
            node=self.node,
            roster=self.shared.roster,
            pages=self.shared.pages,
            reference=self.shared.reference,
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
        self._taken = Taken()
        self._page.forget()

    async def _read(self) -> None:
        node = self.shared.roster.node(self.node)
        if node is None:
            self._note(_failed(Unread.NO_NODE, f"node {self.node} is not there"))
            return
        self._note(await self._read_kubelet(node))
        if self._devices.any and node.address:
            devices = await self._read_devices(node.address)
            until = self.shared.clock.monotonic() + self._good_for
            self._taken = attrs.evolve(self._taken, devices=devices, devices_until=until)
            self._tell()

    async def _read_kubelet(self, node: Node) -> Reading:
        """In the slow lane where it was slow before, or turns out to be."""

        async def read() -> Reading:
            return await self._kubelet.read(node, self.shared.roster.on(self.node))

        slow = self._failures > 0 or _took_long(self._taken.kubelet.outcomes)
        told = None if slow else await self.shared.lanes.quickly(read)
        return await self.shared.lanes.patiently(read) if told is None else told

    async def _read_devices(self, address: str) -> Devices:
        """The same; but the kubelet's next turn waits for no place in the slow lane."""

        async def read() -> Devices:
            return await self._devices.read(address)

        last, lanes = self._taken.devices, self.shared.lanes
        failed = not last.outcomes or any(told.failure for told in last.outcomes)
        slow = failed or _took_long(last.outcomes)
        told = None if slow else await lanes.quickly(read)
        if told or lanes.slow_is_full:
            return told or _unread(last)
        return await lanes.patiently(read)

    def _note(self, reading: Reading) -> None:
        """Tell what the kubelet says now, or why it says nothing."""
        self._count(reading)
        self._taken = attrs.evolve(self._taken, kubelet=reading)
        self._expect(None if reading.uses is None else self._grow_late)
        self._tell()

    @property
    def _good_for(self) -> float:
        return GOOD_FOR_PERIODS * self.shared.period

    def _expect(self, otherwise: Callable[[], None] | None) -> None:
        """Call *otherwise* unless something new is told in time."""
        if self._late is not None:
            self._late.cancel()
        later = self.shared.clock.call_later
        self._late = later(self._good_for, otherwise) if otherwise else None

    def _grow_late(self) -> None:
        """Tell why there is nothing any more: the node's turn to be read did not come."""
        last = self._taken.kubelet.outcomes[-1].last_success
        late = _failed(Unread.LATE, "not read again in time", last_success=last)
        self._taken = attrs.evolve(self._taken, kubelet=late)
        self.refresh()

    def _tell(self) -> None:
        self._page.tell(self._taken)

    def _pause(self) -> float:
        """From one reading to the next: longer when it fails again and again."""
        periods = min(1 << max(0, self._failures - 1), MOST_PERIODS)
        return self.shared.period * periods * (1 + JITTER * (2 * self.shared.random() - 1))

    def _fail(self, error: Exception) -> None:
        """Tell that our own reading is at fault, and nothing else of the node."""
        log.error("reading a node raised", node=self.node, exc_info=error)
        self._failures = min(self._failures + 1, MOST_FAILURES)
        self.forget()
        self._page.tell_only(Outcome(source=KUBELET, failure=Unread.FAULT, seconds=0))

    def _count(self, reading: Reading) -> None:
        """Count failures; a line when reading begins to fail, and when it works again."""
        failed = reading.uses is None
        if failed and not self._failures:
            why = "; ".join(told.message for told in reading.outcomes)
            log.warning("a node's figures cannot be read", node=self.node, why=why)
        if not failed and self._failures:
            log.info("a node's figures are read again", node=self.node)
        self._failures = min(self._failures + 1, MOST_FAILURES) if failed else 0


def _took_long(outcomes: Sequence[Outcome]) -> bool:
    return sum(told.seconds for told in outcomes) >= QUICK_SECONDS


def _unread(last: Devices) -> Devices:
    """What there is to say when the turn did not come: nothing that was told before."""
    outcomes = (attrs.evolve(told, failure=told.failure or Unread.LATE) for told in last.outcomes)
    return Devices(outcomes=tuple(outcomes), silence=last.silence)


def _failed(failure: str, message: str, *, last_success: float | None = None) -> Reading:
    """A reading that there was not."""
    told = Outcome(
        source=KUBELET, failure=failure, message=message, seconds=0, last_success=last_success
    )
    return Reading(None, (told,))
