"""Runs the operator until it is told to stop."""

import asyncio
import os
import signal
from typing import Any

import attrs

from gpustack_ctrl.app.compaction import Compaction
from gpustack_ctrl.app.operator import operator
from gpustack_ctrl.app.start import check, install_crds
from gpustack_ctrl.client.client import Client
from gpustack_ctrl.client.connection import connect
from gpustack_ctrl.client.location import ConnectionOptions
from gpustack_ctrl.options import Options
from gpustack_ctrl.runtime.clock import SystemClock
from gpustack_ctrl.runtime.informer import Informer
from gpustack_ctrl.runtime.manager import Ending, Manager


async def run(options: Options) -> Ending:
    """Run until SIGTERM or SIGINT, or until the work cannot be done any more."""
    clock = SystemClock()
    where = ConnectionOptions(kubeconfig=options.kubeconfig, context=options.context)
    async with await connect(where, clock=clock) as connection:
        client = Client(connection=connection, clock=clock)
        if options.install_crds:
            await install_crds(client.rest, clock)
        parts = await operator(
            client,
            namespace=options.namespace,
            environ=os.environ,
            workers=options.workers,
            clock=clock,
        )
        watched: tuple[Informer[Any], ...] = attrs.astuple(parts.informers, recurse=False)
        await check(client.rest, [informer.list_watch for informer in watched])
        manager = Manager(
            clock=clock,
            background=(Compaction(watched),),
            informers=watched,
            controllers=parts.controllers,
        )
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, manager.stop)
        return await manager.run()
