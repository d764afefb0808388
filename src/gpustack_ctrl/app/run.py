"""Runs the operator until it is told to stop."""

import os
import socket
from typing import Any

import attrs

from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.api.names import PRODUCT
from gpustack_ctrl.app.compaction import Compaction
from gpustack_ctrl.app.operator import Operator, operator
from gpustack_ctrl.app.process import (
    metrics_server,
    on_signal,
    refusals_explained,
    server,
    until_signalled,
)
from gpustack_ctrl.app.start import check, compare, install_crds
from gpustack_ctrl.client.client import Client
from gpustack_ctrl.client.connection import connect
from gpustack_ctrl.client.location import ConnectionOptions
from gpustack_ctrl.controllers.instance_metrics import InstanceCollector
from gpustack_ctrl.options import Options
from gpustack_ctrl.runtime.clock import SystemClock
from gpustack_ctrl.runtime.election import Election
from gpustack_ctrl.runtime.health import Check, LoopLag
from gpustack_ctrl.runtime.informer import Informer
from gpustack_ctrl.runtime.lease import LeaseElector, identity
from gpustack_ctrl.runtime.manager import Ending, Manager
from gpustack_ctrl.runtime.metrics import Metrics, new_registry
from gpustack_ctrl.runtime.server import metrics_app, probes_app

CLOCK = SystemClock()


async def run(options: Options) -> Ending:
    """Run until SIGTERM or SIGINT, or until the work cannot be done any more."""
    return await until_signalled(lambda: _started(options))


async def _started(options: Options) -> Ending:
    where = ConnectionOptions(kubeconfig=options.kubeconfig, context=options.context)
    metrics = Metrics(new_registry())
    async with await connect(where, clock=CLOCK) as connection:
        client = Client(connection=connection, clock=CLOCK, metrics=metrics.requests)
        with refusals_explained(connection):
            parts = await _prepared(client, options, metrics)
        if options.instance_metrics:
            metrics.registry.register(InstanceCollector(parts.informers.caches, CLOCK))
        manager = _manager(client, options, metrics, parts)
        on_signal(manager.stop)
        return await manager.run()


async def _prepared(client: Client, options: Options, metrics: Metrics) -> Operator:
    """The operator, once it is known that all it needs is served and may be read."""
    if options.install_crds:
        await install_crds(client.rest, CLOCK, options.namespace)
    parts = await operator(
        client,
        namespace=options.namespace,
        environ=os.environ,
        workers=options.workers,
        clock=CLOCK,
        metrics=metrics,
    )
    await check(client.rest, [it.list_watch for it in _all(parts)], installs=True)
    await compare(client.rest)
    return parts


def _manager(client: Client, options: Options, metrics: Metrics, parts: Operator) -> Manager:
    lag = LoopLag(clock=CLOCK)
    metrics.loop_lag(lambda: lag.seconds)
    elector = _elector(client, options, metrics) if options.leader_elect else None
    manager = Manager(
        clock=CLOCK,
        background=(lag, Compaction(_all(parts)), parts.recorder),
        informers=_all(parts),
        elector=elector,
        controllers=parts.controllers,
    )
    liveness: dict[str, Check] = {held.name: held.check for held in parts.controllers}
    liveness["loop"] = lag.check
    if elector is not None:
        liveness["leader-election"] = elector.check
    probes = probes_app(liveness=liveness, readiness={"started": manager.ready})
    manager.servers = (
        server(probes, options.health_probe_bind_address),
        metrics_server(metrics_app(metrics.registry), options, client),
    )
    return manager


def _elector(client: Client, options: Options, metrics: Metrics) -> LeaseElector:
    key = ObjectKey(options.namespace, PRODUCT)
    return LeaseElector(
        client=client.leases,
        election=Election(key=key, identity=identity(socket.gethostname())),
        clock=CLOCK,
        metrics=metrics.election(PRODUCT),
    )


def _all(parts: Operator) -> tuple[Informer[Any], ...]:
    watched: tuple[Informer[Any], ...] = attrs.astuple(parts.informers, recurse=False)
    return watched
