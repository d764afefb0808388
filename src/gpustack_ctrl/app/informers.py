"""One informer for each kind that is read, and the caches they make up.

Pods and Services are watched whole, not only our own: a foreign object under the name
of an Instance, and the holder of a node port, have to be seen to be named.
"""

from typing import Protocol

import attrs

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.core import ConfigMap, NetworkPolicy, Node, Pod, RuntimeClass, Service
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_type import InstanceType
from gpustack_ctrl.api.meta import Resource
from gpustack_ctrl.api.setting import Setting
from gpustack_ctrl.api.ssh_public_key import InstanceSSHPublicKey
from gpustack_ctrl.controllers import caches as indexes
from gpustack_ctrl.controllers.caches import Caches
from gpustack_ctrl.runtime.clock import Clock
from gpustack_ctrl.runtime.informer import Informer
from gpustack_ctrl.runtime.reflector import ListWatch
from gpustack_ctrl.runtime.store import by_namespace, by_owner


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


def informers(source: Source, *, namespace: str, clock: Clock) -> Informers:
    """The informers over *source*; Settings are read in the operator's *namespace* alone."""
    return Informers(
        instances=Informer(
            resource=names.INSTANCE,
            list_watch=source.list_watch(names.INSTANCE),
            decode=codec.reader(Instance),
            indexers={
                indexes.NAMESPACE: by_namespace,
                indexes.TYPE: indexes.instance_type_of,
                indexes.NODE_PORT: indexes.promised_node_ports,
                indexes.NODE: indexes.pinned_node,
                indexes.SSH_KEY: indexes.ssh_key_of,
            },
            clock=clock,
        ),
        types=Informer(
            resource=names.INSTANCE_TYPE,
            list_watch=source.list_watch(names.INSTANCE_TYPE),
            decode=codec.reader(InstanceType),
            clock=clock,
        ),
        settings=Informer(
            resource=names.SETTING,
            list_watch=source.list_watch(names.SETTING, namespace=namespace),
            decode=codec.reader(Setting),
            clock=clock,
        ),
        pods=Informer(
            resource=names.POD,
            list_watch=source.list_watch(names.POD),
            decode=codec.reader(Pod),
            indexers={indexes.OWNER: by_owner, indexes.NODE: indexes.node_of_child},
            clock=clock,
        ),
        services=Informer(
            resource=names.SERVICE,
            list_watch=source.list_watch(names.SERVICE),
            decode=codec.reader(Service),
            indexers={indexes.NODE_PORT: indexes.held_node_ports},
            clock=clock,
        ),
        policies=Informer(
            resource=names.NETWORK_POLICY,
            list_watch=source.list_watch(
                names.NETWORK_POLICY, field_selector=f"metadata.name={names.ISOLATION_POLICY}"
            ),
            decode=codec.reader(NetworkPolicy),
            clock=clock,
        ),
        nodes=Informer(
            resource=names.NODE,
            list_watch=source.list_watch(names.NODE),
            decode=codec.reader(Node),
            clock=clock,
        ),
        runtime_classes=Informer(
            resource=names.RUNTIME_CLASS,
            list_watch=source.list_watch(names.RUNTIME_CLASS),
            decode=codec.reader(RuntimeClass),
            clock=clock,
        ),
        ssh_keys=Informer(
            resource=names.SSH_PUBLIC_KEY,
            list_watch=source.list_watch(names.SSH_PUBLIC_KEY),
            decode=codec.reader(InstanceSSHPublicKey),
            clock=clock,
        ),
        config_maps=Informer(
            resource=names.CONFIG_MAP,
            list_watch=source.list_watch(
                names.CONFIG_MAP, label_selector=f"{names.TYPE}={names.SSH_PUBLIC_KEYS}"
            ),
            decode=codec.reader(ConfigMap),
            clock=clock,
        ),
    )
