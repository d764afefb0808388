"""What the API server knows of Instances, told in shares that are rendered one by one.

A change renders the share of its Instance alone, so neither a scrape nor a change ever
takes long, however many Instances there are. Times run on, so all are rendered anew once
in a period.
"""

import asyncio
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import ClassVar

import attrs
import structlog

from gpustack_ctrl.api.core import Pod
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_status import Phase
from gpustack_ctrl.api.meta import Object, ObjectKey
from gpustack_ctrl.exporter.pages import Pages
from gpustack_ctrl.exporter.roster import Roster
from gpustack_ctrl.metering.exposition import Sample
from gpustack_ctrl.metering.state import Known, count_samples, place, state_samples
from gpustack_ctrl.metering.usage import usage_samples
from gpustack_ctrl.runtime.clock import Clock
from gpustack_ctrl.runtime.informer import Event

SHARES = 256

log = structlog.get_logger(__name__)


@attrs.define(kw_only=True)
class States:
    """Keeps the shares of *pages* equal to what the caches of *roster* say."""

    name: ClassVar[str] = "states"
    roster: Roster
    pages: Pages
    clock: Clock
    period: float
    _held: list[dict[ObjectKey, tuple[str, Phase]]] = attrs.field(
        factory=lambda: [{} for _ in range(SHARES)], init=False
    )
    _changed: set[int] = attrs.field(factory=set, init=False)
    _counts: Counter[tuple[str, Phase]] = attrs.field(factory=Counter, init=False)
    _latest: datetime = attrs.field(default=datetime.min.replace(tzinfo=UTC), init=False)
    _awake: asyncio.Event = attrs.field(factory=asyncio.Event, init=False)

    def instance_changed(self, event: Event[Instance]) -> None:
        """Note that an Instance is another, is new, or is gone."""
        if event.old is not None:
            self._uncount(event.old.key)
        if event.new is not None:
            self._count(event.new)
        self._note(event)

    def pod_changed(self, event: Event[Pod]) -> None:
        """Note that the Pod of an Instance is another."""
        self._note(event)

    def anything_changed(self, _: Event[Object]) -> None:
        """Note that what all series depend on is another."""
        self._changed.update(range(SHARES))
        self._awake.set()

    async def run(self) -> None:
        """Render until cancelled: what changed at once, all else once in a period."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow(), name="changed states")
            group.create_task(self._renew(), name="all states")

    async def _follow(self) -> None:
        while True:
            await self._awake.wait()
            self._awake.clear()
            changed, self._changed = self._changed, set()
            self.pages.put("state/counts", count_samples(self._counts))
            for share in sorted(changed):
                self._render(share)
                await self.clock.sleep(0)

    async def _renew(self) -> None:
        while True:
            for share in range(SHARES):
                self._render(share)
                await self.clock.sleep(self.period / SHARES)

    def _render(self, share: int) -> None:
        name, held = f"state/{share:03}", self._instances(share)
        if held:
            self.pages.put(name, self._samples(held, self._now()))
        else:
            self.pages.drop(name)

    def _now(self) -> datetime:
        """The time of day, but never earlier than before: a counter must not go back."""
        self._latest = max(self._latest, self.clock.now())
        return self._latest

    def _instances(self, share: int) -> list[Instance]:
        found = (self.roster.instances.get(key) for key in sorted(self._held[share]))
        return [instance for instance in found if instance is not None]

    def _samples(self, held: Iterable[Instance], now: datetime) -> Iterator[Sample]:
        for known in self.roster.known(held):
            try:
                yield from tuple(self._of(known, now))
            except Exception:
                log.exception("telling an Instance raised", key=str(known.instance.key))

    def _of(self, known: Known, now: datetime) -> Iterator[Sample]:
        yield from state_samples(known)
        yield from usage_samples(known, now)

    def _note(self, event: Event[Instance] | Event[Pod]) -> None:
        for obj in (event.old, event.new):
            if obj is not None:
                self._changed.add(share_of(obj.metadata.key))
        self._awake.set()

    def _count(self, instance: Instance) -> None:
        self._held[share_of(instance.key)][instance.key] = place(instance)
        self._counts[place(instance)] += 1

    def _uncount(self, key: ObjectKey) -> None:
        """Take an Instance out from where it was counted: its last state may be another."""
        counted = self._held[share_of(key)].pop(key, None)
        if counted is not None:
            self._counts[counted] -= 1
            if not self._counts[counted]:
                del self._counts[counted]


def share_of(key: ObjectKey) -> int:
    """Which share tells of the Instance *key*, and of its Pod."""
    return zlib.crc32(str(key).encode()) % SHARES
