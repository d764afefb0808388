"""What a kubelet measures: by its summary, or by less where that is not to be had."""

from collections.abc import Awaitable, Callable, Iterable, Mapping

import attrs

from gpustack_ctrl.api.core import Node
from gpustack_ctrl.api.errors import SourceError
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.api.unread import Unread
from gpustack_ctrl.exporter.sources import Kubelets
from gpustack_ctrl.metering import resource_metrics, stats_summary
from gpustack_ctrl.metering.collection import FALL_BACK, KUBELET, Outcome
from gpustack_ctrl.metering.members import Member
from gpustack_ctrl.metering.resource_metrics import NamedUse
from gpustack_ctrl.metering.state import seconds
from gpustack_ctrl.metering.uses import PodUse, UnreadableError
from gpustack_ctrl.runtime.clock import Clock

_NO_KUBELET = frozenset(
    {Unread.UNREACHABLE, Unread.TIMEOUT, Unread.UNTRUSTED, Unread.NO_ADDRESS, Unread.UNAUTHORIZED}
)
"""Failures that the other end point shares."""

_UNTOLD = 1.0
"""Kubernetes drops the fraction of the second in which a Pod began."""

Uses = Mapping[str, PodUse]


@attrs.frozen
class Reading:
    """What Pods use, by UID; None where nobody could tell. And how reading it went."""

    uses: Uses | None
    outcomes: tuple[Outcome, ...]


@attrs.define
class KubeletReader:
    """Reads one node's kubelet again and again."""

    kubelets: Kubelets
    clock: Clock
    _succeeded: dict[str, float] = attrs.field(factory=dict, init=False)

    async def read(self, node: Node, held: Iterable[Member]) -> Reading:
        """What the Pods of *node* use; *held* tells a Pod from an older one of its name."""
        uses, told = await self._tried(KUBELET, lambda: self._summary(node))
        if uses is not None or told.failure in _NO_KUBELET:
            return Reading(uses, (told,))
        uses, instead = await self._tried(FALL_BACK, lambda: self._resource_metrics(node, held))
        return Reading(uses, (told, instead))

    async def _tried(
        self, source: str, ask: Callable[[], Awaitable[Uses]]
    ) -> tuple[Uses | None, Outcome]:
        uses, failure, message, started = None, "", "", self.clock.monotonic()
        try:
            uses = await ask()
            self._succeeded[source] = self.clock.now().timestamp()
        except SourceError as error:
            failure, message = error.reason, str(error)
        except UnreadableError as error:
            failure, message = Unread.INVALID_DATA, str(error)
        outcome = Outcome(
            source=source,
            failure=failure,
            message=message,
            seconds=self.clock.monotonic() - started,
            last_success=self._succeeded.get(source),
        )
        return uses, outcome

    async def _summary(self, node: Node) -> Uses:
        return stats_summary.read(await self.kubelets.get(node, stats_summary.PATH))

    async def _resource_metrics(self, node: Node, held: Iterable[Member]) -> Uses:
        named = resource_metrics.read(await self.kubelets.get(node, resource_metrics.PATH))
        return dict(_own(named, held))


def _own(
    named: Mapping[ObjectKey, NamedUse], held: Iterable[Member]
) -> Iterable[tuple[str, PodUse]]:
    """The uses that are of Pods of today, by UID."""
    for member in held:
        told, began = named.get(member.pod.metadata.key), member.pod.status.startTime
        if told is not None and began is not None and told.taken >= seconds(began) + _UNTOLD:
            yield member.pod.metadata.uid, told.use
