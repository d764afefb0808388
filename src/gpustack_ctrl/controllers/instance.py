"""The controller of Instances: observe, decide, act, report."""

from collections.abc import Iterable, Mapping

import attrs
import structlog

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.core import Pod
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_status import InstanceStatus
from gpustack_ctrl.api.instance_type import InstanceType
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.api.ssh_public_key import InstanceSSHPublicKey
from gpustack_ctrl.controllers.act import STALE_RETRY_SECONDS, Actor
from gpustack_ctrl.controllers.caches import OWNER, Caches
from gpustack_ctrl.controllers.events import Events
from gpustack_ctrl.controllers.node_uses import NodeUses
from gpustack_ctrl.controllers.patience import Patience
from gpustack_ctrl.plan.actions import Refused
from gpustack_ctrl.reconcilers import INSTANCE_KINDS
from gpustack_ctrl.reconcilers.kind import plan_all
from gpustack_ctrl.reconcilers.login.host_key import HostKey, host_key
from gpustack_ctrl.reconcilers.service import node_ports
from gpustack_ctrl.reconcilers.settings.catalogue import ISOLATION
from gpustack_ctrl.reconcilers.settings.in_force import settings_in_force
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot
from gpustack_ctrl.reconcilers.status.failures import seconds_to_retry
from gpustack_ctrl.reconcilers.status.happenings import changes, deeds
from gpustack_ctrl.reconcilers.status.overdue import seconds_to_overdue
from gpustack_ctrl.reconcilers.status.pod_progress import is_unschedulable
from gpustack_ctrl.reconcilers.status.reporting import only_progress, only_words
from gpustack_ctrl.reconcilers.status.room import LOOK_AGAIN_SECONDS
from gpustack_ctrl.reconcilers.status.summary import status
from gpustack_ctrl.reconcilers.types.capacity import NodeUse
from gpustack_ctrl.runtime.clock import Clock
from gpustack_ctrl.runtime.reconcile import DONE, Request, Result

POLICY_SECONDS = 5.0
"""A policy that comes is an event; one that is refused is none."""


