"""The slice of core/v1 that we write: the Pod of an Instance, as rendered."""

from collections.abc import Mapping

import attrs

from gpustack_ctrl.api.core import ResourceRequirements
from gpustack_ctrl.api.environment import EnvFromSource, EnvVar
from gpustack_ctrl.api.instance import PullPolicy
from gpustack_ctrl.api.instance_type import Toleration
from gpustack_ctrl.api.meta import ObjectMeta
from gpustack_ctrl.api.ports import Protocol
from gpustack_ctrl.api.references import LocalReference
from gpustack_ctrl.api.volumes import HostPath


@attrs.frozen(kw_only=True)
class ContainerPort:
    """A port that a container listens on."""

    name: str
    containerPort: int
    protocol: Protocol


@attrs.frozen(kw_only=True)
class VolumeMount:
    """Where a container sees a volume."""

    name: str
    mountPath: str
    readOnly: bool | None = None
    subPath: str = ""


@attrs.frozen(kw_only=True)
class ContainerSecurity:
    """Whom a container runs as."""

    runAsUser: int | None = None
    runAsGroup: int | None = None
    privileged: bool | None = None


@attrs.frozen(kw_only=True)
class Exec:
    """A program of the container, run inside it."""

    command: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Handler:
    """What the kubelet does at a point of a container's life."""

    exec: Exec


@attrs.frozen(kw_only=True)
class Lifecycle:
    """What the kubelet does right after it started a container; that is running only then."""

    postStart: Handler


def started_by(*command: str) -> Lifecycle:
    """A life that begins with *command*, beside the container's own program."""
    return Lifecycle(postStart=Handler(exec=Exec(command=command)))


@attrs.frozen(kw_only=True)
class Container:
    """A container to run."""

    name: str
    image: str
    imagePullPolicy: PullPolicy
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: tuple[EnvVar, ...] = ()
    envFrom: tuple[EnvFromSource, ...] = ()
    ports: tuple[ContainerPort, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()
    volumeMounts: tuple[VolumeMount, ...] = ()
    lifecycle: Lifecycle | None = None
    securityContext: ContainerSecurity | None = None


@attrs.frozen(kw_only=True)
class EmptyDir:
    """A volume that ends with the Pod."""

    medium: str = ""
    sizeLimit: int | str | None = None


@attrs.frozen(kw_only=True)
class ClaimSource:
    """A volume that a PersistentVolumeClaim stands for."""

    claimName: str


@attrs.frozen(kw_only=True)
class ConfigMapSource:
    """A volume whose files are the entries of a ConfigMap."""

    name: str
    optional: bool | None = None


@attrs.frozen(kw_only=True)
class SecretSource:
    """A volume whose files are the entries of a Secret."""

    secretName: str
    defaultMode: int | None = None


@attrs.frozen(kw_only=True)
class Volume:
    """A volume of the Pod, from one source."""

    name: str
    emptyDir: EmptyDir | None = None
    persistentVolumeClaim: ClaimSource | None = None
    configMap: ConfigMapSource | None = None
    secret: SecretSource | None = None
    hostPath: HostPath | None = None


@attrs.frozen(kw_only=True)
class Sysctl:
    """A kernel parameter of the Pod's own namespaces."""

    name: str
    value: str


@attrs.frozen(kw_only=True)
class PodSecurity:
    """What holds for all containers of the Pod."""

    fsGroup: int | None = None
    sysctls: tuple[Sysctl, ...] = ()


@attrs.frozen(kw_only=True)
class PodTemplateSpec:
    """What the Pod asks the cluster for."""

    containers: tuple[Container, ...]
    initContainers: tuple[Container, ...] = ()
    volumes: tuple[Volume, ...] = ()
    nodeSelector: Mapping[str, str] = attrs.field(factory=dict)
    tolerations: tuple[Toleration, ...] = ()
    runtimeClassName: str = ""
    priorityClassName: str = ""
    imagePullSecrets: tuple[LocalReference, ...] = ()
    securityContext: PodSecurity | None = None
    automountServiceAccountToken: bool = False
    enableServiceLinks: bool = False
    shareProcessNamespace: bool | None = None
    restartPolicy: str = "Always"


@attrs.frozen(kw_only=True)
class PodTemplate:
    """The Pod of an Instance, as rendered."""

    metadata: ObjectMeta
    spec: PodTemplateSpec
    apiVersion: str = "v1"
    kind: str = "Pod"
