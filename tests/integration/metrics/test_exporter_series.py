"""What the exporter tells of Instances from their creation to their end, by a real API server."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from tests.cli.command import Process, free_addresses
from tests.integration.metrics.command import exporting, so
from tests.integration.operations.conftest import node, offer
from tests.integration.world import Operator, World, until

__all__ = ["node", "offer"]

INFO = "gpustack_instance_info"
PHASE = "gpustack_instance_phase"
COUNT = "gpustack_instances"
PENDING = "gpustack_instance_pending_seconds_total"
STOPPED = "gpustack_instance_stopped_seconds_total"
SUCCESS = "gpustack_instance_metrics_collector_success"
FAILURE = "gpustack_instance_metrics_collector_failure"
MISSING = "gpustack_instance_metrics_missing"
CPU = "gpustack_instance_cpu_usage_seconds_total"


@pytest_asyncio.fixture
async def exporter(
    cluster: Cluster, world: World, operator: Operator, tmp_path: Path
) -> AsyncIterator[Process]:
    """The exporter, for the whole cluster, with an operator beside it."""
    async with exporting(cluster.kubeconfig, operator.namespace, tmp_path / "log") as held:
        yield held


async def told(exporter: Process, name: str, **labels: str) -> list[dict[str, str]]:
    """The labels of the series called *name* that have these among theirs."""
    found = await asyncio.to_thread(exporter.samples, name, **labels)
    return [it.labels for it in found]


async def tells(exporter: Process, name: str, **labels: str) -> dict[str, str]:
    """The labels of the only such series, once it is there."""

    async def read() -> list[dict[str, str]]:
        return await told(exporter, name, **labels)

    [only] = await until(read)
    return only


async def silent(exporter: Process, name: str, **labels: str) -> None:
    """Return once there is no such series."""
    await so(lambda: not exporter.samples(name, **labels))


async def value(exporter: Process, name: str, **labels: str) -> float:
    """The value of the only such series."""
    [only] = await asyncio.to_thread(lambda: exporter.samples(name, **labels))
    return float(only.value)


async def test_the_phase_follows_an_instance_from_its_creation_to_its_end(
    world: World, exporter: Process
) -> None:
    made = await world.instance()
    uid = made["metadata"]["uid"]
    for phase, stops in (("Ready", True), ("Stopped", False), ("Ready", False)):
        await tells(exporter, PHASE, instance_uid=uid, phase=phase)
        assert len(await told(exporter, PHASE, instance_uid=uid)) == 1
        await world.edit(stop=stops)

    await world.delete(names.INSTANCE, "box")
    await world.gone(names.INSTANCE, "box")
    await so(lambda: uid not in exporter.page())
    await silent(exporter, COUNT, namespace=world.namespace)


async def test_an_instance_is_told_with_its_type_node_and_image(
    world: World, exporter: Process
) -> None:
    await world.instance()
    held = await world.is_in_phase("Ready")
    info = await tells(exporter, INFO, namespace=world.namespace, node=held["status"]["nodeName"])

    assert ("box", "test-gpu", "workload:1") == (
        info["instance_name"], info["type"], info["image"]
    )  # fmt: skip
    assert 1 == await value(exporter, "gpustack_instance_ready", namespace=world.namespace)
    assert 1 == await value(exporter, "gpustack_instance_accelerators", namespace=world.namespace)


async def test_instances_are_counted_by_phase(world: World, exporter: Process) -> None:
    await asyncio.gather(*(world.instance(f"box-{number}", stop=True) for number in range(3)))

    async def read() -> bool:
        found = await told(exporter, PHASE, namespace=world.namespace, phase="Stopped")
        return len(found) == 3

    await until(read)
    counted = {"namespace": world.namespace}
    assert 3 == await value(exporter, COUNT, **counted, phase="Stopped")
    assert 0 == await value(exporter, COUNT, **counted, phase="Ready")
    assert 9 == len(await told(exporter, COUNT, **counted))


async def test_an_instance_made_anew_under_its_name_is_another(
    world: World, exporter: Process
) -> None:
    old = (await world.instance(stop=True))["metadata"]["uid"]
    await tells(exporter, INFO, instance_uid=old)
    await world.delete(names.INSTANCE, "box")
    await world.gone(names.INSTANCE, "box")
    new = (await world.instance(stop=True))["metadata"]["uid"]
    await tells(exporter, INFO, instance_uid=new)
    await so(lambda: old not in exporter.page())


async def test_time_only_grows_also_over_a_new_start_of_the_exporter(
    cluster: Cluster, world: World, operator: Operator, tmp_path: Path
) -> None:
    await world.instance(stop=True)
    await world.is_in_phase("Stopped")
    seen = 0.0
    for start in range(3):
        log = tmp_path / f"log-{start}"
        async with exporting(cluster.kubeconfig, operator.namespace, log) as exporter:
            await tells(exporter, STOPPED, namespace=world.namespace)
            for _ in range(5):
                now = await value(exporter, STOPPED, namespace=world.namespace)
                assert now >= seen
                seen = now


async def test_a_kubelet_that_cannot_be_reached_is_told_with_the_reason(
    world: World, exporter: Process
) -> None:
    """Simulated nodes have no kubelet."""
    await world.instance()
    place = (await world.is_in_phase("Ready"))["status"]["nodeName"]
    why = await tells(exporter, FAILURE, node=place, source="kubelet")

    assert why["reason"] in {"unreachable", "timeout", "untrusted", "not_found", "unauthorized"}
    assert 0 == await value(exporter, SUCCESS, node=place, source="kubelet")
    missing = await tells(exporter, MISSING, namespace=world.namespace)
    assert ("box", why["reason"]) == (missing["instance_name"], missing["reason"])
    assert [] == await told(exporter, CPU, namespace=world.namespace)


async def test_a_node_is_told_no_more_once_its_last_instance_is_gone(
    world: World, exporter: Process, offer: object, node: str
) -> None:
    kind = await offer(nodeSelector={"only": node})  # type: ignore[operator]
    await world.instance(type=kind)
    await world.is_in_phase("Ready")
    await tells(exporter, SUCCESS, node=node, source="kubelet")
    await world.delete(names.INSTANCE, "box")
    await silent(exporter, SUCCESS, node=node)


async def test_on_one_node_the_exporter_tells_of_that_node_alone(
    cluster: Cluster, world: World, operator: Operator, offer: object, node: str, tmp_path: Path
) -> None:
    """And not what the API server knows: that would be told once for each node."""
    kind = await offer(nodeSelector={"only": node})  # type: ignore[operator]
    here = await world.instance("here", type=kind)
    there = await world.instance("there")
    await world.is_in_phase("Ready", "here")
    await world.is_in_phase("Ready", "there")
    arguments = (cluster.kubeconfig, operator.namespace, tmp_path / "log", f"--node-name={node}")
    async with exporting(*arguments) as exporter:
        await tells(exporter, MISSING, instance_uid=here["metadata"]["uid"])
        page = await asyncio.to_thread(exporter.page)

        assert there["metadata"]["uid"] not in page
        assert {node} == {labels["node"] for labels in await told(exporter, SUCCESS)}
        assert INFO not in page


@pytest.mark.parametrize("order", [signal.SIGTERM, signal.SIGINT])
async def test_it_ends_in_order_when_it_is_told_to(
    world: World, exporter: Process, order: signal.Signals
) -> None:
    await world.instance()
    await world.is_in_phase("Ready")
    await tells(exporter, PHASE, namespace=world.namespace)

    assert 0 == await asyncio.to_thread(exporter.end, order)
    assert [] == [line for line in exporter.lines() if line["level"] == "error"]


async def test_without_an_answer_from_the_api_server_it_is_not_ready(
    cluster: Cluster, operator_namespace: str, tmp_path: Path
) -> None:
    [nobody] = free_addresses(1)
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(
        cluster.kubeconfig.read_text().replace(cluster.server, f"https://{nobody}")
    )
    held = exporting(kubeconfig, operator_namespace, tmp_path / "log", ready=False)
    async with held as exporter:
        code = await asyncio.to_thread(exporter.process.wait, 60)
    assert code != 0
    assert nobody in exporter.log.read_text()
    assert "Traceback" not in exporter.log.read_text()
