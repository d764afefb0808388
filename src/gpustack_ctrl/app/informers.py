"""One informer for each kind that is read, and the caches they make up.

Pods and Services are watched whole, not only our own: a foreign object under the name
of an Instance, and the holder of a node port, have to be seen to be named.
"""

from collections.abc import Mapping
from typing import Protocol, TypeVar

import attrs

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.core import ConfigMap, NetworkPolicy, Node, Pod, RuntimeClass, Service
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_type import InstanceType
from gpustack_ctrl.api.meta import Object, Resource
from gpustack_ctrl.api.setting import Setting
from gpustack_ctrl.api.ssh_public_key import InstanceSSHPublicKey
from gpustack_ctrl.controllers import caches as indexes
from gpustack_ctrl.controllers.caches import Caches
from gpustack_ctrl.runtime.clock import Clock
from gpustack_ctrl.runtime.informer import Informer
from gpustack_ctrl.runtime.metrics import Metrics
from gpustack_ctrl.runtime.reflector import ListWatch
from gpustack_ctrl.runtime.store import Indexer, by_namespace, by_owner

T = TypeVar("T", bound=Object)


class Source(Protocol):
    """Whoever lists and watches."""

    def list_watch(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
    ) -> ListWatch:
        """Lists and watches of *resource*, in one namespace or all."""
        ...


@attrs.frozen(kw_only=True)
class Informers:
    """All informers of the operator."""

    instances: Informer[Instance]
    types: Informer[InstanceType]
    settings: Informer[Setting]
    pods: Informer[Pod]
    services: Informer[Service]
    policies: Informer[NetworkPolicy]
    nodes: Informer[Node]
    runtime_classes: Informer[RuntimeClass]
    ssh_keys: Informer[InstanceSSHPublicKey]
    config_maps: Informer[ConfigMap]

    @property
    def caches(self) -> Caches:
        """What the controllers read."""
        return Caches(
            instances=self.instances.store,
            types=self.types.store,
            settings=self.settings.store,
            pods=self.pods.store,
            services=self.services.store,
            policies=self.policies.store,
            nodes=self.nodes.store,
            runtime_classes=self.runtime_classes.store,
            ssh_keys=self.ssh_keys.store,
            config_maps=self.config_maps.store,
        )


@attrs.frozen(kw_only=True)
class InformerFactory:
    """Makes informers over *source*, each with its own series."""

    source: Source
    clock: Clock
    metrics: Metrics

    def follow(
        self,
        resource: Resource,
        kind: type[T],
        indexers: Mapping[str, Indexer[T]] | None = None,
        **selection: str,
    ) -> Informer[T]:
        """An informer of *resource*, or of what *selection* leaves of it."""
        series = self.metrics.informer(resource.full_name)
        informer = Informer(
            resource=resource,
            list_watch=self.source.list_watch(resource, **selection),
            decode=codec.reader(kind),
            indexers=indexers or {},
            clock=self.clock,
            current=True,  # An old `stop: true` would delete a Pod that was started since.
            metrics=series,
        )
        series.observe_silence(lambda: informer.silence)
        return informer


def informers(source: Source, *, namespace: str, clock: Clock, metrics: Metrics) -> Informers:
    """The informers over *source*; Settings are read in the operator's *namespace* alone."""
    made = InformerFactory(source=source, clock=clock, metrics=metrics)
    return Informers(
        instances=made.follow(
            names.INSTANCE,
            Instance,
            {
                indexes.NAMESPACE: by_namespace,
                indexes.TYPE: indexes.instance_type_of,
                indexes.NODE_PORT: indexes.promised_node_ports,
                indexes.NODE: indexes.pinned_node,
                indexes.SSH_KEY: indexes.ssh_key_of,
            },
        ),
        types=made.follow(names.INSTANCE_TYPE, InstanceType),
        settings=made.follow(names.SETTING, Setting, namespace=namespace),
        pods=made.follow(
            names.POD,
            Pod,
            {
                indexes.OWNER: by_owner,
                indexes.NODE: indexes.node_of_child,
                indexes.ACCELERATOR_NODE: indexes.accelerator_node,
            },
        ),
        services=made.follow(names.SERVICE, Service, {indexes.NODE_PORT: indexes.held_node_ports}),
        policies=made.follow(
            names.NETWORK_POLICY,
            NetworkPolicy,
            field_selector=f"metadata.name={names.ISOLATION_POLICY}",
        ),
        nodes=made.follow(names.NODE, Node),
        runtime_classes=made.follow(names.RUNTIME_CLASS, RuntimeClass),
        ssh_keys=made.follow(names.SSH_PUBLIC_KEY, InstanceSSHPublicKey),
        config_maps=made.follow(
            names.CONFIG_MAP,
            ConfigMap,
            label_selector=f"{names.TYPE}={names.SSH_PUBLIC_KEYS}",
        ),
    )
