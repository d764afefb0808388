"""What each node offers and Pods hold of it, counted anew only where something changed."""

from operator import is_

import attrs

from gpustack_ctrl.api.core import Node, Pod
from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.controllers.caches import ACCELERATOR_NODE, Caches
from gpustack_ctrl.reconcilers.types.capacity import NodeUse, is_of_type, use_of


@attrs.frozen
class NodeUses:
    """Counts over *caches*. Cached objects never change, so the same ones need no new count."""

    caches: Caches
    _counted: dict[str, "_Count"] = attrs.field(factory=dict, init=False)

    def of_type(self, offered: InstanceTypeSpec) -> tuple[NodeUse, ...]:
        """The use of each node that Instances of the type can be scheduled to now."""
        nodes = self.caches.nodes.list()
        self._forget_all_but({node.metadata.name for node in nodes})
        return tuple(self._of(node) for node in nodes if is_of_type(node, offered))

    def _of(self, node: Node) -> NodeUse:
        name = node.metadata.name
        pods = self.caches.pods.by_index(ACCELERATOR_NODE, name)
        known = self._counted.get(name)
        if known is None or not known.is_of(node, pods):
            known = _Count(node=node, pods=pods, use=use_of(node, pods))
            self._counted[name] = known
        return known.use

    def _forget_all_but(self, names: set[str]) -> None:
        for gone in self._counted.keys() - names:
            del self._counted[gone]


@attrs.frozen(kw_only=True)
class _Count:
    node: Node
    pods: tuple[Pod, ...]
    use: NodeUse

    def is_of(self, node: Node, pods: tuple[Pod, ...]) -> bool:
        """Whether it was made of these very objects."""
        same = len(pods) == len(self.pods) and all(map(is_, pods, self.pods))
        return same and node is self.node
