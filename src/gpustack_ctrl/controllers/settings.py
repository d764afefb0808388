"""The controller of Settings: it makes the missing ones and tells what is in force."""

from collections.abc import Mapping

import attrs

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.controllers.act import STALE_RETRY_SECONDS, Actor
from gpustack_ctrl.controllers.caches import Caches
from gpustack_ctrl.reconcilers.isolation.coverage import Surroundings, warning
from gpustack_ctrl.reconcilers.settings import in_force as settings
from gpustack_ctrl.runtime.clock import Clock
from gpustack_ctrl.runtime.reconcile import DONE, Request, Result


@attrs.frozen(kw_only=True)
class SettingReconciler:
    """One pass over one Setting; *seeds* are the values to make missing ones with."""

    caches: Caches
    actor: Actor
    clock: Clock
    seeds: Mapping[str, str]

    async def reconcile(self, request: Request) -> Result:
        """Make the Setting if it is missing, else tell its status."""
        owner = f"setting/{request.name}"
        if not self.actor.fresh(owner):
            return Result(after=STALE_RETRY_SECONDS)
        setting = self.caches.settings.get(request)
        plan = settings.plan(request, setting, seed=self.seeds.get(request.name))
        refused = await self.actor.perform(owner, plan)
        if refused:
            raise ExceptionGroup("refused by the API server", [held.error for held in refused])
        if setting is not None:
            told = settings.status(
                setting, warning=warning(setting, self._surroundings()), now=self.clock.now()
            )
            before, after = codec.to_wire(setting.status), codec.to_wire(told)
            await self.actor.report(
                owner, names.SETTING, setting.metadata, before=before, after=after
            )
        return DONE

    def _surroundings(self) -> Surroundings:
        return Surroundings.of(self.caches.nodes.list(), self.caches.services.list())