@attrs.frozen(kw_only=True)
class InstanceReconciler:
    """One pass over one Instance. What lies between reading and acting is pure."""

    caches: Caches
    actor: Actor
    clock: Clock
    uses: NodeUses
    host_key_seed: bytes = attrs.field(repr=False)
    events: Events = attrs.field(factory=Events)
    policy_refusals: Mapping[str, str] = attrs.field(factory=dict)
    patience: Patience = attrs.field(factory=Patience)
    _uids: dict[ObjectKey, str] = attrs.field(factory=dict, init=False)

    async def reconcile(self, request: Request) -> Result:
        """Bring the Pod and the Service of the Instance into shape, and tell its status."""
        instance = self.caches.instances.get(request)
        self._remember(request, instance)
        if instance is None:
            return DONE  # Gone: owner references collect what it owned.
        if not self._settings_made():
            return DONE  # We make them ourselves, and each wakes all Instances.
        if not self.actor.fresh(instance.uid):
            return Result(after=STALE_RETRY_SECONDS)
        seen = self.observe(instance)
        plan = plan_all(INSTANCE_KINDS, seen)
        structlog.contextvars.bind_contextvars(actions=[str(action) for action in plan])
        refused = await self.actor.perform(instance.uid, plan)
        self.events.tell(names.INSTANCE, instance.metadata, deeds(plan, refused))
        wait = await self._report(seen, refused)
        if refused:
            raise ExceptionGroup("refused by the API server", [held.error for held in refused])
        return Result(after=wait) if wait else DONE

    def _settings_made(self) -> bool:
        return any(held.metadata.name == ISOLATION.name for held in self.caches.settings.list())

    def _remember(self, key: ObjectKey, instance: Instance | None) -> None:
        """Forget an Instance that is gone, also one whose name another has by now."""
        before = self._uids.get(key)
        if before is not None and (instance is None or instance.uid != before):
            self.actor.freshness.forget(before)
            self.patience.forget(key)
            del self._uids[key]
        if instance is not None:
            self._uids[key] = instance.uid

    def observe(self, instance: Instance) -> InstanceSnapshot:
        """Read the caches once, so that a pass decides on a single picture."""
        caches, key = self.caches, instance.key
        pod = caches.pods.get(key)
        offered = caches.types.get(ObjectKey("", instance.spec.type))
        service = caches.services.get(key)
        return InstanceSnapshot(
            instance=instance,
            now=self.clock.now(),
            settings=settings_in_force(caches.settings.list()),
            type=offered,
            pod=pod,
            pods=caches.pods.by_index(OWNER, instance.uid),
            service=service,
            policy=caches.policies.get(ObjectKey(key.namespace, names.ISOLATION_POLICY)),
            policy_refusal=self.policy_refusals.get(key.namespace, ""),
            holders=self._holders(key, node_ports(instance, service).values()),
            node=caches.nodes.get(ObjectKey("", pod.spec.nodeName)) if pod else None,
            pinned=caches.nodes.get(ObjectKey("", instance.spec.nodeName)),
            uses=self._uses_of(offered, pod),
            ssh_key=self._ssh_key(instance),
            host_key=self._host_key(instance),
            runtime_classes=frozenset(held.metadata.name for held in caches.runtime_classes.list()),
        )

    def _uses_of(self, offered: InstanceType | None, pod: Pod | None) -> tuple[NodeUse, ...] | None:
        """What the nodes of the type have: asked for only where a Pod finds none of them."""
        if offered is None or pod is None or not is_unschedulable(pod):
            return None
        return self.uses.of_type(offered.spec)

    def _ssh_key(self, instance: Instance) -> InstanceSSHPublicKey | None:
        wanted = instance.spec.sshPublicKey
        if wanted is None:
            return None
        return self.caches.ssh_keys.get(ObjectKey(instance.key.namespace, wanted.name))

    def _host_key(self, instance: Instance) -> HostKey | None:
        wanted = instance.spec.sshPublicKey
        return host_key(self.host_key_seed, instance.uid) if wanted else None

    def _holders(self, key: ObjectKey, wanted: Iterable[int]) -> Mapping[int, ObjectKey]:
        found = ((port, self.caches.holder_of(port, other_than=key)) for port in wanted)
        return {port: holder for port, holder in found if holder is not None}

    async def _report(self, seen: InstanceSnapshot, refused: tuple[Refused, ...]) -> float:
        """Write the status if it is due; return in how many seconds to look again, or 0."""
        instance, told = seen.instance, status(seen, refused)
        wait, look = self._wait(instance, told), _seconds_to_look(seen, told)
        if wait > 0:
            return min(wait, look) if look else wait
        wrote = await self.actor.report(
            instance.uid,
            names.INSTANCE,
            instance.metadata,
            before=codec.to_wire(instance.status),
            after=codec.to_wire(told),
        )
        if wrote:
            self.patience.wrote(instance.key, self.clock.monotonic())
            self.events.tell(names.INSTANCE, instance.metadata, changes(instance.status, told))
        return look

    def _wait(self, instance: Instance, told: InstanceStatus) -> float:
        before = instance.status
        if not (only_progress(before, told) or only_words(before, told)) or told == before:
            self.patience.settle(instance.key)
            return 0.0
        return self.patience.wait(instance.key, self.clock.monotonic())


def _seconds_to_look(seen: InstanceSnapshot, told: InstanceStatus) -> float:
    """When something is to be done or told that no event announces; 0 if nothing is."""
    waits = (
        seconds_to_retry(told.failures, seen.now),
        seconds_to_overdue(seen),
        LOOK_AGAIN_SECONDS if seen.uses is not None else None,
        POLICY_SECONDS if told.blocker and told.blocker.gate == "isolation" else None,
    )
    return min((wait for wait in waits if wait), default=0.0)
