"""The one actor: it performs what a plan names, and remembers what it wrote.

A failing action does not stop its siblings. What the API server did not take is
returned, so that the status can tell it, and raised by the reconciler afterwards.
"""

from typing import Protocol

import attrs

from gpustack_ctrl.api import codec
from gpustack_ctrl.api.codec import Json
from gpustack_ctrl.api.errors import AlreadyExistsError, ApiError, ConflictError, NotFoundError
from gpustack_ctrl.api.meta import ObjectKey, ObjectMeta, Resource
from gpustack_ctrl.controllers.caches import Caches
from gpustack_ctrl.plan.actions import Action, Apply, Create, Delete, PatchType, Plan, Refused
from gpustack_ctrl.plan.diff import EVERYTHING, merge_patch
from gpustack_ctrl.runtime.clock import Clock
from gpustack_ctrl.runtime.freshness import Freshness

NAMESPACE_TERMINATING = "NamespaceTerminating"
STALE_RETRY_SECONDS = 0.25
"""When to look again where the cache does not show our own last write yet."""


class Writer(Protocol):
    """What the actor needs of a client: the answer is the object as the server holds it."""

    async def create(self, resource: Resource, body: Json) -> bytes:
        """POST *body*."""
        ...

    async def merge_patch(
        self, resource: Resource, key: ObjectKey, patch: Json, subresource: str = ""
    ) -> bytes:
        """PATCH the object, or its *subresource*: lists are replaced as a whole."""
        ...

    async def strategic_patch(self, resource: Resource, key: ObjectKey, patch: Json) -> bytes:
        """PATCH the object: lists are merged by their keys."""
        ...

    async def delete(self, resource: Resource, key: ObjectKey, *, uid: str) -> bytes:
        """DELETE the object, if it still has *uid*; its dependents follow later."""
        ...


@attrs.frozen
class _Written:
    metadata: ObjectMeta


@attrs.frozen(kw_only=True)
class Actor:
    """Performs plans through *writer* and notes each write for *freshness*."""

    writer: Writer
    caches: Caches
    freshness: Freshness
    clock: Clock

    async def perform(self, owner: str, plan: Plan) -> tuple[Refused, ...]:
        """Do all of *plan* on behalf of the *owner* UID; return what was not taken."""
        refusals: list[Refused] = []
        for action in plan:
            refused = await self._attempt(owner, action)
            if refused is not None:
                refusals.append(refused)
                if isinstance(action, Create) and action.vital:
                    break
        return tuple(refusals)

    async def report(
        self, owner: str, resource: Resource, seen: ObjectMeta, *, before: Json, after: Json
    ) -> bool:
        """Make the status of the object *seen* say *after*; whether that took a write.

        The version guards against a namesake: on a status the server ignores a UID. An
        object that is gone needs no status.
        """
        patch = merge_patch(after, before, whole=EVERYTHING)
        if not patch:
            return False
        body = {"metadata": {"resourceVersion": seen.resourceVersion}, "status": patch}
        try:
            answer = await self.writer.merge_patch(resource, seen.key, body, "status")
        except NotFoundError:
            return False
        self._note(owner, resource, answer)
        return True

    def fresh(self, owner: str) -> bool:
        """Whether the caches show all that was written on behalf of *owner*."""
        return self.freshness.fresh(owner, self.clock.monotonic())

    async def _attempt(self, owner: str, action: Action) -> Refused | None:
        try:
            await self._act(owner, action)
        except ApiError as error:
            return None if _as_good_as_done(action, error) else Refused(action, error)
        return None

    async def _act(self, owner: str, action: Action) -> None:
        resource = action.resource
        match action:
            case Create():
                self._note(owner, resource, await self.writer.create(resource, action.body))
            case Apply():
                self._note(owner, resource, await self._patch(action))
            case Delete():
                await self.writer.delete(resource, action.key, uid=action.uid)
                self._note_deletion(owner, action)

    def _note_deletion(self, owner: str, action: Delete) -> None:
        cache, now = self.caches.of(action.resource), self.clock.monotonic()
        if cache is not None:
            self.freshness.deleted(owner, cache, action.key, action.uid, now=now)

    async def _patch(self, action: Apply) -> bytes:
        guarded = {"uid": action.uid, "resourceVersion": action.resource_version}
        metadata = {**action.patch.get("metadata", {}), **guarded}
        body = {**action.patch, "metadata": metadata}
        if action.how is PatchType.STRATEGIC:
            return await self.writer.strategic_patch(action.resource, action.key, body)
        return await self.writer.merge_patch(action.resource, action.key, body)

    def _note(self, owner: str, resource: Resource, answer: bytes) -> None:
        cache = self.caches.of(resource)
        if cache is None:
            return  # Nobody will read it, so nobody can be misled by an old state of it.
        version = codec.reader(_Written)(answer).metadata.resourceVersion
        self.freshness.wrote(owner, cache, version, now=self.clock.monotonic())


def _as_good_as_done(action: Action, error: ApiError) -> bool:
    """Deleting what is gone, or what is another object by now, is done.

    What others wait for only has to be there.
    In a namespace that is going away nothing can be made, and nothing needs to be.
    """
    if NAMESPACE_TERMINATING in error.causes:
        return True
    if isinstance(action, Create) and action.vital and isinstance(error, AlreadyExistsError):
        return True
    return isinstance(action, Delete) and isinstance(error, NotFoundError | ConflictError)
