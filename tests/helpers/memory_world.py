"""The controllers over an API server in memory: passes run until nothing changes any more."""

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.codec import Json
from gpustack_ctrl.api.core import ConfigMap, NetworkPolicy, Node, Pod, RuntimeClass, Service
from gpustack_ctrl.api.errors import ApiError
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_type import InstanceType
from gpustack_ctrl.api.meta import ObjectKey, Resource
from gpustack_ctrl.api.setting import Setting
from gpustack_ctrl.api.ssh_public_key import InstanceSSHPublicKey
from gpustack_ctrl.controllers import caches as indexes
from gpustack_ctrl.controllers.act import Actor
from gpustack_ctrl.controllers.caches import Caches
from gpustack_ctrl.controllers.instance import InstanceReconciler
from gpustack_ctrl.controllers.isolation import IsolationReconciler
from gpustack_ctrl.controllers.node_uses import NodeUses
from gpustack_ctrl.controllers.settings import SettingReconciler
from gpustack_ctrl.plan.actions import PatchType
from gpustack_ctrl.reconcilers.settings.catalogue import ISOLATION
from gpustack_ctrl.runtime.freshness import Freshness
from gpustack_ctrl.runtime.store import Store
from tests.helpers.clock import FakeClock
from tests.helpers.memory_api import MemoryApi, Wire

KEY = ObjectKey("team", "box")
SETTING = ObjectKey("gpustack-system", ISOLATION.name)
ROUNDS = 30

KINDS: Mapping[str, tuple[Resource, Any]] = {
    "instances": (names.INSTANCE, Instance),
    "types": (names.INSTANCE_TYPE, InstanceType),
    "settings": (names.SETTING, Setting),
    "pods": (names.POD, Pod),
    "services": (names.SERVICE, Service),
    "policies": (names.NETWORK_POLICY, NetworkPolicy),
    "nodes": (names.NODE, Node),
    "runtime_classes": (names.RUNTIME_CLASS, RuntimeClass),
    "ssh_keys": (names.SSH_PUBLIC_KEY, InstanceSSHPublicKey),
    "config_maps": (names.CONFIG_MAP, ConfigMap),
}
INDEXERS: Mapping[str, Any] = {
    "instances": {
        indexes.TYPE: indexes.instance_type_of,
        indexes.NODE_PORT: indexes.promised_node_ports,
        indexes.NODE: indexes.pinned_node,
    },
    "services": {indexes.NODE_PORT: indexes.held_node_ports},
    "pods": {indexes.NODE: indexes.node_of_child},
}


class KilledError(Exception):
    """The operator died here."""


@attrs.define
class MemoryWriter:
    """The `Writer` over *api*.

    It dies at write number *kill_at*, before the server sees it or, if its *answer_lost*,
    after that. *refuse* is the answer to each write of a kind.
    """

    api: MemoryApi
    kill_at: int | None = None
    answer_lost: bool = False
    refuse: dict[str, ApiError] = attrs.field(factory=dict)
    sent: int = 0

    async def create(self, resource: Resource, body: Json) -> bytes:
        with_fate = self._attempt(resource, lambda: self.api.create(resource, body))
        return codec.encode(with_fate)

    async def merge_patch(
        self, resource: Resource, key: ObjectKey, patch: Json, subresource: str = ""
    ) -> bytes:
        did = self._attempt(
            resource, lambda: self.api.patch(resource, key, patch, subresource=subresource)
        )
        return codec.encode(did)

    async def strategic_patch(self, resource: Resource, key: ObjectKey, patch: Json) -> bytes:
        how = PatchType.STRATEGIC
        did = self._attempt(resource, lambda: self.api.patch(resource, key, patch, how=how))
        return codec.encode(did)

    async def delete(self, resource: Resource, key: ObjectKey, *, uid: str) -> bytes:
        self._attempt(resource, lambda: self.api.delete(resource, key, uid=uid))
        return b"{}"

    def _attempt(self, resource: Resource, write: Any) -> Any:
        self.sent += 1
        dies = self.sent == self.kill_at
        if dies and not self.answer_lost:
            raise KilledError
        if resource.kind in self.refuse:
            raise self.refuse[resource.kind]
        answer = write()
        if dies:
            raise KilledError
        return answer


