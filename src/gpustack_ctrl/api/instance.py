"""Instance: a container workspace with an accelerator, ports and a switch."""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs
from annotated_types import Ge, Le, MaxLen, MinLen

from gpustack_ctrl.api.environment import EnvFromSource, EnvVar
from gpustack_ctrl.api.instance_status import InstanceStatus
from gpustack_ctrl.api.markers import Column, Doc, ListMap, Pattern, Quantity, Rule
from gpustack_ctrl.api.meta import ObjectKey, ObjectMeta
from gpustack_ctrl.api.ports import InstancePort
from gpustack_ctrl.api.references import LocalReference
from gpustack_ctrl.api.resources import InstanceResources
from gpustack_ctrl.api.transitions import (
    frozen_while_running,
    same_presence_while_running,
    same_quantity_while_running,
)
from gpustack_ctrl.api.volumes import AdditionalVolume, WorkspaceVolume


class PullPolicy(StrEnum):
    """When the kubelet pulls an image."""

    ALWAYS = "Always"
    IF_NOT_PRESENT = "IfNotPresent"
    NEVER = "Never"


@attrs.frozen(kw_only=True)
class SecurityContext:
    """Whom the workload runs as, where the image's own user will not do."""

    runAsUser: Annotated[int | None, Ge(0), Le(2147483647), Doc("User ID of the workload.")] = None
    runAsGroup: Annotated[int | None, Ge(0), Le(2147483647), Doc("Group ID of the workload.")] = (
        None
    )
    fsGroup: Annotated[
        int | None, Ge(0), Le(2147483647), Doc("Group that owns the files of its volumes.")
    ] = None


_FROZEN = (
    "type",
    "image",
    "imagePullPolicy",
    "imagePullSecret",
    "command",
    "args",
    "env",
    "envFrom",
    "ports",
    "resources.acceleratorShared",
    "resources.acceleratorSlicedMemoryPercentage",
    "resources.acceleratorSlicedMemoryMiB",
    "resources.acceleratorSlicedCoresPercentage",
    "resources.acceleratorPartitionedProfile",
    "volume.persistent",
    "volumeMount",
    "additionalVolumes",
    "sshPublicKey",
    "securityContext",
    "privileged",
    "nodeName",
)
_FROZEN_QUANTITIES = (
    "resources.cpu",
    "resources.ram",
    "resources.localStorage",
    "resources.accelerator",
    "sharedMemory",
    "volume.ephemeral.capacity",
)


