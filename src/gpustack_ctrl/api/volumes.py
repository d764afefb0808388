"""Volumes of an Instance: the workspace, and further ones."""

from enum import StrEnum
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


class HostPathType(StrEnum):
    """What a path of the node must be, or is made to be."""

    DIRECTORY_OR_CREATE = "DirectoryOrCreate"
    DIRECTORY = "Directory"
    FILE_OR_CREATE = "FileOrCreate"
    FILE = "File"
    SOCKET = "Socket"
    CHAR_DEVICE = "CharDevice"
    BLOCK_DEVICE = "BlockDevice"


@attrs.frozen(kw_only=True)
class HostPath:
    """A path of the node."""

    path: Annotated[
        str,
        MinLen(1),
        MaxLen(1024),
        Pattern(r"(/(\.?[^./][^/]*|\.\.[^/]+))+/?|/"),
        Doc("Absolute path on the node, without . and .. elements."),
    ]
    type: Annotated[HostPathType | None, Doc("What must be there before it is mounted.")] = None


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
    subPath: Annotated[
        str,
        MaxLen(1024),
        Pattern(r"(\.?[^./][^/]*|\.\.[^/]+)(/(\.?[^./][^/]*|\.\.[^/]+))*"),
        Doc("Relative path inside the volume, without . and .. elements."),
    ] = ""
    persistent: Annotated[LocalReference | None, Doc("A PersistentVolumeClaim.")] = None
    configMap: Annotated[LocalReference | None, Doc("A ConfigMap.")] = None
    secret: Annotated[LocalReference | None, Doc("A Secret.")] = None
    hostPath: Annotated[
        HostPath | None, Doc("A path of the node; an administrator must allow it by a Setting.")
    ] = None
