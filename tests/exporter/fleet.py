"""An exporter over caches that a test fills and kubelets that it scripts, on a clock it moves."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import attrs
from prometheus_client.samples import Sample as Parsed

from gpustack_ctrl.api.core import Node, Pod
from gpustack_ctrl.api.errors import SourceError
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_type import InstanceType
from gpustack_ctrl.api.meta import Object, ObjectKey
from gpustack_ctrl.api.setting import Setting
from gpustack_ctrl.api.unread import Unread
from gpustack_ctrl.exporter.accelerators import Source
from gpustack_ctrl.exporter.collectors import Collectors
from gpustack_ctrl.exporter.lanes import Lanes
from gpustack_ctrl.exporter.node_collector import Collecting
from gpustack_ctrl.exporter.pages import Pages
from gpustack_ctrl.exporter.roster import NODE, Roster, node_of
from gpustack_ctrl.exporter.states import States
from gpustack_ctrl.runtime.deadline import deadline
from gpustack_ctrl.runtime.informer import Event
from gpustack_ctrl.runtime.store import Store
from tests.cli.command import families
from tests.helpers.builders import instance, instance_type, node, pod_of, remade
from tests.helpers.clock import FakeClock, settle
from tests.metering.summaries import pod_stats, summary

PERIOD = 15.0
SECONDS = 10.0
REVISION = "1"
Answer = bytes | Exception | Callable[[str], Awaitable[bytes]]
Handler = Callable[[Event[Any]], None]


async def hang(_: str) -> bytes:
    """No answer, ever."""
    await asyncio.get_running_loop().create_future()
    raise AssertionError("nobody answers")


@attrs.define
class Scripted:
    """Whoever is asked: answers by its name, or fails after so many seconds.

    It counts who is asked, when, and how many at once.
    """

    clock: FakeClock
    default: Answer = hang
    answers: dict[str, Answer] = attrs.field(factory=dict)
    asked: list[tuple[float, str, str]] = attrs.field(factory=list)
    under_way: Counter[str] = attrs.field(factory=Counter)
    most_of_one: int = 0
    most_at_once: int = 0

    async def get(self, of: Any, path: str = "") -> bytes:
        """What the kubelet of a node, or a source at a URL, answers."""
        name = of.metadata.name if isinstance(of, Node) else of
        self.asked.append((self.clock.monotonic(), name, path))
        self.under_way[name] += 1
        self.most_of_one = max(self.most_of_one, self.under_way[name])
        self.most_at_once = max(self.most_at_once, self.under_way.total())
        try:
            async with deadline(self.clock, SECONDS):
                return await self._answered(name, path)
        except TimeoutError as error:
            raise SourceError(Unread.TIMEOUT, f"{name} does not answer") from error
        finally:
            self.under_way[name] -= 1

    def times(self, name: str, path: str = "/stats/summary") -> list[float]:
        """When *name* was asked for *path*."""
        return [moment for moment, asked, where in self.asked if (asked, where) == (name, path)]

    async def _answered(self, name: str, path: str) -> bytes:
        answer = self.answers.get(name, self.default)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, bytes) else await answer(path)


@attrs.define
class Caches:
    """Stores whose handlers hear of each change, as those of informers do."""

    instances: Store[Instance] = attrs.field(factory=Store)
    types: Store[InstanceType] = attrs.field(factory=Store)
    settings: Store[Setting] = attrs.field(factory=Store)
    pods: Store[Pod] = attrs.field(factory=lambda: Store({NODE: node_of}))
    nodes: Store[Node] = attrs.field(factory=Store)
    heard: dict[int, tuple[Handler, ...]] = attrs.field(factory=dict)

    def put(self, store: Store[Any], obj: Object) -> None:
        """The server has *obj*, new or changed."""
        old = store.get(obj.metadata.key)
        store.upsert(obj.metadata.key, obj)
        self._tell(store, Event(old=old, new=obj))

    def drop(self, store: Store[Any], key: ObjectKey) -> None:
        """The server has no object of that *key* any more."""
        self._tell(store, Event(old=store.remove(key, resource_version=REVISION), new=None))

    def _tell(self, store: Store[Any], event: Event[Any]) -> None:
        for handler in self.heard.get(id(store), ()):
            handler(event)


@attrs.define(kw_only=True, repr=False)
class Fleet:
    """All of it; Instances are put on nodes by `add`."""

    clock: FakeClock
    kubelets: Scripted
    endpoints: Scripted
    pages: Pages
    caches: Caches
    collectors: Collectors
    states: States
    uids: dict[ObjectKey, str] = attrs.field(factory=dict)

    def add(self, name: str, on: str, *, uid: str = "") -> Instance:
        """An Instance whose Pod runs on a node, which answers for it."""
        self.add_node(on)
        made = instance(name=name, uid=uid or f"uid-of-{name}")
        self.caches.put(self.caches.instances, made)
        self.add_pod(made, on)
        return made

    def add_node(self, name: str) -> None:
        """A node with an address of its own."""
        address = f"10.0.0.{name.removeprefix('node-')}"
        self.caches.put(self.caches.nodes, node(name, addresses=(address,)))

    def add_pod(self, of: Instance, on: str, *, uid: str = "", **status: Any) -> Pod:
        """The Pod of an Instance, on a node."""
        began = "2025-12-31T23:00:00Z"
        told = pod_of(of, node=on, **{"startTime": began, **status})
        made: Pod = remade(told, uid=uid or f"pod-{of.uid}")
        self.caches.put(self.caches.pods, made)
        return made

    def remove(self, of: Instance) -> None:
        """The Instance is gone, and its Pod a moment later."""
        self.caches.drop(self.caches.instances, of.key)
        self.caches.drop(self.caches.pods, of.key)

    def answer_of(self, name: str) -> Callable[[str], Awaitable[bytes]]:
        """What the kubelet of the node called *name* says of the Pods that are on it now."""

        async def answer(path: str) -> bytes:
            held = self.caches.pods.by_index(NODE, name)
            return summary(*(pod_stats(pod.metadata.uid) for pod in held))

        return answer

    def series(self, name: str, **labels: str) -> list[Parsed]:
        """The series called *name* that a scrape gets now, with these labels among theirs."""
        found = (it for family in families(self.page()) for it in family.samples)
        return [it for it in found if it.name == name and labels.items() <= it.labels.items()]

    def told(self, name: str, label: str = "instance_name") -> set[str]:
        """The values of *label* among the series called *name*."""
        return {it.labels[label] for it in self.series(name)}

    def page(self) -> str:
        """What a scrape gets now."""
        pieces = self.pages.pieces(self.clock.monotonic(), open_metrics=False)
        return b"".join(chunk.plain for piece in pieces for chunk in piece).decode()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The collectors run within the block."""
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.collectors.run())
            await settle()
            try:
                yield
            finally:
                task.cancel()

    @asynccontextmanager
    async def telling_states(self) -> AsyncIterator[None]:
        """What the API server knows is told, too, within the block."""
        async with self.running(), asyncio.TaskGroup() as group:
            task = group.create_task(self.states.run())
            await settle()
            try:
                yield
            finally:
                task.cancel()


