"""Parts of a process that write down what happens to them."""

import asyncio
from collections.abc import Awaitable, Callable

import attrs

from gpustack_ctrl.runtime.controller import Controller
from gpustack_ctrl.runtime.election import Election
from gpustack_ctrl.runtime.lease import LeaseElector
from gpustack_ctrl.runtime.manager import Manager
from gpustack_ctrl.runtime.reconcile import Request, Result
from gpustack_ctrl.runtime.workqueue import WorkQueue
from tests.helpers.clock import FakeClock
from tests.runtime.lease_world import KEY, Leases, Line

A = Request("team", "a")


@attrs.frozen
class Scripted:
    """A reconciler that does what the test says."""

    script: Callable[[Request], Awaitable[Result]]

    async def reconcile(self, request: Request) -> Result:
        return await self.script(request)


@attrs.define
class Diary:
    """What happened, in order."""

    entries: list[str] = attrs.field(factory=list)

    def note(self, entry: str) -> None:
        self.entries.append(entry)


@attrs.define
class Port:
    """A server that listens nowhere."""

    diary: Diary

    async def start(self) -> None:
        self.diary.note("server up")

    async def stop(self) -> None:
        self.diary.note("server down")


@attrs.define(eq=False)
class Cache:
    """An informer that syncs after *delay* seconds, and fails when told to."""

    diary: Diary
    clock: FakeClock
    name: str = "pods"
    delay: float = 0.0
    trouble: str = ""
    fail: asyncio.Event = attrs.field(factory=asyncio.Event)
    full: asyncio.Event = attrs.field(factory=asyncio.Event)

    @property
    def synced(self) -> bool:
        return self.full.is_set()

    async def run(self) -> None:
        self.diary.note(f"{self.name} runs")
        try:
            await self.clock.sleep(self.delay)
            self.full.set()
            await self.fail.wait()
            raise RuntimeError(f"{self.name} broke")
        finally:
            self.diary.note(f"{self.name} ends")

    async def wait_synced(self) -> None:
        await self.full.wait()
        self.diary.note(f"{self.name} synced")


@attrs.define(eq=False)
class Process:
    """A manager with one part of each sort, whose passes do what the test says."""

    script: Callable[["Process"], Awaitable[object]]
    sync_after: float = 0.0
    clock: FakeClock = attrs.field(factory=FakeClock)
    diary: Diary = attrs.field(factory=Diary)
    leases: Leases = attrs.field(factory=Leases)
    exits: list[tuple[float, int]] = attrs.field(factory=list)
    cache: Cache = attrs.field(init=False)
    queue: WorkQueue[Request] = attrs.field(init=False)
    line: Line = attrs.field(init=False)
    elector: LeaseElector = attrs.field(init=False)
    manager: Manager = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.cache = Cache(self.diary, self.clock, delay=self.sync_after)
        self.queue = WorkQueue("demo", clock=self.clock)
        self.line = Line(self.leases, self.clock)
        self.elector = LeaseElector(
            client=self.line, election=Election(key=KEY, identity="me"), clock=self.clock
        )
        controller = Controller(
            name="demo", reconciler=Scripted(self.reconcile), queue=self.queue, clock=self.clock
        )
        self.manager = Manager(
            clock=self.clock,
            servers=[Port(self.diary)],
            informers=[self.cache],
            elector=self.elector,
            controllers=[controller],
            exit=lambda code: self.exits.append((self.clock.monotonic(), code)),
        )

    async def reconcile(self, _: Request) -> Result:
        self.diary.note("pass begins" if self.elector.leading else "pass of a follower")
        try:
            await self.script(self)
        finally:
            self.diary.note(f"pass ends, lease of {self.leases.spec['holderIdentity']!r}")
        return Result()
