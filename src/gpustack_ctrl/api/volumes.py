"""Volumes of an Instance: the workspace, and further ones."""

from typing import Annotated, ClassVar

import attrs
from annotated_types import MaxLen, MinLen

from gpustack_ctrl.api.markers import Doc, Pattern, Quantity, Rule
from gpustack_ctrl.api.references import LocalReference


@attrs.frozen(kw_only=True)
class EphemeralVolume:
    """A volume that ends with the Pod: what it holds is lost at a stop."""

    capacity: Annotated[
        Quantity | None, Doc("Its size limit. Absent: as much as resources.localStorage allows.")
    ] = None


@attrs.frozen(kw_only=True)
class WorkspaceVolume:
    """Where the work is kept."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "has(self.ephemeral) != has(self.persistent)",
            "volume needs exactly one of ephemeral and persistent",
        ),
    )

    ephemeral: Annotated[EphemeralVolume | None, Doc("Ends with the Pod.")] = None
    persistent: Annotated[
        LocalReference | None, Doc("PersistentVolumeClaim of the same namespace.")
    ] = None


@attrs.frozen(kw_only=True)
class HostPath:
    """A path of the node."""

    path: Annotated[str, MinLen(1), MaxLen(1024), Pattern(r"/.*"), Doc("Path on the node.")]
    type: Annotated[str, MaxLen(32), Doc("Check before mounting, as in core/v1.")] = ""


@attrs.frozen(kw_only=True)
class AdditionalVolume:
    """One further volume and where it is mounted."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "[has(self.persistent), has(self.configMap), has(self.secret), has(self.hostPath)]"
            ".filter(x, x).size() == 1",
            "an additional volume needs exactly one of persistent, configMap, secret and hostPath",
        ),
    )

    mountPath: Annotated[
        str, MinLen(1), MaxLen(1024), Pattern(r"(/[^/]+)+"), Doc("Where it is mounted.")
    ]
    readOnly: Annotated[bool, Doc("Mount it read-only.")] = False
    subPath: Annotated[str, MaxLen(1024), Doc("Path inside the volume.")] = ""
    persistent: Annotated[LocalReference | None, Doc("A PersistentVolumeClaim.")] = None
    configMap: Annotated[LocalReference | None, Doc("A ConfigMap.")] = None
    secret: Annotated[LocalReference | None, Doc("A Secret.")] = None
    hostPath: Annotated[HostPath | None, Doc("A path of the node; needs a Setting.")] = None
