"""The operator: informers, queues and controllers, joined and not yet running."""

import socket
from collections.abc import Mapping

import attrs

from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.api.names import PRODUCT
from gpustack_ctrl.app.handlers import Queues, attach
from gpustack_ctrl.app.informers import Informers, informers
from gpustack_ctrl.app.seed import host_key_seed
from gpustack_ctrl.client.client import Client
from gpustack_ctrl.controllers.act import Actor
from gpustack_ctrl.controllers.events import Events
from gpustack_ctrl.controllers.instance import InstanceReconciler
from gpustack_ctrl.controllers.instance_type import InstanceTypeReconciler
from gpustack_ctrl.controllers.isolation import IsolationReconciler
from gpustack_ctrl.controllers.node_uses import NodeUses
from gpustack_ctrl.controllers.settings import SettingReconciler
from gpustack_ctrl.controllers.ssh_public_key import SSHPublicKeyReconciler
from gpustack_ctrl.reconcilers.settings.catalogue import CATALOGUE
from gpustack_ctrl.runtime.clock import Clock
from gpustack_ctrl.runtime.controller import Controller
from gpustack_ctrl.runtime.freshness import Freshness
from gpustack_ctrl.runtime.metrics import Metrics
from gpustack_ctrl.runtime.reconcile import Reconciler
from gpustack_ctrl.runtime.recorder import Recorder
from gpustack_ctrl.runtime.workqueue import WorkQueue


@attrs.frozen(kw_only=True)
class Operator:
    """What the manager runs: the recorder beside all else, then the two groups."""

    recorder: Recorder
    informers: Informers
    controllers: tuple[Controller, ...]


async def operator(
    client: Client,
    *,
    namespace: str,
    environ: Mapping[str, str],
    workers: int,
    clock: Clock,
    metrics: Metrics,
) -> Operator:
    """Join all parts over *client*; the one thing read ahead is the seed of the host keys."""
    seed = await host_key_seed(client.rest, namespace)
    watched = informers(client, namespace=namespace, clock=clock, metrics=metrics)
    recorder = _recorder(client, clock, metrics)
    queues = _queues(clock, metrics)
    attach(watched, queues, namespace=namespace)
    for name in CATALOGUE:
        queues.settings.add(ObjectKey(namespace, name))
    caches = watched.caches
    actor = Actor(writer=client.rest, caches=caches, freshness=Freshness(), clock=clock)
    uses = NodeUses(caches)
    events, refusals = Events(recorder.record), dict[str, str]()
    reconcilers: Mapping[WorkQueue[ObjectKey], Reconciler] = {
        queues.instances: InstanceReconciler(
            caches=caches,
            actor=actor,
            clock=clock,
            uses=uses,
            host_key_seed=seed,
            events=events,
            policy_refusals=refusals,
        ),
        queues.isolation: IsolationReconciler(caches=caches, actor=actor, refusals=refusals),
        queues.settings: SettingReconciler(
            caches=caches, actor=actor, clock=clock, seeds=seeds(environ)
        ),
        queues.ssh_keys: SSHPublicKeyReconciler(caches=caches, actor=actor, clock=clock),
        queues.types: InstanceTypeReconciler(caches=caches, actor=actor, clock=clock, uses=uses),
    }
    return Operator(
        recorder=recorder,
        informers=watched,
        controllers=tuple(
            Controller(
                name=queue.name,
                reconciler=reconciler,
                queue=queue,
                clock=clock,
                workers=workers,
                metrics=metrics.controller(queue.name, workers=workers),
            )
            for queue, reconciler in reconcilers.items()
        ),
    )


def _queues(clock: Clock, metrics: Metrics) -> Queues:
    return Queues(
        instances=_queue("instance", clock, metrics),
        isolation=_queue("isolation", clock, metrics),
        settings=_queue("setting", clock, metrics),
        ssh_keys=_queue("sshpublickey", clock, metrics),
        types=_queue("instancetype", clock, metrics),
    )


def _recorder(client: Client, clock: Clock, metrics: Metrics) -> Recorder:
    return Recorder(
        writer=client.rest,
        clock=clock,
        controller=PRODUCT,
        instance=socket.gethostname(),
        metrics=metrics.events,
    )


def _queue(name: str, clock: Clock, metrics: Metrics) -> WorkQueue[ObjectKey]:
    return WorkQueue(name, clock=clock, metrics=metrics.queue(name))


def seeds(environ: Mapping[str, str]) -> Mapping[str, str]:
    """The values that the environment gives to Settings that are missing; "" gives none."""
    told = {name: environ.get(entry.variable, "") for name, entry in CATALOGUE.items()}
    return {name: value for name, value in told.items() if value}
