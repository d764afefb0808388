"""What a pass may do to the cluster: a plan is a tuple of these, and doing nothing is ()."""

from enum import Enum

import attrs

from gpustack_ctrl.api.codec import Json
from gpustack_ctrl.api.errors import ApiError
from gpustack_ctrl.api.meta import ObjectKey, ObjectMeta, Resource


class PatchType(Enum):
    """How the API server reads a patch: whether it replaces lists or merges them by key."""

    MERGE = "merge"
    STRATEGIC = "strategic"


@attrs.frozen(kw_only=True)
class Create:
    """Make the object *body*, which is not there.

    What comes after a *vital* one in a plan is done only if it was taken.
    """

    resource: Resource
    key: ObjectKey
    body: Json = attrs.field(repr=False)
    vital: bool = False

    def __str__(self) -> str:
        """For the log line of the pass."""
        return f"create {self.resource.kind}"


@attrs.frozen(kw_only=True)
class Apply:
    """Change what *patch* names on the very object that was seen.

    *because* lists the paths that differed.
    """

    resource: Resource
    key: ObjectKey
    uid: str
    resource_version: str
    patch: Json
    how: PatchType = PatchType.MERGE
    because: tuple[str, ...] = ()

    def __str__(self) -> str:
        """For the log line of the pass."""
        return f"apply {self.resource.kind} ({', '.join(self.because)})"


@attrs.frozen(kw_only=True)
class Delete:
    """Delete the very object that was seen, never a later one of the same name."""

    resource: Resource
    key: ObjectKey
    uid: str
    because: str

    def __str__(self) -> str:
        """For the log line of the pass."""
        return f"delete {self.resource.kind} ({self.because})"


Action = Create | Apply | Delete
Plan = tuple[Action, ...]


def create(resource: Resource, metadata: ObjectMeta, body: Json, *, vital: bool = False) -> Create:
    """The action that makes *body*, with its kind filled in."""
    typed = {"apiVersion": resource.api_version, "kind": resource.kind, **body}
    return Create(resource=resource, key=metadata.key, body=typed, vital=vital)


def delete(resource: Resource, seen: ObjectMeta, *, because: str) -> Delete:
    """The action that deletes the object whose metadata was *seen*."""
    return Delete(resource=resource, key=seen.key, uid=seen.uid, because=because)


@attrs.frozen
class Refused:
    """An action that the API server did not take, and its answer."""

    action: Action
    error: ApiError
