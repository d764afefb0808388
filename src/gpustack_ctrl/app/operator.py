"""The operator: informers, queues and controllers, joined and not yet running."""

from collections.abc import Mapping

import attrs

from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.app.handlers import Queues, attach
from gpustack_ctrl.app.informers import Informers, informers
from gpustack_ctrl.app.seed import host_key_seed
from gpustack_ctrl.client.client import Client
from gpustack_ctrl.controllers.act import Actor
from gpustack_ctrl.controllers.instance import InstanceReconciler
from gpustack_ctrl.controllers.isolation import IsolationReconciler
from gpustack_ctrl.controllers.settings import SettingReconciler
from gpustack_ctrl.controllers.ssh_public_key import SSHPublicKeyReconciler
from gpustack_ctrl.reconcilers.settings import CATALOGUE
from gpustack_ctrl.runtime.clock import Clock
from gpustack_ctrl.runtime.controller import Controller
from gpustack_ctrl.runtime.freshness import Freshness
from gpustack_ctrl.runtime.reconcile import Reconciler
from gpustack_ctrl.runtime.workqueue import WorkQueue


@attrs.frozen(kw_only=True)
class Operator:
    """What the manager runs, in its two groups."""

    informers: Informers
    controllers: tuple[Controller, ...]


async def operator(
    client: Client, *, namespace: str, environ: Mapping[str, str], workers: int, clock: Clock
) -> Operator:
    """Join all parts over *client*; the one thing read ahead is the seed of the host keys."""
    seed = await host_key_seed(client.rest, namespace)
    watched = informers(client, namespace=namespace, clock=clock)
    caches = watched.caches
    actor = Actor(writer=client.rest, caches=caches, freshness=Freshness(), clock=clock)
    queues = Queues(
        instances=WorkQueue("instance", clock=clock),
        isolation=WorkQueue("isolation", clock=clock),
        settings=WorkQueue("setting", clock=clock),
        ssh_keys=WorkQueue("sshpublickey", clock=clock),
    )
    attach(watched, queues, namespace=namespace)
    for name in CATALOGUE:
        queues.settings.add(ObjectKey(namespace, name))

    def controller(reconciler: Reconciler, queue: WorkQueue[ObjectKey]) -> Controller:
        return Controller(
            name=queue.name, reconciler=reconciler, queue=queue, clock=clock, workers=workers
        )

    return Operator(
        informers=watched,
        controllers=(
            controller(
                InstanceReconciler(caches=caches, actor=actor, clock=clock, host_key_seed=seed),
                queues.instances,
            ),
            controller(IsolationReconciler(caches=caches, actor=actor), queues.isolation),
            controller(
                SettingReconciler(caches=caches, actor=actor, clock=clock, seeds=seeds(environ)),
                queues.settings,
            ),
            controller(
                SSHPublicKeyReconciler(caches=caches, actor=actor, clock=clock), queues.ssh_keys
            ),
        ),
    )


def seeds(environ: Mapping[str, str]) -> Mapping[str, str]:
    """The values that the environment gives to Settings that are missing."""
    return {
        name: environ[entry.variable]
        for name, entry in CATALOGUE.items()
        if entry.variable in environ
    }
