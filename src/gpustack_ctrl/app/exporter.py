"""Runs the exporter until it is told to stop."""

from pathlib import Path
from typing import Any

import attrs

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import Node, Pod
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_type import InstanceType
from gpustack_ctrl.api.setting import Setting
from gpustack_ctrl.app.accelerator_sources import sources
from gpustack_ctrl.app.compaction import Compaction
from gpustack_ctrl.app.informers import InformerFactory
from gpustack_ctrl.app.process import (
    metrics_server,
    on_signal,
    refusals_explained,
    server,
    until_signalled,
)
from gpustack_ctrl.app.start import check
from gpustack_ctrl.client.client import Client
from gpustack_ctrl.client.connection import connect
from gpustack_ctrl.client.endpoints import Endpoints
from gpustack_ctrl.client.kubelets import Kubelets
from gpustack_ctrl.client.location import ConnectionOptions
from gpustack_ctrl.exporter.collectors import Collectors
from gpustack_ctrl.exporter.lanes import Lanes
from gpustack_ctrl.exporter.node_collector import Collecting
from gpustack_ctrl.exporter.pages import Pages
from gpustack_ctrl.exporter.roster import NODE, Roster, node_of
from gpustack_ctrl.exporter.scrape import Scrapes
from gpustack_ctrl.exporter.states import States
from gpustack_ctrl.options import ExporterOptions
from gpustack_ctrl.runtime.clock import SystemClock
from gpustack_ctrl.runtime.health import LoopLag
from gpustack_ctrl.runtime.informer import Informer
from gpustack_ctrl.runtime.layers import Runnable
from gpustack_ctrl.runtime.manager import Ending, Manager
from gpustack_ctrl.runtime.metrics import Metrics, new_registry
from gpustack_ctrl.runtime.server import probes_app

CLOCK = SystemClock()


async def export(options: ExporterOptions) -> Ending:
    """Run until SIGTERM or SIGINT, or until the work cannot be done any more."""
    return await until_signalled(lambda: _started(options))


async def _started(options: ExporterOptions) -> Ending:
    where = ConnectionOptions(kubeconfig=options.kubeconfig, context=options.context)
    metrics = Metrics(new_registry())
    async with await connect(where, clock=CLOCK) as connection:
        client = Client(connection=connection, clock=CLOCK, metrics=metrics.requests)
        watched = watch(client, options, metrics)
        with refusals_explained(connection):
            await check(client.rest, [informer.list_watch for informer in watched.all])
        async with (
            Kubelets(
                connection, seconds=options.request_seconds, insecure=options.kubelet_insecure_tls
            ) as kubelets,
            Endpoints(seconds=options.request_seconds) as endpoints,
        ):
            shared = _collecting(options, watched, kubelets, endpoints)
            manager = _manager(options, client, metrics, watched, shared)
            on_signal(manager.stop)
            return await manager.run()


@attrs.frozen(kw_only=True)
class Watched:
    """All informers of the exporter."""

    instances: Informer[Instance]
    types: Informer[InstanceType]
    settings: Informer[Setting]
    pods: Informer[Pod]
    nodes: Informer[Node]

    @property
    def all(self) -> tuple[Informer[Any], ...]:
        """Each of them."""
        found: tuple[Informer[Any], ...] = attrs.astuple(self, recurse=False)
        return found

    @property
    def roster(self) -> Roster:
        """What they hold."""
        return Roster(
            instances=self.instances.store,
            types=self.types.store,
            settings=self.settings.store,
            pods=self.pods.store,
            nodes=self.nodes.store,
        )


def watch(client: Client, options: ExporterOptions, metrics: Metrics) -> Watched:
    """The informers: of Pods only those of Instances, and of one node's where one is named."""
    made = InformerFactory(source=client, clock=CLOCK, metrics=metrics)
    here = options.node_name
    return Watched(
        instances=made.follow(names.INSTANCE, Instance),
        types=made.follow(names.INSTANCE_TYPE, InstanceType),
        settings=made.follow(names.SETTING, Setting, namespace=options.namespace),
        pods=made.follow(
            names.POD,
            Pod,
            {NODE: node_of},
            label_selector=f"{names.TYPE}={names.INSTANCES}",
            field_selector=f"spec.nodeName={here}" if here else "",
        ),
        nodes=made.follow(names.NODE, Node, field_selector=f"metadata.name={here}" if here else ""),
    )


def _collecting(
    options: ExporterOptions, watched: Watched, kubelets: Kubelets, endpoints: Endpoints
) -> Collecting:
    return Collecting(
        kubelets=kubelets,
        endpoints=endpoints,
        sources=sources(options.accelerator_sources, options.accelerator_mapping),
        pod_resources=Path(options.pod_resources_socket) if options.pod_resources_socket else None,
        roster=watched.roster,
        pages=Pages(),
        lanes=Lanes(options.requests_in_flight, CLOCK),
        clock=CLOCK,
        period=options.period_seconds,
        reference=options.reference_metrics,
    )


def _manager(
    options: ExporterOptions,
    client: Client,
    metrics: Metrics,
    watched: Watched,
    shared: Collecting,
) -> Manager:
    lag = LoopLag(clock=CLOCK)
    metrics.loop_lag(lambda: lag.seconds)
    manager = Manager(
        clock=CLOCK,
        background=(lag, Compaction(watched.all), *_tellers(options, watched, shared)),
        informers=watched.all,
    )
    probes = probes_app(liveness={"loop": lag.check}, readiness={"started": manager.ready})
    scrapes = Scrapes(pages=shared.pages, registry=metrics.registry, clock=CLOCK)
    manager.servers = (
        server(probes, options.health_probe_bind_address),
        metrics_server(scrapes.app(), options, client),
    )
    return manager


def _tellers(
    options: ExporterOptions, watched: Watched, shared: Collecting
) -> tuple[Runnable, ...]:
    """Who fills the pages. On one node alone, the state of all Instances is not its to tell."""
    collectors = Collectors(shared=shared)
    watched.pods.add_handler(collectors.pod_changed)
    watched.instances.add_handler(collectors.instance_changed)
    if options.node_name:
        return (collectors,)
    states = States(
        roster=shared.roster, pages=shared.pages, clock=shared.clock, period=shared.period
    )
    watched.instances.add_handler(states.instance_changed)
    watched.pods.add_handler(states.pod_changed)
    watched.types.add_handler(states.anything_changed)
    watched.settings.add_handler(states.anything_changed)
    return (collectors, states)
