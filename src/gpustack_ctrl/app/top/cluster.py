"""Series straight from the API server and the kubelets, as an exporter would tell them."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar
from urllib.parse import quote

import attrs

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.core import Node, Pod
from gpustack_ctrl.api.errors import ForbiddenError, NotFoundError
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_type import InstanceType
from gpustack_ctrl.api.manufacturers import MANUFACTURERS
from gpustack_ctrl.api.meta import ObjectKey, Resource
from gpustack_ctrl.app.errors import StartError
from gpustack_ctrl.client.exchange import Call
from gpustack_ctrl.client.rest import Rest
from gpustack_ctrl.exporter.kubelet import KubeletReader, Uses
from gpustack_ctrl.exporter.sources import Kubelets
from gpustack_ctrl.metering.exposition import Sample
from gpustack_ctrl.metering.members import Member, members
from gpustack_ctrl.metering.rows import Series
from gpustack_ctrl.metering.state import Known, state_samples
from gpustack_ctrl.metering.use import use_samples
from gpustack_ctrl.runtime.clock import Clock

AT_ONCE = 16

T = TypeVar("T")


@attrs.frozen
class _Instances:
    items: tuple[Instance, ...] = ()


@attrs.frozen
class _Types:
    items: tuple[InstanceType, ...] = ()


@attrs.frozen
class _Pods:
    items: tuple[Pod, ...] = ()


@attrs.frozen
class Told:
    """Series, and why some are missing: a sentence for each node."""

    series: tuple[Series, ...]
    complaints: tuple[str, ...] = ()


@attrs.frozen
class _Node:
    """What the Pods on a node use, or why that is not known."""

    uses: Uses
    complaint: str = ""


@attrs.frozen(kw_only=True)
class ClusterReader:
    """Asks the API server for Instances, in *namespace* or in all, and kubelets for their use."""

    rest: Rest
    kubelets: Kubelets
    clock: Clock
    namespace: str

    async def read(self) -> Told:
        """All that is known now; raise `StartError` where Instances may not be listed."""
        of_instances = f"labelSelector={quote(f'{names.TYPE}={names.INSTANCES}')}"
        instances = (await self._listed(names.INSTANCE, codec.reader(_Instances))).items
        types = (await self._listed(names.INSTANCE_TYPE, codec.reader(_Types))).items
        pods = (await self._listed(names.POD, codec.reader(_Pods), of_instances)).items
        by_key = {instance.key: instance for instance in instances}
        held = tuple(members(pods, by_key.get))
        nodes = await self._nodes(held)
        uses = {uid: use for node in nodes for uid, use in node.uses.items()}
        samples = (*_states(instances, types, held), *use_samples(held, uses, reference=True))
        complaints = tuple(node.complaint for node in nodes if node.complaint)
        return Told(tuple(map(_series, samples)), complaints)

    async def _listed(self, kind: Resource, read: Callable[[bytes], T], query: str = "") -> T:
        path = kind.collection(self.namespace)
        try:
            return read(await self.rest.exchange.send(Call(method="GET", path=path, query=query)))
        except ForbiddenError as error:
            remedy = "" if self.namespace else ": name a namespace of yours by -n"
            raise StartError(f"{error}{remedy}") from error
        except NotFoundError as error:
            raise StartError(f"the API server does not serve {kind.full_name}") from error

    async def _nodes(self, held: Iterable[Member]) -> Sequence[_Node]:
        """What is used on each node, some nodes at a time."""
        on: defaultdict[str, list[Member]] = defaultdict(list)
        for member in held:
            if member.pod.spec.nodeName:
                on[member.pod.spec.nodeName].append(member)
        lane = asyncio.Semaphore(AT_ONCE)
        return await asyncio.gather(*(self._node(name, on[name], lane) for name in sorted(on)))

    async def _node(self, name: str, held: Sequence[Member], lane: asyncio.Semaphore) -> _Node:
        async with lane:
            try:
                path = names.NODE.path(ObjectKey("", name))
                node = codec.reader(Node)(await self.rest.get(path))
            except (ForbiddenError, NotFoundError) as error:
                return _Node({}, f"node {name}: {error}")
            reading = await KubeletReader(self.kubelets, self.clock).read(node, held)
        if reading.uses is None:
            return _Node({}, reading.outcomes[0].message)
        return _Node(reading.uses)


def _states(
    instances: Iterable[Instance], types: Iterable[InstanceType], held: Iterable[Member]
) -> Iterable[Sample]:
    pods = {member.instance.key: member.pod for member in held}
    by_name = {offered.metadata.name: offered for offered in types}
    for instance in instances:
        yield from state_samples(
            Known(
                instance=instance,
                pod=pods.get(instance.key),
                type=by_name.get(instance.spec.type),
                manufacturers=MANUFACTURERS,
            )
        )


def _series(sample: Sample) -> Series:
    labels = dict(zip(sample.family.labels, sample.labels, strict=True))
    return Series(sample.family.name, labels, sample.value)
