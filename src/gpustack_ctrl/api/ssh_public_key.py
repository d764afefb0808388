"""InstanceSSHPublicKey: who may log in to an Instance."""

from typing import Annotated, ClassVar

import attrs
from annotated_types import MaxLen

from gpustack_ctrl.api.markers import Column, Doc
from gpustack_ctrl.api.meta import ObjectMeta


@attrs.frozen(kw_only=True)
class InstanceSSHPublicKeySpec:
    """Public keys, and a name for people."""

    displayName: Annotated[str, MaxLen(64), Doc("Name for people.")] = ""
    description: Annotated[str, MaxLen(1024), Doc("Whose keys these are.")] = ""
    data: Annotated[
        str, MaxLen(262144), Doc("Up to 32 lines in the syntax of authorized_keys.")
    ] = ""


@attrs.frozen(kw_only=True)
class InstanceSSHPublicKey:
    """Public keys that Instances of the same namespace may name."""

    columns: ClassVar[tuple[Column, ...]] = (
        Column("Display name", ".spec.displayName"),
        Column("Age", ".metadata.creationTimestamp", "date"),
    )

    metadata: ObjectMeta
    spec: Annotated[InstanceSSHPublicKeySpec, Doc("The keys.")] = InstanceSSHPublicKeySpec()
