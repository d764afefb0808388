"""Many Instances at once: the operator's own cost, beside a writer that only writes.

The null writer sends the same writes over the same client and watches nothing. What the
operator takes beyond it is what deciding costs.
"""

import asyncio
import resource
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from e2e.cluster import Cluster, Fleet, running
from gpustack_ctrl import logs
from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import ObjectKey, Resource
from gpustack_ctrl.app.operator import operator
from gpustack_ctrl.app.start import install_crds
from gpustack_ctrl.client.client import Client
from gpustack_ctrl.client.connection import connect
from gpustack_ctrl.client.location import ConnectionOptions
from gpustack_ctrl.client.rest import Rest
from gpustack_ctrl.runtime.clock import SystemClock
from gpustack_ctrl.runtime.manager import Manager
from gpustack_ctrl.runtime.metrics import Metrics, new_registry

CLOCK = SystemClock()
HOME = "gpustack-system"
WRITERS = 16
PODS_A_NODE = 100


@attrs.frozen(kw_only=True)
class Spent:
    """What a part of the run took."""

    cpu: float
    wall: float


async def burst(count: int) -> Iterator[str]:
    """Create *count* Instances and follow them to Ready; then restart over them."""
    logs.set_up(level="warning", form="console")
    nodes = 1 + 2 * count // PODS_A_NODE  # For the null writer's Pods, too.
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Fleet(nodes=nodes, gpus=PODS_A_NODE), directory=Path(folder)) as cluster,
    ):
        return iter(await _measured(cluster, count))


async def _measured(cluster: Cluster, count: int) -> list[str]:
    options = ConnectionOptions(kubeconfig=str(cluster.kubeconfig))
    async with await connect(options, clock=CLOCK) as connection:
        client = Client(connection=connection, clock=CLOCK)
        await install_crds(client.rest, CLOCK)
        for namespace in (HOME, "burst", "null"):
            cluster.add_namespace(namespace)
        await client.rest.create(names.INSTANCE_TYPE, _object(names.INSTANCE_TYPE, "h100", "", {}))
        null = await _spent(lambda: _null_writer(client.rest, count))
        cluster.kubectl("delete", "namespace", "null")  # Or the operator would see to it, too.
        before = _writes(cluster)
        ours = await _spent(lambda: _with_operator(client, count))
        made = _writes(cluster) - before - count
        before = _writes(cluster)
        again = await _spent(lambda: _with_operator(client, 0, expected=count))
        return [
            f"{count} Instances to Ready: {made / count:.2f} writes each by the operator",
            f"{count} Instances to Ready: {ours.cpu / null.cpu:.2f} of the null writer's CPU",
            f"{count} Instances to Ready: {ours.wall / null.wall:.2f} of the null writer's time",
            f"restart over {count} Ready Instances: {_writes(cluster) - before} writes",
            f"restart over {count} Ready Instances: {again.cpu / ours.cpu:.2f} of the burst's CPU",
        ]


async def _with_operator(client: Client, count: int, *, expected: int | None = None) -> None:
    parts = await operator(
        client, namespace=HOME, environ={}, workers=WRITERS, clock=CLOCK,
        metrics=Metrics(new_registry()),
    )  # fmt: skip
    manager = Manager(
        clock=CLOCK,
        informers=attrs.astuple(parts.informers, recurse=False),
        controllers=parts.controllers,
    )
    running_manager = asyncio.create_task(manager.run())
    while manager.ready() is not None:
        await CLOCK.sleep(0.01)
    await _create(client.rest, names.INSTANCE, "burst", count, _instance())
    wanted = count if expected is None else expected
    caches = parts.informers.caches
    while sum(held.status.phase == "Ready" for held in caches.instances.list()) < wanted:
        await CLOCK.sleep(0.05)
    manager.stop()
    await running_manager


async def _null_writer(rest: Rest, count: int) -> None:
    """An Instance, a Service, a Pod and a status, as the operator and its user write them."""
    await _create(rest, names.INSTANCE, "null", count, _instance() | {"stop": True})
    ports = [{"name": "tcp-8080", "port": 8080}]
    await _create(rest, names.SERVICE, "null", count, {"type": "NodePort", "ports": ports})
    container = {"name": "main", "image": "workload:1"}
    await _create(rest, names.POD, "null", count, {"containers": [container]})
    status = {"status": {"phase": "Ready", "message": "the workload is Ready"}}

    async def tell(number: int) -> None:
        await rest.merge_patch(names.INSTANCE, ObjectKey("null", f"box-{number}"), status, "status")

    await _all(count, tell)


async def _create(
    rest: Rest, kind: Any, namespace: str, count: int, spec: Mapping[str, Any]
) -> None:
    async def make(number: int) -> None:
        await rest.create(kind, _object(kind, f"box-{number}", namespace, spec))

    await _all(count, make)


async def _all(count: int, act: Callable[[int], Awaitable[None]]) -> None:
    """Do it for every number, so many at once."""
    numbers = iter(range(count))

    async def work() -> None:
        for number in numbers:
            await act(number)

    await asyncio.gather(*(work() for _ in range(WRITERS)))


def _instance() -> dict[str, Any]:
    return {"type": "h100", "image": "workload:1", "ports": [{"port": 8080}]}


def _object(kind: Resource, name: str, namespace: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    typed = {"apiVersion": kind.api_version, "kind": kind.kind}
    return {**typed, "metadata": metadata, "spec": spec}


async def _spent(work: Callable[[], Awaitable[None]]) -> Spent:
    cpu, wall = _cpu(), time.monotonic()
    await work()
    return Spent(cpu=_cpu() - cpu, wall=time.monotonic() - wall)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _writes(cluster: Cluster) -> int:
    """Writes to what the operator writes, as the API server counted them."""
    page = cluster.api().text("/metrics")
    kinds = ("instances", "services", "settings", "networkpolicies", "pods")
    total = 0
    for line in page.splitlines():
        if line.startswith("apiserver_request_total{") and _is_ours(line, kinds):
            total += int(float(line.rpartition(" ")[2]))
    return total


def _is_ours(line: str, kinds: tuple[str, ...]) -> bool:
    written = any(f'verb="{verb}"' in line for verb in ("POST", "PATCH", "PUT", "DELETE"))
    of_kind = any(f'resource="{kind}"' in line for kind in kinds)
    by_kwok = 'resource="pods"' in line and 'subresource=""' not in line
    return written and of_kind and not by_kwok
