"""What a controller makes of the ways in which a pass can end."""

import asyncio

from gpustack_ctrl.runtime.controller import Controller
from gpustack_ctrl.runtime.reconcile import DONE, Request, Result
from gpustack_ctrl.runtime.workqueue import WorkQueue
from tests.helpers.clock import FakeClock, settle

A = Request("team", "a")


async def test_an_added_key_is_reconciled() -> None:
    clock = FakeClock()
    seen: list[Request] = []

    class Recorder:
        async def reconcile(self, request: Request) -> Result:
            seen.append(request)
            return DONE

    queue: WorkQueue[Request] = WorkQueue("demo", clock=clock)
    controller = Controller(name="demo", reconciler=Recorder(), queue=queue, clock=clock)
    async with asyncio.TaskGroup() as group:
        group.create_task(controller.run())
        queue.add(A)
        await settle()
        controller.stop()
    assert [A] == seen
