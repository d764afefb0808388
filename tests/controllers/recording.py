"""An actor over a writer that notes what is sent, and caches that show what a test says."""

from typing import Any

import attrs

from gpustack_ctrl.api import codec
from gpustack_ctrl.api.codec import Json
from gpustack_ctrl.api.core import Pod
from gpustack_ctrl.api.meta import ObjectKey, ObjectMeta, Resource
from gpustack_ctrl.controllers.act import Actor
from gpustack_ctrl.controllers.caches import Caches
from gpustack_ctrl.runtime.freshness import Freshness
from gpustack_ctrl.runtime.store import Store
from tests.helpers.clock import FakeClock
from tests.helpers.memory_world import INDEXERS, KINDS

Sent = tuple[str, Resource, Any, Any]
OLD = 10


def _stores() -> dict[str, Store[Any]]:
    return {name: Store(INDEXERS.get(name)) for name in KINDS}


@attrs.define
class Recorder:
    """A `Writer`: it answers with *errors* first, and with objects of *revision* after that."""

    errors: list[Exception] = attrs.field(factory=list)
    revision: int = OLD
    sent: list[Sent] = attrs.field(factory=list)
    clock: FakeClock = attrs.field(factory=FakeClock)
    stores: dict[str, Store[Any]] = attrs.field(factory=_stores)

    def __attrs_post_init__(self) -> None:
        for resource, _ in KINDS.values():
            self.catch_up(resource, OLD)

    def catch_up(self, resource: Resource, revision: int) -> None:
        """The cache of *resource* shows the world as it was at *revision*."""
        self._store(resource).advance(str(revision))

    def show_pod(self, metadata: ObjectMeta | None) -> None:
        """The cache shows this Pod, or none."""
        held = () if metadata is None else (Pod(metadata=metadata),)
        self.stores["pods"].replace(held, resource_version=str(OLD))

    async def create(self, resource: Resource, body: Json) -> bytes:
        key = ObjectKey(body["metadata"]["namespace"], body["metadata"]["name"])
        return self._answer("create", resource, key, body)

    async def merge_patch(
        self, resource: Resource, key: ObjectKey, patch: Json, subresource: str = ""
    ) -> bytes:
        return self._answer(f"merge {subresource}".strip(), resource, key, patch)

    async def strategic_patch(self, resource: Resource, key: ObjectKey, patch: Json) -> bytes:
        return self._answer("strategic", resource, key, patch)

    async def delete(self, resource: Resource, key: ObjectKey, *, uid: str) -> bytes:
        return self._answer("delete", resource, key, uid)

    def _answer(self, verb: str, resource: Resource, key: ObjectKey, body: Any) -> bytes:
        self.sent.append((verb, resource, key, body))
        if self.errors:
            raise self.errors.pop(0)
        return codec.encode({"metadata": {"resourceVersion": str(self.revision)}})

    def _store(self, resource: Resource) -> Store[Any]:
        return next(self.stores[name] for name, (held, _) in KINDS.items() if held == resource)


def actor_over(recorder: Recorder) -> Actor:
    """The actor under test."""
    caches = Caches(**recorder.stores)
    return Actor(writer=recorder, caches=caches, freshness=Freshness(), clock=recorder.clock)
