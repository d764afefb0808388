"""What all Kubernetes objects share: keys, metadata, owners and conditions."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, Protocol

import attrs
from annotated_types import MaxLen, MinLen

from gpustack_ctrl.api.markers import Doc, Timestamp


@attrs.frozen(order=True)
class ObjectKey:
    """Where an object lives: *namespace* is empty for a cluster-scoped one."""

    namespace: str
    name: str

    def __str__(self) -> str:
        """The form that people and kubectl use: `namespace/name`, or `name` alone."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@attrs.frozen(kw_only=True)
class Resource:
    """A kind as the API server serves it."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """The value of `apiVersion` in an object of this kind."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def full_name(self) -> str:
        """`plural.group`, as CRDs are named and `kubectl` accepts it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, key: ObjectKey, *, subresource: str = "") -> str:
        """The URL path of the object *key*, or of its *subresource*."""
        path = f"{self.collection(key.namespace)}/{key.name}"
        return f"{path}/{subresource}" if subresource else path

    def collection(self, namespace: str = "") -> str:
        """The URL path of all objects, or of those in *namespace*."""
        root = f"/apis/{self.api_version}" if self.group else f"/api/{self.version}"
        within = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return f"{root}{within}/{self.plural}"


@attrs.frozen(kw_only=True)
class OwnerReference:
    """Who an object belongs to: the garbage collector follows *uid*."""

    apiVersion: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    blockOwnerDeletion: bool | None = None


@attrs.frozen(kw_only=True)
class ObjectMeta:
    """The part of an object's metadata that we read or write."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resourceVersion: str = ""
    generation: int | None = None
    creationTimestamp: str | None = None
    deletionTimestamp: str | None = None
    finalizers: tuple[str, ...] = ()
    labels: Mapping[str, str] = attrs.field(factory=dict)
    annotations: Mapping[str, str] = attrs.field(factory=dict)
    ownerReferences: tuple[OwnerReference, ...] = ()

    @property
    def key(self) -> ObjectKey:
        """Where the object lives."""
        return ObjectKey(self.namespace, self.name)

    @property
    def deleting(self) -> bool:
        """Whether somebody asked for the object's deletion."""
        return self.deletionTimestamp is not None

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that manages the object, if it has one."""
        return next((owner for owner in self.ownerReferences if owner.controller), None)


class Object(Protocol):
    """Any object of the API that carries metadata."""

    @property
    def metadata(self) -> ObjectMeta:
        """Name, namespace, identity and owners."""
        ...


ConditionStatus = Literal["True", "False", "Unknown"]


@attrs.frozen(kw_only=True)
class Condition:
    """One statement about an object, in the form that `kubectl wait` understands."""

    type: Annotated[str, MinLen(1), MaxLen(64), Doc("What is stated, such as Ready.")]
    status: Annotated[ConditionStatus, Doc("Whether it holds.")]
    reason: Annotated[str, MaxLen(128), Doc("Why, in one word for programs.")] = ""
    message: Annotated[str, MaxLen(4096), Doc("Why, in a sentence for people.")] = ""
    lastTransitionTime: Annotated[Timestamp | None, Doc("When status last changed.")] = None
    observedGeneration: Annotated[int | None, Doc("The spec that this speaks of.")] = None


def condition_of(conditions: Iterable[Condition], kind: str) -> Condition | None:
    """The condition of type *kind*, if it is stated."""
    return next((condition for condition in conditions if condition.type == kind), None)
