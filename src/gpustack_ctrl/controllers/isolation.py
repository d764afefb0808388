"""The controller of isolation policies: one key for each namespace."""

from collections.abc import MutableMapping

import attrs
import structlog

from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.controllers.act import STALE_RETRY_SECONDS, Actor
from gpustack_ctrl.controllers.caches import NAMESPACE, Caches
from gpustack_ctrl.reconcilers import NAMESPACE_KINDS
from gpustack_ctrl.reconcilers.kind import plan_all
from gpustack_ctrl.reconcilers.settings.in_force import settings_in_force
from gpustack_ctrl.reconcilers.snapshot import NamespaceSnapshot
from gpustack_ctrl.runtime.reconcile import DONE, Request, Result


@attrs.frozen(kw_only=True)
class IsolationReconciler:
    """One pass over the isolation policy of one namespace, which names the request."""

    caches: Caches
    actor: Actor
    refusals: MutableMapping[str, str] = attrs.field(factory=dict)
    """What the API server said no to, by namespace; Instances that wait for it tell it."""

    async def reconcile(self, request: Request) -> Result:
        """Bring the policy into shape."""
        owner = f"namespace/{request.name}"
        if not self.actor.fresh(owner):
            return Result(after=STALE_RETRY_SECONDS)
        plan = plan_all(NAMESPACE_KINDS, self.observe(request.name))
        structlog.contextvars.bind_contextvars(actions=[str(action) for action in plan])
        refused = await self.actor.perform(owner, plan)
        self.refusals.pop(request.name, None)
        if refused:
            self.refusals[request.name] = refused[0].error.message
            raise ExceptionGroup("refused by the API server", [held.error for held in refused])
        return DONE

    def observe(self, namespace: str) -> NamespaceSnapshot:
        """Read the caches once."""
        return NamespaceSnapshot(
            namespace=namespace,
            cidrs=settings_in_force(self.caches.settings.list()).isolation,
            occupied=bool(self.caches.instances.by_index(NAMESPACE, namespace)),
            policy=self.caches.policies.get(ObjectKey(namespace, names.ISOLATION_POLICY)),
        )
