"""The caches that the controllers read, and the indexes they are asked by."""

from collections.abc import Iterable, Mapping

import attrs

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import ConfigMap, NetworkPolicy, Node, Pod, RuntimeClass, Service
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_type import InstanceType
from gpustack_ctrl.api.meta import Object, ObjectKey, Resource
from gpustack_ctrl.api.setting import Setting
from gpustack_ctrl.api.ssh_public_key import InstanceSSHPublicKey
from gpustack_ctrl.reconcilers.types.capacity import holds_extended
from gpustack_ctrl.runtime.store import Lister

NAMESPACE = "namespace"
OWNER = "owner"
NODE = "node"
ACCELERATOR_NODE = "acceleratorNode"
NODE_PORT = "nodePort"
TYPE = "type"
SSH_KEY = "sshKey"


@attrs.frozen(kw_only=True)
class Caches:
    """One lister for each kind that is watched; the only source of a snapshot."""

    instances: Lister[Instance]
    types: Lister[InstanceType]
    settings: Lister[Setting]
    pods: Lister[Pod]
    services: Lister[Service]
    policies: Lister[NetworkPolicy]
    nodes: Lister[Node]
    ssh_keys: Lister[InstanceSSHPublicKey]
    config_maps: Lister[ConfigMap]
    runtime_classes: Lister[RuntimeClass]

    def of(self, resource: Resource) -> Lister[Object] | None:
        """The lister of *resource*, if it is among those that are written and read."""
        written: Mapping[Resource, Lister[Object]] = {
            names.INSTANCE: self.instances,
            names.INSTANCE_TYPE: self.types,
            names.SETTING: self.settings,
            names.POD: self.pods,
            names.SERVICE: self.services,
            names.NETWORK_POLICY: self.policies,
            names.SSH_PUBLIC_KEY: self.ssh_keys,
            names.CONFIG_MAP: self.config_maps,
        }
        return written.get(resource)

    def holder_of(self, node_port: int, *, other_than: ObjectKey) -> ObjectKey | None:
        """The Service, another one, that holds *node_port*."""
        held = self.services.by_index(NODE_PORT, str(node_port))
        return next((service.key for service in held if service.key != other_than), None)


def instance_type_of(instance: Instance) -> Iterable[str]:
    """Index: the type that an Instance names."""
    yield instance.spec.type


def promised_node_ports(instance: Instance) -> Iterable[str]:
    """Index: the node ports that were promised to the users of an Instance."""
    return (str(port.nodePort) for port in instance.status.ports if port.nodePort)


def held_node_ports(service: Service) -> Iterable[str]:
    """Index: the node ports that a Service holds."""
    return (str(port.nodePort) for port in service.spec.ports if port.nodePort)


def node_of_child(pod: Pod) -> Iterable[str]:
    """Index: the node of a Pod that belongs to an Instance."""
    owner = pod.metadata.controller
    if owner is not None and owner.kind == names.INSTANCE.kind and pod.spec.nodeName:
        yield pod.spec.nodeName


def pinned_node(instance: Instance) -> Iterable[str]:
    """Index: the node that the user of an Instance named."""
    if instance.spec.nodeName:
        yield instance.spec.nodeName


def ssh_key_of(instance: Instance) -> Iterable[str]:
    """Index: the key object that an Instance names, as `namespace/name`."""
    if instance.spec.sshPublicKey is not None:
        yield str(ObjectKey(instance.metadata.namespace, instance.spec.sshPublicKey.name))


def accelerator_node(pod: Pod) -> Iterable[str]:
    """Index: the node on which a Pod, anybody's, holds an extended resource."""
    if pod.spec.nodeName and holds_extended(pod):
        yield pod.spec.nodeName
