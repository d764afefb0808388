"""A controller on a clock that the test advances."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import attrs
from prometheus_client import CollectorRegistry

from gpustack_ctrl.runtime.controller import Controller
from gpustack_ctrl.runtime.metrics import Metrics
from gpustack_ctrl.runtime.ratelimit import Backoff, ItemBackoff
from gpustack_ctrl.runtime.reconcile import Request, Result
from gpustack_ctrl.runtime.workqueue import WorkQueue
from tests.helpers.clock import FakeClock

A = Request("team", "a")
B = Request("team", "b")

Pass = Callable[[Request], Awaitable[Result]]


@attrs.frozen
class Scripted:
    """A reconciler that does what the test says."""

    script: Pass

    async def reconcile(self, request: Request) -> Result:
        return await self.script(request)


@attrs.define
class World:
    """A running controller and all that surrounds it."""

    clock: FakeClock
    queue: WorkQueue[Request]
    limiter: ItemBackoff[Request]
    controller: Controller
    metrics: Metrics

    def count(self, series: str, **labels: str) -> float | None:
        labels = {"controller": "demo", **labels}
        return self.metrics.registry.get_sample_value(f"controller_{series}", labels)


@asynccontextmanager
async def controlled(script: Pass, *, workers: int = 2) -> AsyncIterator[World]:
    """A controller runs *script* within the block, and is stopped after it."""
    clock = FakeClock()
    limiter: ItemBackoff[Request] = ItemBackoff(Backoff(base=1, jitter=0))
    queue: WorkQueue[Request] = WorkQueue("demo", clock=clock, limiter=limiter)
    metrics = Metrics(CollectorRegistry())
    controller = Controller(
        name="demo",
        reconciler=Scripted(script),
        queue=queue,
        clock=clock,
        workers=workers,
        metrics=metrics.controller("demo", workers=workers),
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(controller.run())
        yield World(clock, queue, limiter, controller, metrics)
        controller.stop()
