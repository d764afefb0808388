"""One loop for each node that holds Instances: read, render, wait."""

import random
from collections.abc import Callable
from itertools import chain

import attrs
import structlog

from gpustack_ctrl.exporter.kubelet import KubeletReader, Reading
from gpustack_ctrl.exporter.lanes import Lanes
from gpustack_ctrl.exporter.pages import Pages
from gpustack_ctrl.exporter.roster import Roster
from gpustack_ctrl.exporter.sources import Kubelets
from gpustack_ctrl.metering.collection import KUBELET, collection_samples
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
    anything older than two periods; a Pod that is gone is told of no more, at once.
    """

    node: str
    shared: Collecting
    _reader: KubeletReader = attrs.field(init=False)
    _reading: Reading | None = None
    _good_until: float = 0.0
    _failures: int = 0

    def __attrs_post_init__(self) -> None:
        self._reader = KubeletReader(self.shared.kubelets, self.shared.clock)

    async def run(self, *, within: float) -> None:
        """Read for ever, for the first time *within* so many seconds."""
        await self.shared.clock.sleep(within * self.shared.random())
        while True:
            await self._read()
            await self.shared.clock.sleep(self._pause())

    def refresh(self) -> None:
        """Tell the last reading anew: another Instance is here, or one is not any more."""
        if self._reading is not None:
            self._tell(self._reading)

    def forget(self) -> None:
        """Tell nothing more."""
        for part in ("use", "collection"):
            self.shared.pages.drop(f"{part}/{self.node}")

    async def _read(self) -> None:
        node = self.shared.roster.node(self.node)
        if node is None:
            return
        async with self.shared.lanes.entered(failed_before=self._failures > 0):
            held = self.shared.roster.on(self.node)
            reading = await self._reader.read(node, held)
        self._log(reading)
        self._failures = 0 if reading.uses is not None else self._failures + 1
        self._reading = reading
        self._good_until = self.shared.clock.monotonic() + GOOD_FOR_PERIODS * self.shared.period
        self._tell(reading)

    def _tell(self, reading: Reading) -> None:
        """Put the page of the node: samples for those who are on it now."""
        held, uses = self.shared.roster.on(self.node), reading.uses
        failure = reading.outcomes[-1].failure
        told = use_samples(held, uses or {}, reference=self.shared.reference)
        self.shared.pages.put(f"use/{self.node}", told, expires=self._good_until)
        missing = missing_samples(held, uses, source=KUBELET, failure=failure)
        told = chain(collection_samples(self.node, reading.outcomes), missing)
        self.shared.pages.put(f"collection/{self.node}", told)

    def _pause(self) -> float:
        """Until the next reading: longer each time that it fails."""
        periods = min(1 << max(0, self._failures - 1), MOST_PERIODS)
        return self.shared.period * periods * (1 + JITTER * (2 * self.shared.random() - 1))

    def _log(self, reading: Reading) -> None:
        """A line when reading begins to fail, and when it works again."""
        failed = reading.uses is None
        if failed and not self._failures:
            why = "; ".join(told.message for told in reading.outcomes)
            log.warning("a node's figures cannot be read", node=self.node, why=why)
        if not failed and self._failures:
            log.info("a node's figures are read again", node=self.node)