def fleet(
    *, in_flight: int = 8, sources: Sequence[Source] = (), random: Callable[[], float] | None = None
) -> Fleet:
    """An exporter of nothing yet."""
    clock, pages, caches = FakeClock(), Pages(), Caches()
    roster = Roster(
        instances=caches.instances,
        types=caches.types,
        settings=caches.settings,
        pods=caches.pods,
        nodes=caches.nodes,
    )
    kubelets, endpoints = Scripted(clock), Scripted(clock)
    shared = Collecting(
        kubelets=kubelets,
        endpoints=endpoints,
        sources=sources,
        roster=roster,
        pages=pages,
        lanes=Lanes(in_flight, clock),
        clock=clock,
        period=PERIOD,
        reference=True,
        random=random or (lambda: 0.5),
    )
    made = Fleet(
        clock=clock,
        kubelets=kubelets,
        endpoints=endpoints,
        pages=pages,
        caches=caches,
        collectors=Collectors(shared=shared),
        states=States(roster=roster, pages=pages, clock=clock, period=PERIOD),
    )
    caches.put(caches.types, instance_type())
    _listen(made)
    return made


def _listen(to: Fleet) -> None:
    """As app/exporter.py has it."""
    caches, collectors, states = to.caches, to.collectors, to.states
    caches.heard = {
        id(caches.pods): (collectors.pod_changed, states.pod_changed),
        id(caches.instances): (collectors.instance_changed, states.instance_changed),
        id(caches.types): (states.anything_changed,),
        id(caches.settings): (states.anything_changed,),
    }
