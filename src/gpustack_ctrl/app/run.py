"""Runs the operator until it is told to stop."""

import asyncio
import os
import signal
import socket
from collections.abc import Callable
from typing import Any

import attrs

from gpustack_ctrl.api.errors import ForbiddenError, UnauthorizedError
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.api.names import PRODUCT
from gpustack_ctrl.app.compaction import Compaction
from gpustack_ctrl.app.errors import StartError
from gpustack_ctrl.app.operator import Operator, operator
from gpustack_ctrl.app.start import check, install_crds
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
from gpustack_ctrl.runtime.server import HttpServer, metrics_app, probes_app

CLOCK = SystemClock()


async def run(options: Options) -> Ending:
    """Run until SIGTERM or SIGINT, or until the work cannot be done any more."""
    scope = asyncio.timeout(None)
    _on_signal(lambda: scope.reschedule(0))
    try:
        async with scope:
            return await _started(options)
    except TimeoutError:
        if not scope.expired():
            raise
        return Ending.STOPPED  # Nothing was begun yet that would have to be finished.


async def _started(options: Options) -> Ending:
    where = ConnectionOptions(kubeconfig=options.kubeconfig, context=options.context)
    metrics = Metrics(new_registry())
    async with await connect(where, clock=CLOCK) as connection:
        client = Client(connection=connection, clock=CLOCK, metrics=metrics.requests)
        try:
            parts = await _prepared(client, options, metrics)
        except UnauthorizedError as error:
            raise StartError(
                f"the API server at {connection.host} does not accept our credentials ({error}): "
                "renew them, or choose others by --kubeconfig or --context"
            ) from error
        except ForbiddenError as error:
            raise StartError(f"{error}: bind the roles in deploy/rbac to this user") from error
        metrics.registry.register(InstanceCollector(parts.informers.caches))
        manager = _manager(client, options, metrics, parts)
        _on_signal(manager.stop)
        return await manager.run()


def _on_signal(end: Callable[[], object]) -> None:
    """Call *end*, and nothing that was to be called before, when somebody wants us to end."""
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end)


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
    await check(client.rest, [informer.list_watch for informer in _all(parts)])
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
        _server(probes, options.health_probe_bind_address),
        _server(metrics_app(metrics.registry), options.metrics_bind_address),
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


def _server(app: Any, bind: str) -> HttpServer:
    try:
        return HttpServer(app, bind=bind)
    except ValueError as error:
        raise StartError(str(error)) from error


def _all(parts: Operator) -> tuple[Informer[Any], ...]:
    watched: tuple[Informer[Any], ...] = attrs.astuple(parts.informers, recurse=False)
    return watched
