"""A source of accelerator figures that does not answer costs nothing of what kubelets tell."""

import asyncio
from itertools import pairwise

import attrs

from gpustack_ctrl.exporter.accelerators import Source
from gpustack_ctrl.metering.accelerators.readings import DeviceSample, Extent, PodClaim
from tests.exporter.fleet import PERIOD, SECONDS, Fleet, fleet, hang

CPU = "gpustack_instance_cpu_usage_seconds_total"
CAPABILITY = "gpustack_accelerator_process_capability"
SUCCESS = "gpustack_instance_metrics_collector_success"


@attrs.frozen
class Empty:
    """Reads no card from any page."""

    name: str = "empty"

    def read(self, text: str) -> tuple[DeviceSample, ...]:  # noqa: ARG002 -- by protocol.
        return ()


SOURCE = Source(name="dcgm", url="http://{address}:9400/metrics", adapter=Empty())


def url(number: int) -> str:
    return f"http://10.0.0.{number}:9400/metrics"


def success(held: Fleet, source: str) -> dict[str, float]:
    """Whether the last reading of each node's source succeeded."""
    return {it.labels["node"]: it.value for it in held.series(SUCCESS, source=source)}


async def test_what_the_kubelet_says_is_told_before_a_source_answers() -> None:
    held = fleet(sources=[SOURCE])
    held.add("box", "node-1")
    held.kubelets.answers["node-1"] = held.answer_of("node-1")
    async with held.running():
        await held.clock.advance(1)
        assert {"box"} == held.told(CPU)
        assert {} == success(held, "dcgm")

        await held.clock.advance(SECONDS)
        assert ({"node-1": 1}, {"node-1": 0}) == (success(held, "kubelet"), success(held, "dcgm"))


async def test_sources_that_hang_on_many_nodes_keep_no_kubelet_from_being_read() -> None:
    held = fleet(in_flight=8, sources=[SOURCE])
    everybody = {f"box-{number}" for number in range(1, 61)}
    for number in range(1, 61):
        held.add(f"box-{number}", f"node-{number}")
        held.kubelets.answers[f"node-{number}"] = held.answer_of(f"node-{number}")
        held.endpoints.answers[url(number)] = hang if number <= 40 else b""
    held.endpoints.under_way = held.kubelets.under_way
    async with held.running():
        await held.clock.advance(2 * PERIOD)
        for _ in range(60):
            await held.clock.advance(PERIOD / 3)
            assert everybody == held.told(CPU)

    gaps = [
        after - before
        for number in range(1, 61)
        for before, after in pairwise(held.kubelets.times(f"node-{number}"))
    ]
    assert max(gaps) < 2 * PERIOD
    assert held.endpoints.most_of_one == 1
    assert max(held.kubelets.most_at_once, held.endpoints.most_at_once) <= 8


@attrs.frozen
class Foreign:
    """Reads a slice that nobody here has: it is told that its use is told to nobody."""

    def read(self, text: str) -> tuple[DeviceSample, ...]:  # noqa: ARG002 -- by protocol.
        whose = PodClaim(namespace="else", name="where")
        sample = DeviceSample(id="GPU-1", extent=Extent.SLICE, memory_used_bytes=1, pod=whose)
        return (sample,)


async def test_what_sources_said_is_told_for_two_periods_at_most() -> None:
    """Three that hang take longer than that together, and meanwhile nothing new is known."""
    ports = (9400, 9401, 9402)
    urls = [f"http://{{address}}:{port}/metrics" for port in ports]
    held = fleet(sources=[Source(name=url, url=url, adapter=Foreign()) for url in urls])
    held.endpoints.default = b""
    held.add("box", "node-1")
    held.kubelets.answers["node-1"] = held.answer_of("node-1")
    async with held.running():
        await held.clock.advance(2)
        while not held.series(CAPABILITY):  # Pages are read in threads, which no clock moves.
            await asyncio.to_thread(held.pages.__len__)
            await held.clock.advance(0)

        held.endpoints.default = hang
        await held.clock.advance(2 * PERIOD)
        assert [] == held.series(CAPABILITY)