@attrs.define
class MemoryWorld:
    """One Instance, `team/box`, its cluster, and an operator that can be started again."""

    api: MemoryApi = attrs.field(factory=MemoryApi)
    clock: FakeClock = attrs.field(factory=FakeClock)
    seeds: dict[str, str] = attrs.field(factory=dict)
    writer: MemoryWriter = attrs.field(init=False)
    stores: dict[str, Store[Any]] = attrs.field(init=False)
    actor: Actor = attrs.field(init=False)
    instances: InstanceReconciler = attrs.field(init=False)
    isolation: IsolationReconciler = attrs.field(init=False)
    settings: SettingReconciler = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.api.create(names.INSTANCE_TYPE, {"metadata": {"name": "small"}, "spec": {}})
        self.start()

    def start(
        self,
        *,
        kill_at: int | None = None,
        answer_lost: bool = False,
        host_key_seed: bytes = bytes(32),
    ) -> None:
        """A new process of the operator, that knows nothing of an earlier one."""
        self.writer = MemoryWriter(self.api, kill_at=kill_at, answer_lost=answer_lost)
        self.stores = {name: Store(INDEXERS.get(name)) for name in KINDS}
        caches = Caches(**self.stores)
        self.actor = Actor(
            writer=self.writer, caches=caches, freshness=Freshness(), clock=self.clock
        )
        both: dict[str, Any] = {"caches": caches, "actor": self.actor}
        self.instances = InstanceReconciler(
            **both, clock=self.clock, uses=NodeUses(caches), host_key_seed=host_key_seed
        )
        self.isolation = IsolationReconciler(**both)
        self.settings = SettingReconciler(**both, clock=self.clock, seeds=self.seeds)
        self.sync()

    def sync(self) -> None:
        """The caches catch up with the server."""
        for name, (resource, kind) in KINDS.items():
            revision = str(self.api.revision)
            self.stores[name].replace(self.api.all(resource, kind), resource_version=revision)

    def make(self, **spec: Any) -> None:
        """The user makes the Instance."""
        asked = {"type": "small", "image": "registry.example/work:1"} | spec
        metadata = {"name": KEY.name, "namespace": KEY.namespace}
        self.api.create(names.INSTANCE, {"metadata": metadata, "spec": asked})

    def edit(self, **spec: Any) -> None:
        """The user edits the spec of the Instance."""
        self.api.patch(names.INSTANCE, KEY, {"spec": spec})

    def set(self, value: str) -> None:
        """An administrator sets the CIDRs of isolation."""
        self.api.patch(names.SETTING, SETTING, {"spec": {"value": value}})

    def get(self, resource: Resource, key: ObjectKey = KEY) -> Wire | None:
        """An object as the server holds it."""
        return self.api.objects.get((resource, key))

    @property
    def status(self) -> Wire:
        """What the Instance tells."""
        held = self.get(names.INSTANCE)
        return {} if held is None else dict(held.get("status", {}))

    async def one_round(self) -> None:
        """Each controller passes over each of its keys; then the cluster does its part."""
        for reconciler, key in self._keys():
            self.sync()
            try:
                await reconciler.reconcile(key)
            except* ApiError:
                pass
        self.api.run_pods()
        self.api.end_pods()
        self.api.collect()
        await self.clock.advance(10)

    async def settle(self) -> int:
        """Rounds until one changes nothing; how many writes they took."""
        before = len(self.api.writes)
        for _ in range(ROUNDS):
            picture = dict(self.api.objects)
            await self.one_round()
            if picture == self.api.objects:
                return len(self.api.writes) - before
        raise AssertionError("it does not settle")

    def _keys(self) -> Iterator[tuple[Any, ObjectKey]]:
        yield self.settings, SETTING
        for namespace in sorted({key.namespace for _, key in self.api.objects} - {""}):
            yield self.isolation, ObjectKey("", namespace)
        yield self.instances, KEY
