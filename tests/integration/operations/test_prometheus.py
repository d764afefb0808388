"""A real Prometheus scrapes the operator's own command and answers questions about Instances."""

import asyncio
from collections.abc import Iterator

import pytest

from gpustack_ctrl.api import names
from tests.cli.command import Process
from tests.integration.operations.prometheus import JOB, PROMETHEUS, Prometheus, scraping
from tests.integration.operations.scrape import operator
from tests.integration.world import World, until

__all__ = ["operator"]

pytestmark = pytest.mark.skipif(PROMETHEUS is None, reason="no prometheus: see e2e/packages.txt")


@pytest.fixture(scope="module")
def prometheus(operator: Process, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """A Prometheus that scrapes the operator."""
    with scraping(operator.metrics_address, tmp_path_factory.mktemp("prometheus")) as held:
        yield held


async def answers(prometheus: Prometheus, expression: str, value: float | None) -> None:
    """Return once the only series of *expression* has *value*; None: once there is none."""

    async def read() -> bool:
        return await asyncio.to_thread(prometheus.value, expression) == value

    await until(read)


async def test_the_operator_is_up_and_no_sample_is_refused(
    prometheus: Prometheus, operator: Process
) -> None:
    await answers(prometheus, f'up{{job="{JOB}"}}', 1)
    [target] = prometheus.targets()
    [(labels, _)] = prometheus.query("up")

    assert ("up", "") == (target["health"], target["lastError"])
    assert operator.metrics_address == labels["instance"]


async def test_an_instance_can_be_asked_for_from_its_start_to_its_end(
    prometheus: Prometheus, world: World
) -> None:
    instance = await world.instance(resources={"accelerator": 2})
    status = (await world.is_in_phase("Ready"))["status"]
    here = f'namespace="{world.namespace}",instance_name="box"'
    await answers(prometheus, f"gpustack_instance_ready{{{here}}}", 1)
    [(info, _)] = prometheus.query(f"gpustack_instance_info{{{here}}}")

    assert instance["metadata"]["uid"] == info["instance_uid"]
    assert status["nodeName"] == info["node"]
    assert 2 == prometheus.value(
        f'sum(gpustack_instance_accelerators{{{here},family="Whole"}}'
        " * on (instance_uid) gpustack_instance_ready)"
    )

    await world.edit(stop=True)
    await answers(prometheus, f'gpustack_instance_phase{{{here},phase="Stopped"}}', 1)
    await answers(
        prometheus, f'gpustack_instances{{namespace="{world.namespace}",phase="Stopped"}}', 1
    )
    await world.delete(names.INSTANCE, "box")
    await answers(prometheus, f"gpustack_instance_info{{{here}}}", None)


async def test_what_dashboards_ask_of_an_operator_is_answered(
    prometheus: Prometheus, world: World
) -> None:
    await world.instance()
    await world.is_in_phase("Ready")
    await answers(prometheus, "leader_election_master_status", 1)
    for expression in (
        'sum(rate(controller_runtime_reconcile_total{controller="instance"}[1m])) > bool 0',
        "histogram_quantile(0.99, sum by (le) (workqueue_queue_duration_seconds_bucket)) > bool 0",
        'sum(rest_client_requests_total{code="201",method="POST"}) > bool 0',
        "sum(process_resident_memory_bytes) > bool 0",
    ):
        await answers(prometheus, expression, 1)


async def test_prometheus_reads_the_types_as_they_are_meant(
    prometheus: Prometheus, operator: Process
) -> None:
    """It asks for OpenMetrics, where a family of counters is named without its `_total`."""
    await answers(prometheus, "up", 1)
    types = await asyncio.to_thread(prometheus.metadata)

    assert {
        "gpustack_instances": "gauge",
        "gpustack_instance_info": "gauge",
        "gpustack_instance_restarts": "counter",
        "workqueue_depth": "gauge",
        "workqueue_adds": "counter",
        "controller_runtime_reconcile_time_seconds": "histogram",
    }.items() <= types.items()
