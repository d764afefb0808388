"""The controller of InstanceTypes: it tells what is left, and writes nothing else."""

import attrs

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.instance_type import InstanceType
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.controllers.act import STALE_RETRY_SECONDS, Actor
from gpustack_ctrl.controllers.caches import Caches
from gpustack_ctrl.controllers.node_uses import NodeUses
from gpustack_ctrl.reconcilers.settings.in_force import settings_in_force
from gpustack_ctrl.reconcilers.types.status import TypeSnapshot, type_status
from gpustack_ctrl.runtime.clock import Clock
from gpustack_ctrl.runtime.reconcile import DONE, Request, Result

BETWEEN_SECONDS = 0.5
"""A burst of Pods is counted once, not once for each Pod."""


@attrs.frozen(kw_only=True)
class InstanceTypeReconciler:
    """One pass over one InstanceType."""

    caches: Caches
    actor: Actor
    clock: Clock
    uses: NodeUses
    _counted: dict[ObjectKey, float] = attrs.field(factory=dict, init=False)

    async def reconcile(self, request: Request) -> Result:
        """Count what the nodes offer and what Pods hold, and tell it if it changed."""
        offered = self.caches.types.get(request)
        if offered is None:
            self._counted.pop(request, None)
            return DONE
        wait = self._wait(request)
        if wait > 0:
            return Result(after=wait)
        if not self.actor.fresh(offered.metadata.uid):
            return Result(after=STALE_RETRY_SECONDS)
        self._counted[request] = self.clock.monotonic()
        told = type_status(self.observe(offered))
        await self.actor.report(
            offered.metadata.uid,
            names.INSTANCE_TYPE,
            offered.metadata,
            before=codec.to_wire(offered.status),
            after=codec.to_wire(told),
        )
        return DONE

    def observe(self, offered: InstanceType) -> TypeSnapshot:
        """Read the caches once."""
        return TypeSnapshot(
            type=offered,
            uses=self.uses.of_type(offered.spec),
            manufacturers=settings_in_force(self.caches.settings.list()).manufacturers,
        )

    def _wait(self, request: Request) -> float:
        last = self._counted.get(request)
        return 0.0 if last is None else last + BETWEEN_SECONDS - self.clock.monotonic()
