"""What the API server does to an object when it is written, in memory.

It is for tests of pure decisions: does one write converge, does a cut plan heal. What
the operator promises is tested on a real API server.
"""

from collections.abc import Iterator
from typing import Any, TypeVar

import attrs

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.codec import Json
from gpustack_ctrl.api.errors import AlreadyExistsError, ConflictError, InvalidError, NotFoundError
from gpustack_ctrl.api.meta import ObjectKey, Resource
from gpustack_ctrl.plan.actions import Action, Apply, Create, Delete, PatchType, Plan
from tests.helpers.rfc7386 import merged

Wire = dict[str, Any]
T = TypeVar("T")

NODE_PORTS = range(30000, 32768)
GENERATED = frozenset({names.INSTANCE, names.INSTANCE_TYPE, names.SETTING, names.NETWORK_POLICY})
GRACEFUL = frozenset({names.POD})


@attrs.define
class MemoryApi:
    """Objects by resource and key; *writes* are those that changed something, in order."""

    objects: dict[tuple[Resource, ObjectKey], Wire] = attrs.field(factory=dict)
    writes: list[str] = attrs.field(factory=list)
    revision: int = 100

    def get(self, resource: Resource, key: ObjectKey, kind: type[T]) -> T | None:
        """The object under *key*, read as *kind*."""
        held = self.objects.get((resource, key))
        return None if held is None else codec.from_wire(held, kind)

    def all(self, resource: Resource, kind: type[T]) -> Iterator[T]:
        """All objects of *resource*, read as *kind*."""
        found = [held for (held_as, _), held in self.objects.items() if held_as == resource]
        return (codec.from_wire(held, kind) for held in found)

    def perform(self, plan: Plan) -> None:
        """Do all of *plan*."""
        for action in plan:
            self._act(action)

    def create(self, resource: Resource, body: Json) -> Wire:
        """POST: the object gets its identity, a Service its node ports."""
        meta = body["metadata"]
        key = ObjectKey(meta.get("namespace", ""), meta["name"])
        if (resource, key) in self.objects:
            raise AlreadyExistsError(f'{resource.plural} "{key.name}" already exists', code=409)
        new = merged(dict(body), {"metadata": {"uid": f"uid-{self.revision + 1}"}})
        if resource in GENERATED:
            new["metadata"]["generation"] = 1
        return self._store(resource, key, new, did="create")

    def patch(
        self,
        resource: Resource,
        key: ObjectKey,
        patch: Json,
        *,
        how: PatchType = PatchType.MERGE,
        subresource: str = "",
    ) -> Wire:
        """PATCH: refused where its uid or resourceVersion is not the object's."""
        held = self._held(resource, key)
        for name in ("uid", "resourceVersion"):
            if (
                patch.get("metadata", {}).get(name, held["metadata"][name])
                != held["metadata"][name]
            ):
                raise ConflictError(f"precondition failed: {name}", code=409)
        new = merged(held, _by_name(held, patch) if how is PatchType.STRATEGIC else dict(patch))
        if subresource == "status":
            new = held | {"status": new.get("status", {})}
        if new == held:
            return held
        if new.get("spec") != held.get("spec") and resource in GENERATED:
            new["metadata"]["generation"] = held["metadata"]["generation"] + 1
        did = f"patch {subresource}".strip()
        return self._store(resource, key, new, did=did)

    def delete(self, resource: Resource, key: ObjectKey, *, uid: str) -> None:
        """DELETE: at once, but a Pod first ends, until `end_pods`."""
        held = self._held(resource, key)
        if held["metadata"]["uid"] != uid:
            raise ConflictError("precondition failed: uid", code=409)
        if resource not in GRACEFUL:
            del self.objects[resource, key]
            self._note("delete", resource)
        elif "deletionTimestamp" not in held["metadata"]:
            ended = merged(held, {"metadata": {"deletionTimestamp": "2026-11-30T12:00:00Z"}})
            self._store(resource, key, ended, did="delete")

    def end_pods(self) -> None:
        """The kubelet lets go of the Pods that are ending."""
        for at, held in tuple(self.objects.items()):
            if at[0] == names.POD and "deletionTimestamp" in held["metadata"]:
                del self.objects[at]

    def run_pods(self) -> None:
        """The kubelet makes every other Pod Ready."""
        conditions = [
            {"type": "PodScheduled", "status": "True"},
            {"type": "Ready", "status": "True"},
        ]
        told = {"spec": {"nodeName": "node-1"}, "status": {"conditions": conditions}}
        for (resource, key), held in tuple(self.objects.items()):
            if resource == names.POD:
                self.objects[resource, key] = merged(held, told)

    def collect(self) -> None:
        """The garbage collector takes what belongs to nobody any more."""
        living = {held["metadata"]["uid"] for held in self.objects.values()}
        for at, held in tuple(self.objects.items()):
            owners = [owner["uid"] for owner in held["metadata"].get("ownerReferences", ())]
            if owners and not living.intersection(owners):
                del self.objects[at]

    def _act(self, action: Action) -> None:
        match action:
            case Create():
                self.create(action.resource, action.body)
            case Apply():
                guard = {"uid": action.uid, "resourceVersion": action.resource_version}
                self.patch(
                    action.resource,
                    action.key,
                    merged(dict(action.patch), {"metadata": guard}),
                    how=action.how,
                )
            case Delete():
                self.delete(action.resource, action.key, uid=action.uid)

    def _held(self, resource: Resource, key: ObjectKey) -> Wire:
        held = self.objects.get((resource, key))
        if held is None:
            raise NotFoundError(f'{resource.plural} "{key.name}" not found', code=404)
        return held

    def _store(self, resource: Resource, key: ObjectKey, new: Wire, *, did: str) -> Wire:
        if resource == names.SERVICE:
            new = merged(new, {"spec": {"ports": self._allocated(key, new)}})
        self._note(did, resource)
        new = merged(new, {"metadata": {"resourceVersion": str(self.revision)}})
        self.objects[resource, key] = new
        return new

    def _note(self, did: str, resource: Resource) -> None:
        self.revision += 1
        self.writes.append(f"{did} {resource.kind}")

    def _allocated(self, key: ObjectKey, service: Wire) -> list[Wire]:
        taken = {
            port.get("nodePort")
            for (resource, other), held in self.objects.items()
            if resource == names.SERVICE and other != key
            for port in held["spec"].get("ports", ())
        }
        asked = {port.get("nodePort") for port in service["spec"]["ports"]} - {None}
        if asked & taken:
            raise InvalidError("provided port is already allocated", code=422)
        free = (number for number in NODE_PORTS if number not in taken | asked)
        return [{"nodePort": port.get("nodePort") or next(free)} | port
                for port in service["spec"]["ports"]]  # fmt: skip


def _by_name(held: Wire, patch: Json) -> Wire:
    """The merge patch that a strategic patch of containers comes to."""
    changes = {entry["name"]: entry for entry in patch["spec"]["containers"]}
    there = held["spec"]["containers"]
    containers = [merged(entry, changes.get(entry["name"], {})) for entry in there]
    return dict(patch) | {"spec": {"containers": containers}}
