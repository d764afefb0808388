"""The Service of an Instance: the ports that users know, kept across stop and start.

A port is known by its number and protocol. Its node port is asked for by number, as
`status.ports` recorded it, so that it comes back even when the Service was deleted.
"""

from collections.abc import Iterable, Mapping

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.core import Service, ServicePort, ServiceSpec
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.meta import ObjectKey, ObjectMeta
from gpustack_ctrl.api.ports import PortIdentity, Protocol
from gpustack_ctrl.plan.actions import Plan, create, delete
from gpustack_ctrl.plan.diff import diff
from gpustack_ctrl.reconcilers.adoption import service_claim
from gpustack_ctrl.reconcilers.claims import Claim, owners
from gpustack_ctrl.reconcilers.kind import ChildKind
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot

_WHOLE = frozenset({"spec.selector", "spec.ports", "metadata.ownerReferences"})
_PORTS = range(1, 65536)
_MOST_PORTS = 32
"""As many as an Instance may list, and its status can tell."""


def plan(seen: InstanceSnapshot) -> Plan:
    """What to do about the Service; a foreign one is never touched."""
    instance, have = seen.instance, seen.service
    standing = service_claim(seen)
    if instance.metadata.deleting or standing in (Claim.FOREIGN, Claim.PASSING) or is_going(have):
        return ()
    ours = have if standing is Claim.OURS else None
    want = desired(instance, ours)
    if want is None:
        return (delete(names.SERVICE, ours.metadata, because="no ports"),) if ours else ()
    if taken(want, seen.holders):
        return ()
    if ours is None:
        return (create(names.SERVICE, want.metadata, codec.to_wire(want)),)
    return diff(
        names.SERVICE, codec.to_wire(want), _ordered(ours), seen=ours.metadata, whole=_WHOLE
    )


def desired(instance: Instance, observed: Service | None) -> Service | None:
    """The Service that *instance* should have, or None for no Service.

    *observed* is its own Service, if there is one. It lends only its ports: a stopped
    Instance keeps them as they were at its last start.
    """
    identities = identities_in_force(instance, observed)
    if not identities:
        return None
    numbers = node_ports(instance, observed)
    labels = {names.PART_OF: instance.uid, names.TYPE: names.INSTANCES}
    return Service(
        metadata=ObjectMeta(
            name=instance.key.name,
            namespace=instance.key.namespace,
            labels=labels,
            annotations={names.PORTS: _written(identities)},
            ownerReferences=owners(instance, observed.metadata if observed else ObjectMeta()),
        ),
        spec=ServiceSpec(
            type="NodePort",
            selector={names.PART_OF: instance.uid},
            ports=tuple(_port(identity, numbers.get(identity)) for identity in identities),
        ),
    )


def identities_in_force(instance: Instance, observed: Service | None) -> tuple[PortIdentity, ...]:
    """The ports that the Service should have now, in canonical order."""
    if not instance.spec.stop:
        return _sorted(port.identity for port in instance.spec.ports)
    noted = _read(observed.metadata.annotations.get(names.PORTS, "")) if observed else ()
    if noted:
        return noted
    if instance.status.ports:
        return _sorted(port.identity for port in instance.status.ports)
    return _sorted(port.identity for port in observed.spec.ports) if observed else ()


def node_ports(instance: Instance, observed: Service | None) -> Mapping[PortIdentity, int]:
    """The node port to ask for, by port: what was promised to users beats what is there."""
    there = observed.spec.ports if observed else ()
    pairs = (
        *((port.identity, port.nodePort) for port in there),
        *((port.identity, port.nodePort) for port in instance.status.ports),
    )
    return {identity: number for identity, number in pairs if number is not None}


def is_going(observed: Service | None) -> bool:
    """Whether the Service is on its way out: it is made anew once it is gone."""
    return observed is not None and observed.metadata.deleting


def taken(want: Service, holders: Mapping[int, ObjectKey]) -> Mapping[int, ObjectKey]:
    """The node ports of *want* that another Service holds, and which."""
    asked = {port.nodePort for port in want.spec.ports}
    return {number: holder for number, holder in holders.items() if number in asked}


def _port(identity: PortIdentity, node_port: int | None) -> ServicePort:
    port, protocol = identity
    name = f"{protocol.lower()}-{port}"
    return ServicePort(name=name, port=port, protocol=protocol, targetPort=port, nodePort=node_port)


def _ordered(service: Service) -> codec.Json:
    """*service* with its ports in canonical order, since their order means nothing."""
    wire = codec.to_wire(service)
    ports = sorted(service.spec.ports, key=lambda port: port.identity)
    wire["spec"] = wire["spec"] | {"ports": [codec.to_wire(port) for port in ports]}
    return wire


def _sorted(identities: Iterable[PortIdentity]) -> tuple[PortIdentity, ...]:
    return tuple(sorted(identities))


def _written(identities: Iterable[PortIdentity]) -> str:
    return ",".join(f"{port}/{protocol}" for port, protocol in identities)


def _read(written: str) -> tuple[PortIdentity, ...]:
    """The ports that are *written*, or none where somebody spoiled the note."""
    entries = written.split(",")
    try:
        noted = _sorted({_identity(entry) for entry in entries})
    except ValueError:
        return ()
    return noted if len(noted) == len(entries) <= _MOST_PORTS else ()


def _identity(written: str) -> PortIdentity:
    port, _, protocol = written.partition("/")
    if int(port) not in _PORTS:
        raise ValueError(f"{port} is not a port")
    return int(port), Protocol(protocol)


KIND = ChildKind(
    resource=names.SERVICE,
    verbs=("list", "watch", "create", "patch", "delete"),
    plan=plan,
)
