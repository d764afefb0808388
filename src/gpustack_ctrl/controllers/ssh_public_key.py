"""The controller of SSH public keys: each becomes a ConfigMap that SSH servers mount."""

import attrs

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.controllers.act import STALE_RETRY_SECONDS, Actor
from gpustack_ctrl.controllers.caches import Caches
from gpustack_ctrl.reconcilers.login.authorized_keys import KIND, KeySnapshot, status
from gpustack_ctrl.runtime.clock import Clock
from gpustack_ctrl.runtime.reconcile import DONE, Request, Result


@attrs.frozen(kw_only=True)
class SSHPublicKeyReconciler:
    """One pass over one InstanceSSHPublicKey."""

    caches: Caches
    actor: Actor
    clock: Clock

    async def reconcile(self, request: Request) -> Result:
        """Render the keys, and tell which lines were taken."""
        key = self.caches.ssh_keys.get(request)
        if key is None:
            return DONE  # Gone: the owner reference collects the ConfigMap.
        if not self.actor.fresh(key.metadata.uid):
            return Result(after=STALE_RETRY_SECONDS)
        name = names.authorized_keys(request.name)
        held = self.caches.config_maps.get(ObjectKey(request.namespace, name))
        seen = KeySnapshot(key=key, config_map=held)
        refused = await self.actor.perform(key.metadata.uid, KIND.plan(seen))
        await self.actor.report(
            key.metadata.uid,
            names.SSH_PUBLIC_KEY,
            key.metadata,
            before=codec.to_wire(key.status),
            after=codec.to_wire(status(seen, refused, now=self.clock.now())),
        )
        if refused:
            raise ExceptionGroup("refused by the API server", [held.error for held in refused])
        return DONE