@attrs.frozen(kw_only=True)
class InstanceSpec:
    """What a user asks of an Instance. Nobody else writes it."""

    rules: ClassVar[tuple[Rule, ...]] = (
        *map(frozen_while_running, _FROZEN),
        *map(same_quantity_while_running, _FROZEN_QUANTITIES),
        same_presence_while_running("volume.ephemeral"),
        Rule(
            "!has(self.additionalVolumes)"
            " || self.additionalVolumes.all(v, v.mountPath != self.volumeMount)",
            "an additional volume is mounted at volumeMount, where the workspace is: choose "
            "another mountPath",
            field=".additionalVolumes",
        ),
    )

    type: Annotated[
        str,
        MinLen(1),
        MaxLen(63),
        Doc("Name of the InstanceType, which says what hardware the Instance gets."),
    ]
    image: Annotated[str, MinLen(1), MaxLen(512), Doc("Container image of the workload.")]
    displayName: Annotated[str, MaxLen(64), Doc("Name for people.")] = ""
    description: Annotated[str, MaxLen(1024), Doc("What the Instance is for.")] = ""
    imagePullPolicy: Annotated[PullPolicy, Doc("When to pull the image.")] = (
        PullPolicy.IF_NOT_PRESENT
    )
    imagePullSecret: Annotated[
        LocalReference | None,
        Doc("Secret of type kubernetes.io/dockerconfigjson in the same namespace."),
    ] = None
    command: Annotated[
        tuple[Annotated[str, MaxLen(32768)], ...],
        MaxLen(128),
        Doc("Replaces the entry point of the image."),
    ] = ()
    args: Annotated[
        tuple[Annotated[str, MaxLen(32768)], ...],
        MaxLen(128),
        Doc("Replaces the arguments of the image."),
    ] = ()
    env: Annotated[
        tuple[EnvVar, ...], ListMap(("name",)), MaxLen(256), Doc("Environment variables.")
    ] = ()
    envFrom: Annotated[
        tuple[EnvFromSource, ...],
        MaxLen(32),
        Doc("ConfigMaps and Secrets whose entries become environment variables."),
    ] = ()
    ports: Annotated[
        tuple[InstancePort, ...],
        ListMap(("port", "protocol")),
        MaxLen(32),
        Doc(
            "Ports reached through node ports. Edited while stopped; the edit takes effect at the "
            "next start. A port that stays keeps its node port."
        ),
    ] = ()
    resources: Annotated[
        InstanceResources, Doc("CPU, memory, storage and the accelerator asked for.")
    ] = InstanceResources()
    volume: Annotated[
        WorkspaceVolume | None,
        Doc("The workspace. Absent: an ephemeral volume that ends with the Pod."),
    ] = None
    volumeMount: Annotated[
        str,
        MaxLen(1024),
        Pattern(r"(/[^/]+)+"),
        Doc("Where the workspace volume is mounted."),
    ] = "/workspace"
    additionalVolumes: Annotated[
        tuple[AdditionalVolume, ...],
        ListMap(("mountPath",)),
        MaxLen(32),
        Doc("Further volumes, seen by the workload."),
    ] = ()
    sharedMemory: Annotated[
        Quantity | None,
        Doc("Size of /dev/shm, counted as memory of the workload. Absent: the runtime's 64 MiB."),
    ] = None
    sshPublicKey: Annotated[
        LocalReference | None,
        Doc("InstanceSSHPublicKey of the same namespace, whose keys may log in."),
    ] = None
    securityContext: Annotated[
        SecurityContext | None, Doc("Whom the workload runs as; absent: the image's own user.")
    ] = None
    privileged: Annotated[
        bool, Doc("Run privileged; an administrator must allow it by a Setting.")
    ] = False
    nodeName: Annotated[str, MaxLen(253), Doc("Pins the Instance to the node of this name.")] = ""
    stop: Annotated[bool, Doc("Deletes the Pod and keeps everything else.")] = False
    restartedAt: Annotated[
        str, MaxLen(64), Doc("A change of this text, usually a time, replaces the Pod.")
    ] = ""


@attrs.frozen(kw_only=True)
class Instance:
    """A container workspace with an accelerator, ports that stay, and a switch to stop it."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')"
            " && size(self.metadata.name) <= 63",
            "the name of an Instance must be a valid Service name: at most 63 lower-case letters, "
            "digits and hyphens, beginning with a letter and ending with a letter or digit",
        ),
    )
    columns: ClassVar[tuple[Column, ...]] = (
        Column("Type", ".spec.type"),
        Column("Phase", ".status.phase"),
        Column("Ports", ".status.portSummary"),
        Column("Node", ".status.nodeName"),
        Column("Age", ".metadata.creationTimestamp", "date"),
        Column("Message", ".status.message", wide=True),
        Column("Image", ".spec.image", wide=True),
    )

    metadata: ObjectMeta
    spec: Annotated[InstanceSpec, Doc("What the user asks for.")]
    status: Annotated[InstanceStatus, Doc("What is true now; written by the operator.")] = (
        InstanceStatus()
    )

    @property
    def key(self) -> ObjectKey:
        """Where the Instance lives, which is also where its children live."""
        return self.metadata.key

    @property
    def uid(self) -> str:
        """Its identity: an Instance made anew under the same name is another one."""
        return self.metadata.uid
