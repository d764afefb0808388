"""What the sources of accelerator figures on a node say, and what its kubelet gave out."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import attrs

from gpustack_ctrl.api.errors import SourceError
from gpustack_ctrl.api.unread import Unread
from gpustack_ctrl.exporter.pod_resources import PodResourcesError, device_grants_at
from gpustack_ctrl.exporter.sources import Endpoints
from gpustack_ctrl.metering.accelerators.adapter import Adapter, UnreadableError
from gpustack_ctrl.metering.accelerators.grants import DeviceGrant
from gpustack_ctrl.metering.accelerators.readings import DeviceSample, Reason
from gpustack_ctrl.metering.collection import Outcome
from gpustack_ctrl.runtime.clock import Clock

POD_RESOURCES = "pod_resources"
_REASONS = {
    Unread.UNAUTHORIZED: Reason.PERMISSION,
    Unread.FORBIDDEN: Reason.PERMISSION,
    Unread.TRUNCATED: Reason.TRUNCATED,
    Unread.TOO_LARGE: Reason.BOUNDED,
}
"""Why nothing is told of a card, by why its source was not read."""


@attrs.frozen(kw_only=True)
class Source:
    """A page that *adapter* reads: *url* is that of a node, with its address left open."""

    name: str
    url: str
    adapter: Adapter

    def on(self, address: str) -> str:
        """The URL on the node with that *address*."""
        return self.url.replace("{address}", f"[{address}]" if ":" in address else address)


@attrs.frozen(kw_only=True)
class Devices:
    """All that was read of one node; *silence* is why nothing is said of a card."""

    samples: tuple[DeviceSample, ...] = ()
    grants: tuple[DeviceGrant, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    silence: Reason = Reason.UNSUPPORTED


@attrs.frozen
class _Read:
    """What one source said, or why it did not."""

    outcome: Outcome
    samples: tuple[DeviceSample, ...] = ()
    grants: tuple[DeviceGrant, ...] = ()
    fault: Reason | None = None


@attrs.define(kw_only=True)
class DeviceReader:
    """Reads the *sources* of one node again and again, and its *socket* where there is one."""

    sources: Sequence[Source]
    endpoints: Endpoints
    socket: Path | None
    clock: Clock
    _succeeded: dict[str, float] = attrs.field(factory=dict, init=False)

    @property
    def any(self) -> bool:
        """Whether there is anything to read."""
        return bool(self.sources) or self.socket is not None

    async def read(self, address: str) -> Devices:
        """What each source of the node with that *address* says, one after another.

        Where the kubelet should tell who holds a card and does not, nobody is told its use.
        """
        granted = () if self.socket is None else (await self._granted(self.socket),)
        found = [*granted, *[await self._tried(source, address) for source in self.sources]]
        blind = any(one.fault for one in granted)
        return Devices(
            samples=() if blind else tuple(sample for one in found for sample in one.samples),
            grants=tuple(grant for one in granted for grant in one.grants),
            outcomes=tuple(one.outcome for one in found),
            silence=next((one.fault for one in found if one.fault), Reason.UNSUPPORTED),
        )

    async def _tried(self, source: Source, address: str) -> _Read:
        started = self.clock.monotonic()
        try:
            page = await self.endpoints.get(source.on(address))
            # In a thread: a large page takes longer than others should be held up.
            samples = await asyncio.to_thread(source.adapter.read, page.decode(errors="replace"))
        except SourceError as error:
            fault = _REASONS.get(error.reason, Reason.TRANSIENT_DRIVER_ERROR)
            return self._failed(source.name, started, error, error.reason, fault)
        except UnreadableError as error:
            return self._failed(source.name, started, error, error.reason, error.reason)
        return _Read(self._succeeds(source.name, started), samples=samples)

    async def _granted(self, socket: Path) -> _Read:
        started = self.clock.monotonic()
        try:
            grants = await device_grants_at(socket)
        except PodResourcesError as error:
            return self._failed(POD_RESOURCES, started, error, error.reason, error.reason)
        return _Read(self._succeeds(POD_RESOURCES, started), grants=grants)

    def _succeeds(self, source: str, started: float) -> Outcome:
        self._succeeded[source] = self.clock.now().timestamp()
        return self._outcome(source, started)

    def _failed(
        self, source: str, started: float, error: Exception, word: str, fault: Reason
    ) -> _Read:
        outcome = self._outcome(source, started)
        return _Read(attrs.evolve(outcome, failure=word, message=str(error)), fault=fault)

    def _outcome(self, source: str, started: float) -> Outcome:
        return Outcome(
            source=source,
            seconds=self.clock.monotonic() - started,
            last_success=self._succeeded.get(source),
        )
