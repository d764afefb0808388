"""Parts of a process that write down what happens to them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import attrs

from gpustack_ctrl.runtime.controller import Controller
from gpustack_ctrl.runtime.election import Election
from gpustack_ctrl.runtime.lease import LeaseElector
from gpustack_ctrl.runtime.manager import Ending, Manager
from gpustack_ctrl.runtime.reconcile import Request, Result
from gpustack_ctrl.runtime.workqueue import WorkQueue
from tests.helpers.clock import FakeClock, settle
from tests.runtime.controller_world import Scripted
from tests.runtime.lease_world import KEY, Leases, Line

A = Request("team", "a")
LONG = 10_000.0


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


async def quick(process: Process) -> None:
    await process.clock.sleep(1)


async def endless(process: Process) -> None:
    await process.clock.sleep(LONG)


async def stubborn(process: Process) -> None:
    while not process.exits:
        try:
            await process.clock.sleep(0.25)
        except asyncio.CancelledError:
            continue


@asynccontextmanager
async def living(process: Process) -> AsyncIterator["asyncio.Task[Ending]"]:
    """The process runs; it must have left no task behind when the block ends."""
    process.queue.add(A)
    task = asyncio.create_task(process.manager.run())
    await settle()
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait({task})
    assert {asyncio.current_task()} == asyncio.all_tasks()
