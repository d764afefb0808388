"""The loops of all nodes that hold Instances: begun and ended as Pods come and go."""

import asyncio
from typing import ClassVar

import attrs

from gpustack_ctrl.api.core import Pod
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.exporter.node_collector import Collecting, NodeCollector
from gpustack_ctrl.runtime.informer import Event

SOON_SECONDS = 1.0


@attrs.define(kw_only=True)
class Collectors:
    """Runs a `NodeCollector` for each node that *shared.roster* has Pods on.

    Guarantees: the first readings of nodes that are found together are spread over a
    period; a node without Instances is asked nothing, and tells nothing.
    """

    name: ClassVar[str] = "collectors"
    shared: Collecting
    _loops: dict[str, tuple[NodeCollector, "asyncio.Task[None]"]] = attrs.field(
        factory=dict, init=False
    )
    _group: asyncio.TaskGroup | None = attrs.field(default=None, init=False)
    _changed: set[str] = attrs.field(factory=set, init=False)
    _awake: asyncio.Event = attrs.field(factory=asyncio.Event, init=False)

    def pod_changed(self, event: Event[Pod]) -> None:
        """Note the nodes that a Pod of an Instance is, or was, on."""
        pods = [pod for pod in (event.old, event.new) if pod is not None]
        self._changed.update(pod.spec.nodeName for pod in pods if pod.spec.nodeName)
        self._awake.set()

    def instance_changed(self, event: Event[Instance]) -> None:
        """Note the node of an Instance that came or went; its Pod may have been known before.

        One that went and came under the same name may be told as a change.
        """
        told = event.new or event.old
        if told is not None and (not event.old or not event.new or event.old.uid != told.uid):
            pod = self.shared.roster.pods.get(told.key)
            if pod is not None and pod.spec.nodeName:
                self._changed.add(pod.spec.nodeName)
                self._awake.set()

    async def run(self) -> None:
        """Follow the Pods until cancelled."""
        async with asyncio.TaskGroup() as self._group:
            while True:
                await self._awake.wait()
                self._awake.clear()
                self._follow()

    def _follow(self) -> None:
        """Begin, refresh or end the loop of each node that changed."""
        changed, self._changed = self._changed, set()
        begun = [node for node in sorted(changed) if self._is_new(node)]
        within = min(self.shared.period, max(SOON_SECONDS, len(begun) / self.shared.period))
        for node in begun:
            self._begin(node, within)
        for node in changed - set(begun):
            self._refresh(node)

    def _is_new(self, node: str) -> bool:
        return node not in self._loops and bool(self.shared.roster.on(node))

    def _begin(self, node: str, within: float) -> None:
        if self._group is None:
            return
        collector = NodeCollector(node=node, shared=self.shared)
        task = self._group.create_task(collector.run(within=within), name=f"node {node}")
        self._loops[node] = (collector, task)

    def _refresh(self, node: str) -> None:
        if node not in self._loops:
            return
        collector, task = self._loops[node]
        if self.shared.roster.on(node):
            collector.refresh()
            return
        task.cancel()
        collector.forget()
        del self._loops[node]
