"""The caches of the exporter, asked for what it tells: who is on which node."""

from collections.abc import Iterable, Iterator

import attrs

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import Node, Pod
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_type import InstanceType
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.api.setting import Setting
from gpustack_ctrl.metering.accelerators.grants import Makers
from gpustack_ctrl.metering.members import Member, members
from gpustack_ctrl.metering.state import Known
from gpustack_ctrl.reconcilers.settings.in_force import settings_in_force
from gpustack_ctrl.runtime.store import Lister

NODE = "node"


@attrs.frozen(kw_only=True)
class Roster:
    """One lister for each kind that is watched; only Pods of Instances are among them."""

    instances: Lister[Instance]
    types: Lister[InstanceType]
    settings: Lister[Setting]
    pods: Lister[Pod]
    nodes: Lister[Node]

    def node(self, name: str) -> Node | None:
        """The node of that *name*, if it is there."""
        return self.nodes.get(ObjectKey("", name))

    def on(self, node: str) -> tuple[Member, ...]:
        """The Instances whose Pods are on *node*, in the order of their names."""
        return tuple(members(self.pods.by_index(NODE, node), self.instances.get))

    def makers(self) -> Makers:
        """Which resource is whose, by the Settings and by what types call theirs."""
        named = {
            held.spec.resourceName: held.spec.manufacturer
            for held in self.types.list()
            if held.spec.resourceName and held.spec.manufacturer
        }
        return Makers(settings_in_force(self.settings.list()).manufacturers, named)

    def known(self, instances: Iterable[Instance]) -> Iterator[Known]:
        """What the API server knows of each of *instances*."""
        manufacturers = settings_in_force(self.settings.list()).manufacturers
        for instance in instances:
            yield Known(
                instance=instance,
                pod=self._own_pod(instance),
                type=self.types.get(ObjectKey("", instance.spec.type)),
                manufacturers=manufacturers,
            )

    def _own_pod(self, instance: Instance) -> Pod | None:
        pod = self.pods.get(instance.key)
        return pod if pod and pod.metadata.labels.get(names.PART_OF) == instance.uid else None


def node_of(pod: Pod) -> Iterable[str]:
    """Index: the node of a Pod."""
    if pod.spec.nodeName:
        yield pod.spec.nodeName
