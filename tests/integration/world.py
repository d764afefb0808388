"""The operator over the real API server, and what a test does and sees there.

The operator runs inside the test's own loop, with Settings of its own. It can be killed
(no goodbye to anything under way) and started again.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import attrs

from gpustack_ctrl.api import names
from gpustack_ctrl.api.codec import decode
from gpustack_ctrl.api.errors import NotFoundError
from gpustack_ctrl.api.meta import ObjectKey, Resource
from gpustack_ctrl.app.operator import operator
from gpustack_ctrl.client.client import Client
from gpustack_ctrl.client.connection import connect
from gpustack_ctrl.client.location import ConnectionOptions
from gpustack_ctrl.client.rest import FieldValidation, Rest
from gpustack_ctrl.runtime.clock import Clock, SystemClock
from gpustack_ctrl.runtime.controller import Controller
from gpustack_ctrl.runtime.manager import Manager
from gpustack_ctrl.runtime.metrics import Metrics, new_registry

T = TypeVar("T")
Wire = dict[str, Any]

PATIENCE_SECONDS = 30.0
TYPE = "test-gpu"
CLOCK = SystemClock()


@asynccontextmanager
async def client_of(kubeconfig: str) -> AsyncIterator[Client]:
    """A client of our own kind, strict about fields that the server does not know."""
    options = ConnectionOptions(kubeconfig=kubeconfig)
    async with await connect(options, clock=CLOCK) as connection:
        yield Client(connection=connection, clock=CLOCK, field_validation=FieldValidation.STRICT)


async def until(read: Callable[[], Awaitable[T | None]], *, seconds: float = PATIENCE_SECONDS) -> T:
    """What the coroutine function *read* gives, once that is true."""
    deadline = CLOCK.monotonic() + seconds
    while not (held := await read()):
        assert CLOCK.monotonic() < deadline, f"not so after {seconds:g} s: {read}"
        await CLOCK.sleep(0.02)
    return held


@attrs.define
class World:
    """One namespace of the cluster, through the eyes of its user."""

    rest: Rest
    namespace: str

    async def create(self, resource: Resource, body: Mapping[str, Any]) -> Wire:
        """Create *body* in the namespace, with its kind filled in."""
        metadata = {"namespace": self.namespace, **body["metadata"]}
        if not resource.namespaced:
            metadata.pop("namespace")
        typed = {"apiVersion": resource.api_version, "kind": resource.kind}
        answer = await self.rest.create(resource, {**typed, **body, "metadata": metadata})
        return _object(answer)

    async def find(self, resource: Resource, name: str) -> Wire | None:
        """The object called *name*, if it is there."""
        try:
            return _object(await self.rest.get(resource.path(self.key(name, resource))))
        except NotFoundError:
            return None

    async def get(self, resource: Resource, name: str) -> Wire:
        """The object called *name*, which is there."""
        held = await self.find(resource, name)
        assert held is not None, f"{resource.kind} {name} is not there"
        return held

    async def list(self, resource: Resource) -> list[Wire]:
        """All objects of the namespace."""
        held = _object(await self.rest.get(resource.collection(self.namespace)))
        return list(held["items"])

    async def patch(self, resource: Resource, name: str, patch: Mapping[str, Any]) -> Wire:
        """Change the object called *name*."""
        return _object(await self.rest.merge_patch(resource, self.key(name, resource), patch))

    async def delete(
        self, resource: Resource, name: str, *, propagation: str = "Background"
    ) -> None:
        """Delete the object called *name*, which is there."""
        uid = (await self.get(resource, name))["metadata"]["uid"]
        await self.rest.delete(resource, self.key(name, resource), uid=uid, propagation=propagation)

    async def instance(self, name: str = "box", **spec: Any) -> Wire:
        """Create an Instance; *spec* is what differs from the plainest one."""
        plain = {"type": TYPE, "image": "workload:1"}
        return await self.create(
            names.INSTANCE, {"metadata": {"name": name}, "spec": {**plain, **spec}}
        )

    async def edit(self, name: str = "box", **spec: Any) -> Wire:
        """Change the spec of an Instance."""
        return await self.patch(names.INSTANCE, name, {"spec": spec})

    async def is_in_phase(
        self, phase: str, name: str = "box", *, seconds: float = PATIENCE_SECONDS
    ) -> Wire:
        """The Instance, once it is in *phase* and its status speaks of its latest spec."""

        async def read() -> Wire | None:
            held = await self.get(names.INSTANCE, name)
            status = held.get("status", {})
            current = status.get("observedGeneration") == held["metadata"]["generation"]
            return held if current and status.get("phase") == phase else None

        return await until(read, seconds=seconds)

    async def tells(self, kind: str, status: str, reason: str = "", name: str = "box") -> Wire:
        """The condition *kind* of the Instance, once it has that *status* and *reason*."""

        async def read() -> Wire | None:
            told = condition(await self.get(names.INSTANCE, name), kind)
            return told if told["status"] == status and reason in ("", told["reason"]) else None

        return await until(read)

    async def gone(self, resource: Resource, name: str) -> None:
        """Return once there is no object called *name*."""

        async def read() -> bool:
            return await self.find(resource, name) is None

        await until(read)

    def key(self, name: str, resource: Resource) -> ObjectKey:
        """Where an object of that name lives."""
        return ObjectKey(self.namespace if resource.namespaced else "", name)


@attrs.define
class Operator:
    """The operator under test, over a client of its own."""

    kubeconfig: str
    namespace: str
    environ: Mapping[str, str] = attrs.field(factory=dict)
    clock: Clock = CLOCK
    _task: asyncio.Task[object] | None = attrs.field(default=None, init=False)
    _manager: Manager | None = attrs.field(default=None, init=False)

    async def start(self) -> None:
        """Run it, and return once its caches are filled."""
        ready = asyncio.Event()
        self._task = asyncio.create_task(self._run(ready))
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait({waiting, self._task}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._task.done():
            self._task.result()
        manager = self._manager
        assert manager is not None

        async def is_ready() -> bool:
            return manager.ready() is None

        await until(is_ready)

    async def kill(self) -> None:
        """End it where it stands."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
            self._task = None

    def watched(self, controller: Controller) -> Controller:
        """The controller as the test wants to see it: as it is."""
        return controller

    async def _run(self, ready: asyncio.Event) -> object:
        async with client_of(self.kubeconfig) as client:
            parts = await operator(
                client,
                namespace=self.namespace,
                environ=self.environ,
                workers=4,
                clock=self.clock,
                metrics=Metrics(new_registry()),
            )
            self._manager = Manager(
                clock=self.clock,
                background=(parts.recorder,),
                informers=attrs.astuple(parts.informers, recurse=False),
                controllers=tuple(map(self.watched, parts.controllers)),
            )
            ready.set()
            return await self._manager.run()


def _object(body: bytes) -> Wire:
    return dict(decode(body))


def condition(instance: Wire, kind: str) -> Wire:
    """The condition *kind* of *instance*, or one that says nothing."""
    told = instance.get("status", {}).get("conditions", [])
    silent = {"type": kind, "status": "", "reason": "", "message": ""}
    return next((one for one in told if one["type"] == kind), silent)


def node_ports(instance: Wire) -> dict[tuple[int, str], int]:
    """The node port of each (port, protocol) that *instance* reports."""
    ports = instance.get("status", {}).get("ports", [])
    return {(port["port"], port["protocol"]): port.get("nodePort") for port in ports}
