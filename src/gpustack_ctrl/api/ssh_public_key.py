"""InstanceSSHPublicKey: who may log in to an Instance."""

from typing import Annotated, ClassVar

import attrs
from annotated_types import MaxLen

from gpustack_ctrl.api.markers import Column, Doc, ListMap
from gpustack_ctrl.api.meta import Condition, ObjectKey, ObjectMeta


@attrs.frozen(kw_only=True)
class InstanceSSHPublicKeySpec:
    """Public keys, and a name for people."""

    displayName: Annotated[str, MaxLen(64), Doc("Name for people.")] = ""
    description: Annotated[str, MaxLen(1024), Doc("Whose keys these are.")] = ""
    data: Annotated[
        str, MaxLen(262144), Doc("Up to 32 lines in the syntax of authorized_keys.")
    ] = ""


@attrs.frozen(kw_only=True)
class AcceptedKey:
    """A key that may log in."""

    fingerprint: Annotated[str, MaxLen(128), Doc("SHA256:…, as ssh-keygen -l shows it.")]
    type: Annotated[str, MaxLen(64), Doc("Kind of the key.")] = ""
    comment: Annotated[str, MaxLen(128), Doc("Whose it is.")] = ""


@attrs.frozen(kw_only=True)
class InstanceSSHPublicKeyStatus:
    """Which of the lines were taken, and what is wrong with the others."""

    observedGeneration: Annotated[int | None, Doc("The spec that this speaks of.")] = None
    keys: Annotated[tuple[AcceptedKey, ...], MaxLen(32), Doc("The keys that may log in.")] = ()
    conditions: Annotated[
        tuple[Condition, ...], ListMap(("type",)), MaxLen(8), Doc("Accepted, and why not.")
    ] = ()


@attrs.frozen(kw_only=True)
class InstanceSSHPublicKey:
    """Public keys that Instances of the same namespace may name."""

    columns: ClassVar[tuple[Column, ...]] = (
        Column("Display name", ".spec.displayName"),
        Column("Accepted", ".status.conditions[?(@.type=='Accepted')].status"),
        Column("Age", ".metadata.creationTimestamp", "date"),
    )

    metadata: ObjectMeta
    spec: Annotated[InstanceSSHPublicKeySpec, Doc("The keys.")] = InstanceSSHPublicKeySpec()
    status: Annotated[
        InstanceSSHPublicKeyStatus, Doc("What became of them; written by the operator.")
    ] = InstanceSSHPublicKeyStatus()

    @property
    def key(self) -> ObjectKey:
        """Where the object lives."""
        return self.metadata.key
