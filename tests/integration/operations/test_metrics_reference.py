"""The reference page has a row for each series of the real page, and none beside."""

import asyncio
from pathlib import Path

import pytest
from prometheus_client.metrics_core import Metric

from gpustack_ctrl.metering.families import Group, catalogue
from tests.cli.command import Process, families
from tests.integration.operations.conftest import Maker
from tests.integration.operations.prometheus import PROMETHEUS, scraping
from tests.integration.operations.scrape import operator
from tests.integration.world import World, until

__all__ = ["operator"]

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"
PAGE = REFERENCE / "metrics.md"
OF_INSTANCES = {family.name for family in catalogue() if family.group in (Group.STATE, Group.USAGE)}
ROW = tuple[str, str, tuple[str, ...], str]


def told(page: Path) -> list[ROW]:
    """The rows of all tables of *page* that have four columns."""
    lines = [line for line in page.read_text().splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    rows = [row for row in cells if len(row) == 4]
    return [(row[0].strip("`"), row[1], _labels(row[2]), row[3]) for row in rows]


def _labels(cell: str) -> tuple[str, ...]:
    return tuple(word.strip("`") for word in cell.split())


def row(family: Metric) -> ROW:
    """What the page should say of *family*."""
    total = "_total" if family.type == "counter" else ""
    labels = {label for sample in family.samples for label in sample.labels}
    return (
        f"{family.name}{total}",
        family.type,
        tuple(sorted(labels - {"le"})),
        family.documentation,
    )


async def running(world: World, operator: Process) -> None:
    """Return once the operator tells of an Instance that has all there is to tell."""
    await world.instance()
    await world.is_in_phase("Ready")

    async def is_told() -> bool:
        found = await asyncio.to_thread(
            operator.samples, "gpustack_instance_restarts_total", namespace=world.namespace
        )
        return bool(found)

    await until(is_told)


async def test_each_series_has_a_row_with_type_labels_and_meaning(
    world: World, operator: Process
) -> None:
    await running(world, operator)
    real = [row(family) for family in families(operator.page())]
    of_instances = {found[0]: found for found in told(REFERENCE / "instance-metrics.md")}

    assert sorted(told(PAGE)) == sorted(found for found in real if found[0] not in OF_INSTANCES)
    for name, kind, labels, meaning in (found for found in real if found[0] in OF_INSTANCES):
        assert (name, kind, labels or of_instances[name][2], meaning) == of_instances[name]
    assert {found[0] for found in real} >= OF_INSTANCES


def queries() -> list[str]:
    """The expressions that the page gives as examples."""
    return [part.partition("```")[0] for part in PAGE.read_text().split("```promql\n")[1:]]


@pytest.mark.skipif(PROMETHEUS is None, reason="no prometheus: see e2e/packages.txt")
async def test_the_example_gives_what_it_says(
    world: World, operator: Process, offer: Maker, tmp_path: Path
) -> None:
    name = await offer(manufacturer="nvidia")
    for box, stop in (("one", False), ("two", False), ("three", True)):
        await world.instance(box, type=name, resources={"accelerator": 2}, stop=stop)
    await world.is_in_phase("Ready", "one")
    await world.is_in_phase("Ready", "two")
    [expression] = queries()
    with scraping(operator.metrics_address, tmp_path) as prometheus:

        async def adds_up() -> bool:
            found = await asyncio.to_thread(prometheus.query, expression)
            return ({"type": name, "family": "Whole"}, 4.0) in found

        await until(adds_up)
