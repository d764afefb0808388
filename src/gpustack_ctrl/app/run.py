"""Runs the operator until it is told to stop."""

import asyncio
import os
import signal

import attrs

from gpustack_ctrl.app.operator import operator
from gpustack_ctrl.client.client import Client
from gpustack_ctrl.client.connection import connect
from gpustack_ctrl.client.location import ConnectionOptions
from gpustack_ctrl.options import Options
from gpustack_ctrl.runtime.clock import SystemClock
from gpustack_ctrl.runtime.manager import Ending, Manager


async def run(options: Options) -> Ending:
    """Run until SIGTERM or SIGINT, or until the work cannot be done any more."""
    clock = SystemClock()
    where = ConnectionOptions(kubeconfig=options.kubeconfig, context=options.context)
    async with await connect(where, clock=clock) as connection:
        client = Client(connection=connection, clock=clock)
        parts = operator(
            client,
            namespace=options.namespace,
            environ=os.environ,
            workers=options.workers,
            clock=clock,
        )
        manager = Manager(
            clock=clock,
            informers=attrs.astuple(parts.informers, recurse=False),
            controllers=parts.controllers,
        )
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, manager.stop)
        return await manager.run()
