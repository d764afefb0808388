"""Objects for tests of pure code: each has what every test needs, and what this one says."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import attrs

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import (
    NetworkPolicy,
    Node,
    NodeAddress,
    NodeStatus,
    Pod,
    PodContainer,
    PodIP,
    PodSpec,
    PodStatus,
    Service,
    ServicePort,
    ServiceSpec,
)
from gpustack_ctrl.api.instance import Instance, InstanceSpec
from gpustack_ctrl.api.instance_status import InstanceStatus
from gpustack_ctrl.api.instance_type import InstanceType, InstanceTypeSpec, UnitResources
from gpustack_ctrl.api.meta import Condition, ObjectMeta, OwnerReference
from gpustack_ctrl.api.ports import InstancePort, PortIdentity, PortStatus, Protocol
from gpustack_ctrl.api.setting import Setting, SettingSpec, SettingStatus
from gpustack_ctrl.reconcilers.claims import owner_of
from gpustack_ctrl.reconcilers.conditions import timestamp
from gpustack_ctrl.reconcilers.isolation.cidrs import OFF, PodCIDRs, parse_cidrs, render
from gpustack_ctrl.reconcilers.settings.in_force import SettingsInForce
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SINCE = "2026-11-30T11:00:00Z"
ON = parse_cidrs("10.244.0.0/16")
NVIDIA = InstanceTypeSpec(manufacturer="nvidia", unitResources=UnitResources(cpu="8", ram="64Gi"))
GENERAL = InstanceTypeSpec()

TCP_22: PortIdentity = (22, Protocol.TCP)
TCP_80: PortIdentity = (80, Protocol.TCP)
UDP_80: PortIdentity = (80, Protocol.UDP)


def meta(name: str = "box", namespace: str = "team", **rest: Any) -> ObjectMeta:
    """Metadata of an object as the API server holds it."""
    stored = {"uid": f"uid-of-{name}", "resourceVersion": "7"} | rest
    return ObjectMeta(name=name, namespace=namespace, **stored)


def instance(
    *,
    name: str = "box",
    uid: str = "uid-of-box",
    deleting: bool = False,
    status: InstanceStatus | None = None,
    **spec: Any,
) -> Instance:
    """An Instance of type `small`; *spec* says what it asks for."""
    asked = {"type": "small", "image": "registry.example/work:1"} | spec
    ended = SINCE if deleting else None
    return Instance(
        metadata=meta(name, uid=uid, generation=3, deletionTimestamp=ended),
        spec=InstanceSpec(**asked),
        status=status or InstanceStatus(),
    )


def ports(*identities: PortIdentity) -> tuple[InstancePort, ...]:
    """Ports of a spec."""
    return tuple(InstancePort(port=port, protocol=protocol) for port, protocol in identities)


def promised(**node_ports: int) -> InstanceStatus:
    """A status that promised node ports: `promised(tcp80=30080)`."""
    told = (
        PortStatus(port=int(name[3:]), protocol=Protocol(name[:3].upper()), nodePort=number)
        for name, number in node_ports.items()
    )
    return InstanceStatus(ports=tuple(told))


def owner(kind: str = "Instance", name: str = "box", uid: str = "uid-of-box") -> OwnerReference:
    """A controller, by default the Instance of `instance()`."""
    group = {"Instance": "worker.gpustack.ai/v1", "Pod": "v1"}.get(kind, "apps/v1")
    return OwnerReference(apiVersion=group, kind=kind, name=name, uid=uid, controller=True)


def service_of(owned_by: Instance, *held: tuple[PortIdentity, int | None]) -> Service:
    """The Service of an Instance, as made at its last start, with its node ports."""
    written = ",".join(f"{port}/{protocol}" for (port, protocol), _ in sorted(held))
    return Service(
        metadata=meta(
            owned_by.key.name,
            uid="uid-of-service",
            labels={names.PART_OF: owned_by.uid, names.TYPE: names.INSTANCES},
            annotations={names.PORTS: written},
            ownerReferences=(owner_of(owned_by),),
        ),
        spec=ServiceSpec(
            type="NodePort",
            clusterIP="10.96.0.7",
            selector={names.PART_OF: owned_by.uid},
            ports=tuple(service_port(identity, number) for identity, number in sorted(held)),
        ),
    )


def service_port(identity: PortIdentity, node_port: int | None) -> ServicePort:
    """A port of a Service in the form we write."""
    port, protocol = identity
    name = f"{protocol.lower()}-{port}"
    return ServicePort(port=port, protocol=protocol, name=name, targetPort=port, nodePort=node_port)


def pod_of(
    owned_by: Instance,
    *,
    phase: str = "Running",
    ready: bool = True,
    node: str = "node-1",
    annotations: dict[str, str] | None = None,
    **status: Any,
) -> Pod:
    """The Pod of an Instance, by default running and Ready."""
    told = {"Ready": ready, "PodScheduled": bool(node)}
    conditions = tuple(
        condition(kind, "True" if holds else "False") for kind, holds in told.items()
    )
    return Pod(
        metadata=meta(
            owned_by.key.name,
            uid="uid-of-pod",
            labels={names.PART_OF: owned_by.uid, names.TYPE: names.INSTANCES},
            annotations={names.RESTARTED_AT: ""} if annotations is None else annotations,
            ownerReferences=(owner_of(owned_by),),
        ),
        spec=PodSpec(
            nodeName=node, containers=(PodContainer(name="main", image=owned_by.spec.image),)
        ),
        status=PodStatus(
            **{"phase": phase, "conditions": conditions, "podIPs": (PodIP(ip="10.244.1.9"),)}
            | status
        ),
    )


def condition(kind: str, status: Any, reason: str = "", message: str = "") -> Condition:
    """A condition that somebody stated earlier."""
    return Condition(
        type=kind, status=status, reason=reason, message=message, lastTransitionTime=SINCE
    )


def ending(held: Any) -> Any:
    """*held* just after somebody asked for its deletion."""
    now = timestamp(NOW)
    return attrs.evolve(held, metadata=attrs.evolve(held.metadata, deletionTimestamp=now))


def remade(held: Any, **metadata: Any) -> Any:
    """*held* with other metadata."""
    return attrs.evolve(held, metadata=attrs.evolve(held.metadata, **metadata))


def policy(cidrs: PodCIDRs = ON, **metadata: Any) -> NetworkPolicy:
    """The isolation policy as we render it for *cidrs*."""
    labels = {names.MANAGED_BY: names.PRODUCT}
    told = meta(names.ISOLATION_POLICY, **({"labels": labels} | metadata))
    return NetworkPolicy(metadata=told, spec=render(cidrs))


def node(name: str = "node-1", *, ready: Any = "True", addresses: Iterable[str] = ()) -> Node:
    """A node that says of itself whether it is Ready."""
    told = NodeStatus(
        conditions=(condition("Ready", ready),),
        addresses=tuple(NodeAddress(type="InternalIP", address=held) for held in addresses),
    )
    return Node(metadata=meta(name, ""), status=told)


def instance_type(spec: InstanceTypeSpec = GENERAL, name: str = "small") -> InstanceType:
    """A type that an administrator offers."""
    return InstanceType(metadata=meta(name, ""), spec=spec)


def setting(name: str, value: str, *, last_good: str | None = None) -> Setting:
    """A Setting; *last_good* is the value that its status says is in force."""
    status = SettingStatus()
    if last_good is not None:
        status = SettingStatus(value=last_good, conditions=(condition("InForce", "True"),))
    told = meta(name, "gpustack-system", generation=5)
    return Setting(metadata=told, spec=SettingSpec(value=value), status=status)


def seen(of: Instance, **rest: Any) -> InstanceSnapshot:
    """What a pass saw of *of*: its type, isolation off, and what *rest* adds."""
    usual: dict[str, Any] = {
        "type": instance_type(),
        "settings": SettingsInForce(isolation=OFF),
        "now": NOW,
    }
    return InstanceSnapshot(instance=of, **(usual | rest))
