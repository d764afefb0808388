"""A page of many Instances: what a scrape costs, and for how long it holds others up."""

import asyncio
import sys
import time
from collections.abc import Iterator, Sequence

import attrs
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gpustack_ctrl.exporter.pages import Pages
from gpustack_ctrl.exporter.scrape import Scrapes
from gpustack_ctrl.metering.exposition import Sample
from gpustack_ctrl.metering.families import Family, Group, Kind, catalogue
from gpustack_ctrl.runtime.clock import SystemClock
from gpustack_ctrl.runtime.server import HttpServer

NODES = 500
ON_EACH = 20
SCRAPES = 5
TICK_SECONDS = 0.001
FAMILIES = [family for family in catalogue() if family.group is not Group.COLLECTION]
# Asks as Prometheus does, from a process of its own, and reads all of the answer.
SCRAPER = """
import sys, urllib.request
url, coding = sys.argv[1:]
asked = urllib.request.Request(url, headers={"Accept-Encoding": coding})
with urllib.request.urlopen(asked) as answer:
    print(sum(map(len, iter(lambda: answer.read(1 << 20), b""))))
"""


@attrs.frozen
class Cost:
    """Of a scrape: bytes, seconds of CPU, and for how long nothing else got a turn."""

    size: int
    cpu: float
    held_up: float


async def scraping() -> Sequence[str]:
    """What it costs to tell of ten thousand Instances, beside prometheus-client."""
    pages = Pages()
    rendering = sum(_rendered(pages, node) for node in range(NODES))
    theirs = _cpu_of_the_library()
    scrapes = Scrapes(pages=pages, registry=CollectorRegistry(), clock=SystemClock())
    server = HttpServer(scrapes.app(), bind="127.0.0.1:0")
    await server.start()
    try:
        told = {coding: await _median_cost(server, coding) for coding in ("gzip", "identity")}
    finally:
        await server.stop()
    series = NODES * ON_EACH * len(FAMILIES)
    return (
        f"{NODES * ON_EACH} Instances on {NODES} nodes: {series} series",
        *(
            f"scrape them, {coding}: {cost.size / 1e6:.0f} MB, {cost.cpu / theirs:.3f} of the CPU "
            f"of prometheus-client, others held up for {cost.held_up * 1000:.1f} ms at most"
            for coding, cost in told.items()
        ),
        f"render and deflate every node once: {rendering / theirs:.2f} of the same",
    )


def _rendered(pages: Pages, node: int) -> float:
    """Put the page of a node; return the CPU that took."""
    samples = list(_samples(node))
    started = time.process_time()
    pages.put(f"use/node-{node:03}", samples)
    return time.process_time() - started


def _samples(node: int) -> Iterator[Sample]:
    for number in range(ON_EACH):
        for family in FAMILIES:
            yield Sample(family, _labels(family, node, number), node * 1e6 + number / 7)


def _labels(family: Family, node: int, number: int) -> tuple[str, ...]:
    """A value for each label, of the length that such values have."""
    told = {
        "namespace": f"team-{number % 7}",
        "instance_name": f"workspace-{number}",
        "instance_uid": f"0f6f1f0c-6a35-4d0a-9d2b-{node:06}{number:06}",
        "node": f"node-{node:03}.example.internal",
        "id": f"GPU-3d6f1f0c-6a35-4d0a-9d2b-{node:06}{number:06}",
    }
    return tuple(told.get(name, name) for name in family.labels)


async def _median_cost(server: HttpServer, coding: str) -> Cost:
    """Of several scrapes the median, but for the hold-up, of which it is the worst."""
    costs = sorted([await _cost(server, coding) for _ in range(SCRAPES)], key=lambda cost: cost.cpu)
    return attrs.evolve(costs[SCRAPES // 2], held_up=max(cost.held_up for cost in costs))


async def _cost(server: HttpServer, coding: str) -> Cost:
    url = f"http://127.0.0.1:{server.port}/metrics"
    watch = asyncio.create_task(_longest_hold_up(done := asyncio.Event()))
    started = time.process_time()
    scraper = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SCRAPER, url, coding, stdout=asyncio.subprocess.PIPE
    )
    size, _ = await scraper.communicate()
    cpu = time.process_time() - started
    done.set()
    return Cost(size=int(size), cpu=cpu, held_up=await watch)


async def _longest_hold_up(done: asyncio.Event) -> float:
    """How late the loop woke a task that wanted to be woken all the time."""
    longest = 0.0
    while not done.is_set():
        started = time.perf_counter()
        await asyncio.sleep(TICK_SECONDS)  # noqa: TID251 -- it is the loop that is measured.
        longest = max(longest, time.perf_counter() - started - TICK_SECONDS)
    return longest


def _cpu_of_the_library() -> float:
    """What prometheus-client takes to render the same series at a scrape."""
    registry = CollectorRegistry()
    registry.register(_Same())
    started = time.process_time()
    generate_latest(registry)
    return time.process_time() - started


class _Same(Collector):
    """The same series, by families."""

    def describe(self) -> Sequence[Metric]:
        return ()

    def collect(self) -> Iterator[Metric]:
        for family in FAMILIES:
            kind = CounterMetricFamily if family.kind is Kind.COUNTER else GaugeMetricFamily
            made = kind(family.name.removesuffix("_total"), family.meaning, labels=family.labels)
            for node in range(NODES):
                for number in range(ON_EACH):
                    made.add_metric(_labels(family, node, number), node * 1e6 + number / 7)
            yield made
