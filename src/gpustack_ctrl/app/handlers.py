"""Which informer wakes which queue."""

import attrs

from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.app.informers import Informers
from gpustack_ctrl.controllers.triggers import (
    InstanceTriggers,
    IsolationTriggers,
    TypeTriggers,
    holding_changed,
    instance_changed,
    isolation_setting,
    node_changed,
    offer_changed,
    pod_changed,
)
from gpustack_ctrl.runtime.handlers import enqueue_mapped, enqueue_object, enqueue_owner
from gpustack_ctrl.runtime.predicates import generation_changed
from gpustack_ctrl.runtime.workqueue import WorkQueue


@attrs.frozen(kw_only=True)
class Queues:
    """The queue of each controller."""

    instances: WorkQueue[ObjectKey]
    isolation: WorkQueue[ObjectKey]
    settings: WorkQueue[ObjectKey]
    ssh_keys: WorkQueue[ObjectKey]
    types: WorkQueue[ObjectKey]


def attach(informers: Informers, queues: Queues, *, namespace: str) -> None:
    """Make every change that matters wake whom it concerns."""
    _wake_instances(informers, queues.instances)
    _wake_isolation(informers, queues.isolation)
    _wake_settings(informers, queues.settings, namespace=namespace)
    _wake_ssh_keys(informers, queues.ssh_keys)
    _wake_types(informers, queues.types)


def _wake_instances(informers: Informers, queue: WorkQueue[ObjectKey]) -> None:
    by = InstanceTriggers(informers.caches)
    informers.instances.add_handler(enqueue_object(queue, predicate=instance_changed))
    informers.pods.add_handler(enqueue_mapped(queue, by.by_child, predicate=pod_changed))
    informers.services.add_handler(enqueue_mapped(queue, by.by_service))
    informers.types.add_handler(enqueue_mapped(queue, by.by_type, predicate=generation_changed))
    informers.policies.add_handler(enqueue_mapped(queue, by.by_policy))
    informers.ssh_keys.add_handler(enqueue_mapped(queue, by.by_ssh_key))
    informers.nodes.add_handler(enqueue_mapped(queue, by.by_node, predicate=node_changed))
    informers.settings.add_handler(enqueue_mapped(queue, by.by_anything))
    informers.runtime_classes.add_handler(enqueue_mapped(queue, by.by_anything))


def _wake_isolation(informers: Informers, queue: WorkQueue[ObjectKey]) -> None:
    by = IsolationTriggers(informers.caches)
    informers.instances.add_handler(
        enqueue_mapped(queue, by.by_namespaced, predicate=generation_changed)
    )
    informers.policies.add_handler(enqueue_mapped(queue, by.by_namespaced))
    informers.settings.add_handler(enqueue_mapped(queue, by.by_setting))


def _wake_settings(informers: Informers, queue: WorkQueue[ObjectKey], *, namespace: str) -> None:
    warned = isolation_setting(namespace)
    informers.settings.add_handler(enqueue_object(queue))
    informers.nodes.add_handler(enqueue_mapped(queue, warned, predicate=node_changed))


def _wake_ssh_keys(informers: Informers, queue: WorkQueue[ObjectKey]) -> None:
    informers.ssh_keys.add_handler(enqueue_object(queue))
    informers.config_maps.add_handler(enqueue_owner(queue, names.SSH_PUBLIC_KEY))


def _wake_types(informers: Informers, queue: WorkQueue[ObjectKey]) -> None:
    by = TypeTriggers(informers.caches)
    informers.types.add_handler(enqueue_object(queue, predicate=generation_changed))
    informers.pods.add_handler(enqueue_mapped(queue, by.by_pod, predicate=holding_changed))
    informers.nodes.add_handler(enqueue_mapped(queue, by.by_anything, predicate=offer_changed))
    informers.settings.add_handler(enqueue_mapped(queue, by.by_anything))
