"""Who is woken by whose change: from an object to the requests of a queue."""

from collections.abc import Callable, Iterable

import attrs

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import NetworkPolicy, Node, Pod, RuntimeClass, Service
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_type import InstanceType
from gpustack_ctrl.api.meta import Object, ObjectKey, condition_of
from gpustack_ctrl.api.setting import Setting
from gpustack_ctrl.api.ssh_public_key import InstanceSSHPublicKey
from gpustack_ctrl.controllers.caches import (
    NAMESPACE,
    NODE,
    NODE_PORT,
    SSH_KEY,
    TYPE,
    Caches,
    held_node_ports,
)
from gpustack_ctrl.reconcilers.settings.catalogue import ISOLATION
from gpustack_ctrl.reconcilers.status.pod_progress import has_ended
from gpustack_ctrl.reconcilers.types.capacity import holds_extended
from gpustack_ctrl.runtime.predicates import Predicate, changed

Requests = Iterable[ObjectKey]


@attrs.frozen
class InstanceTriggers:
    """What wakes an Instance besides itself."""

    caches: Caches

    def by_child(self, child: Object) -> Requests:
        """A Pod or Service: its owner, and the Instance under whose name it stands."""
        owner = child.metadata.controller
        if owner is not None and owner.kind == names.INSTANCE.kind:
            yield ObjectKey(child.metadata.namespace, owner.name)
        if self.caches.instances.get(child.metadata.key) is not None:
            yield child.metadata.key

    def by_service(self, service: Service) -> Requests:
        """Also the Instances that wait for a node port which the Service holds or frees."""
        yield from self.by_child(service)
        for port in held_node_ports(service):
            yield from _keys(self.caches.instances.by_index(NODE_PORT, port))

    def by_type(self, offered: InstanceType) -> Requests:
        """All Instances of the type."""
        return _keys(self.caches.instances.by_index(TYPE, offered.metadata.name))

    def by_ssh_key(self, key: InstanceSSHPublicKey) -> Requests:
        """All Instances that let its keys in."""
        return _keys(self.caches.instances.by_index(SSH_KEY, str(key.key)))

    def by_policy(self, policy: NetworkPolicy) -> Requests:
        """All Instances of the namespace."""
        return _keys(self.caches.instances.by_index(NAMESPACE, policy.metadata.namespace))

    def by_node(self, node: Node) -> Requests:
        """The Instances that run there, or are pinned there."""
        for pod in self.caches.pods.by_index(NODE, node.metadata.name):
            yield from self.by_child(pod)
        yield from _keys(self.caches.instances.by_index(NODE, node.metadata.name))

    def by_anything(self, _: Setting | RuntimeClass) -> Requests:
        """All Instances."""
        return _keys(self.caches.instances.list())


@attrs.frozen
class IsolationTriggers:
    """What wakes the isolation policy of a namespace."""

    caches: Caches

    def by_namespaced(self, obj: Object) -> Requests:
        """An Instance or a policy: its namespace."""
        yield ObjectKey("", obj.metadata.namespace)

    def by_setting(self, setting: Setting) -> Requests:
        """The isolation Setting: every namespace with an Instance or a policy."""
        if setting.metadata.name == ISOLATION.name:
            for instance in self.caches.instances.list():
                yield from self.by_namespaced(instance)
            for policy in self.caches.policies.list():
                yield from self.by_namespaced(policy)


@attrs.frozen
class TypeTriggers:
    """What wakes an InstanceType besides itself."""

    caches: Caches

    def by_anything(self, _: Object) -> Requests:
        """A node or a Setting: all types."""
        return _keys(self.caches.types.list())

    def by_pod(self, pod: Pod) -> Requests:
        """A Pod that holds an extended resource of a node: all types with cards."""
        if not pod.spec.nodeName or not holds_extended(pod):
            return ()
        return _keys(held for held in self.caches.types.list() if held.spec.manufacturer)


def isolation_setting(namespace: str) -> Callable[[Object], Requests]:
    """Wakes the isolation Setting, whose warnings speak of nodes and Services."""
    key = ObjectKey(namespace, ISOLATION.name)
    return lambda _: (key,)


def _of_instance(instance: Instance) -> object:
    return instance.spec, instance.status


def _of_pod(pod: Pod) -> object:
    meta = pod.metadata
    return pod.spec, pod.status, meta.labels, meta.annotations, meta.ownerReferences


def _of_node(node: Node) -> object:
    told = [(condition.type, condition.status) for condition in node.status.conditions]
    return node.metadata.labels.get(names.HOSTNAME), node.status.addresses, told


def _held_by(pod: Pod) -> object:
    return pod.spec.nodeName, has_ended(pod)


def _offered_by(node: Node) -> object:
    told = condition_of(node.status.conditions, "Ready")
    return (
        node.metadata.labels,
        node.spec.unschedulable,
        node.status.allocatable,
        told.status if told else "",
    )


holding_changed: Predicate[Pod] = changed(_held_by)
"""Passes a change of what a Pod holds of which node."""

offer_changed: Predicate[Node] = changed(_offered_by)
"""Passes a change of what a node offers, and whether it takes Pods."""

instance_changed: Predicate[Instance] = changed(_of_instance)
"""Passes what a user or anybody else did to an Instance."""

pod_changed: Predicate[Pod] = changed(_of_pod)
"""Passes a change of what is read of a Pod."""

node_changed: Predicate[Node] = changed(_of_node)
"""Passes a change of a node that matters to Instances; heartbeats do not."""


def _keys(objects: Iterable[Object]) -> Requests:
    return (obj.metadata.key for obj in objects)
