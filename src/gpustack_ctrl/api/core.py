"""The slice of core/v1 that we read: only declared fields are ever decoded."""

from collections.abc import Mapping
from typing import Any

import attrs

from gpustack_ctrl.api.meta import Condition, ObjectKey, ObjectMeta
from gpustack_ctrl.api.ports import PortIdentity, Protocol

Quantities = Mapping[str, str]


@attrs.frozen(kw_only=True)
class ResourceRequirements:
    """What a container may use, and what is set aside for it."""

    limits: Quantities = attrs.field(factory=dict)
    requests: Quantities = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class PodContainer:
    """A container as the Pod names it."""

    name: str
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    restartPolicy: str = ""

    @property
    def stays(self) -> bool:
        """Whether an init container runs beside the others, as a sidecar."""
        return self.restartPolicy == "Always"


@attrs.frozen(kw_only=True)
class SchedulingGate:
    """A reason why the scheduler leaves the Pod alone."""

    name: str


@attrs.frozen(kw_only=True)
class EmptyDir:
    """Space that lives as long as the Pod."""

    sizeLimit: str | None = None


@attrs.frozen(kw_only=True)
class ClaimReference:
    """The claim that a volume stands for."""

    claimName: str = ""


@attrs.frozen(kw_only=True)
class PodVolume:
    """A volume, and whether it is space to write to."""

    name: str
    emptyDir: EmptyDir | None = None
    persistentVolumeClaim: ClaimReference | None = None

    @property
    def is_space(self) -> bool:
        """Whether one can fill it."""
        return self.emptyDir is not None or self.persistentVolumeClaim is not None


@attrs.frozen(kw_only=True)
class PodSpec:
    """Where a Pod runs and what it holds."""

    nodeName: str = ""
    containers: tuple[PodContainer, ...] = ()
    initContainers: tuple[PodContainer, ...] = ()
    schedulingGates: tuple[SchedulingGate, ...] = ()
    volumes: tuple[PodVolume, ...] = ()


@attrs.frozen(kw_only=True)
class ContainerWaiting:
    """Why a container does not run yet."""

    reason: str = ""
    message: str = ""


@attrs.frozen(kw_only=True)
class ContainerTerminated:
    """How a container ended."""

    exitCode: int = 0
    signal: int = 0
    reason: str = ""
    message: str = ""
    finishedAt: str | None = None


@attrs.frozen(kw_only=True)
class ContainerState:
    """One of the states of a container; none of them: waiting."""

    waiting: ContainerWaiting | None = None
    terminated: ContainerTerminated | None = None


@attrs.frozen(kw_only=True)
class ContainerStatus:
    """What the kubelet says of a container."""

    name: str
    ready: bool = False
    restartCount: int = 0
    imageID: str = ""
    state: ContainerState = ContainerState()
    lastState: ContainerState = ContainerState()


@attrs.frozen(kw_only=True)
class PodIP:
    """An address of a Pod or of its node."""

    ip: str = ""


@attrs.frozen(kw_only=True)
class PodStatus:
    """What the scheduler and the kubelet say of a Pod."""

    phase: str = ""
    reason: str = ""
    message: str = ""
    startTime: str | None = None
    conditions: tuple[Condition, ...] = ()
    hostIPs: tuple[PodIP, ...] = ()
    podIPs: tuple[PodIP, ...] = ()
    initContainerStatuses: tuple[ContainerStatus, ...] = ()
    containerStatuses: tuple[ContainerStatus, ...] = ()


@attrs.frozen(kw_only=True)
class Pod:
    """A Pod, ours or anybody's."""

    metadata: ObjectMeta
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    def container(self, name: str) -> PodContainer | None:
        """The container called *name*, if the Pod has it."""
        return next((held for held in self.spec.containers if held.name == name), None)

    def container_status(self, name: str) -> ContainerStatus | None:
        """What the kubelet says of the container called *name*, once it says something."""
        return next((told for told in self.status.containerStatuses if told.name == name), None)


@attrs.frozen(kw_only=True)
class ServicePort:
    """A port of a Service and the node port that leads to it."""

    port: int
    name: str = ""
    protocol: Protocol = Protocol.TCP
    targetPort: int | str | None = None
    nodePort: int | None = None

    @property
    def identity(self) -> PortIdentity:
        """What makes two entries the same port."""
        return (self.port, self.protocol)


@attrs.frozen(kw_only=True)
class ServiceSpec:
    """How a Service reaches its Pods."""

    type: str = ""
    clusterIP: str = ""
    selector: Mapping[str, str] = attrs.field(factory=dict)
    ports: tuple[ServicePort, ...] = ()
    publishNotReadyAddresses: bool = False


@attrs.frozen(kw_only=True)
class Service:
    """A Service, ours or anybody's."""

    metadata: ObjectMeta
    spec: ServiceSpec = ServiceSpec()

    @property
    def key(self) -> ObjectKey:
        """Where the Service lives."""
        return self.metadata.key


@attrs.frozen(kw_only=True)
class NodeAddress:
    """An address of a node."""

    type: str
    address: str


@attrs.frozen(kw_only=True)
class NodeSpec:
    """Whether a node takes Pods."""

    unschedulable: bool = False


@attrs.frozen(kw_only=True)
class DaemonEndpoint:
    """A port that a daemon of the node listens on."""

    Port: int = 0  # The only field of the API that begins with a capital.


@attrs.frozen(kw_only=True)
class NodeDaemonEndpoints:
    """The ports of the node's daemons."""

    kubeletEndpoint: DaemonEndpoint = DaemonEndpoint()


@attrs.frozen(kw_only=True)
class NodeStatus:
    """What the kubelet says of its node."""

    addresses: tuple[NodeAddress, ...] = ()
    daemonEndpoints: NodeDaemonEndpoints = NodeDaemonEndpoints()
    conditions: tuple[Condition, ...] = ()
    allocatable: Quantities = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Node:
    """A node of the cluster."""

    metadata: ObjectMeta
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def address(self) -> str:
        """Where the node is reached inside the cluster; empty where it does not say."""
        told = {held.type: held.address for held in self.status.addresses}
        kinds = ("InternalIP", "ExternalIP", "Hostname")
        return next((told[kind] for kind in kinds if told.get(kind)), "")


@attrs.frozen(kw_only=True)
class RuntimeClass:
    """A way to run containers that the cluster knows."""

    metadata: ObjectMeta


@attrs.frozen(kw_only=True)
class NetworkPolicy:
    """A NetworkPolicy; its spec stays JSON, because it is compared and kept whole."""

    metadata: ObjectMeta
    spec: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class ConfigMap:
    """A ConfigMap of ours: the keys that may log in."""

    metadata: ObjectMeta
    data: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Secret:
    """A Secret, as written; none is ever read but the operator's own seed."""

    metadata: ObjectMeta
    stringData: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    immutable: bool = True
