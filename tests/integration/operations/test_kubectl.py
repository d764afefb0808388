"""What people see of an Instance through kubectl."""

import json
import re

import pytest

from gpustack_ctrl.api import names
from tests.integration.operations.conftest import Kubectl
from tests.integration.world import TYPE, World, node_ports

pytestmark = pytest.mark.usefixtures("operator")

GAP = re.compile(r" {2,}")


def table(text: str) -> list[list[str]]:
    """The cells of what kubectl printed; kubectl leaves three blanks between columns."""
    head, *rows = text.splitlines()
    starts = [match.start() for match in re.finditer(r"(?<!\S)\S", GAP.sub(_tab, head))]
    ends = [*starts[1:], None]
    return [
        [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]
        for line in (head, *rows)
    ]


def _tab(match: re.Match[str]) -> str:
    return " " * len(match.group())


async def test_the_columns_are_type_phase_ports_node_and_age(
    world: World, kubectl: Kubectl
) -> None:
    await world.instance("runs", ports=[{"port": 8080}, {"port": 53, "protocol": "UDP"}])
    await world.instance("stopped", ports=[{"port": 8080}], stop=True)
    running = await world.is_in_phase("Ready", "runs")
    await world.is_in_phase("Stopped", "stopped")
    held = node_ports(running)
    head, runs, stopped = table(await kubectl("get", "instances"))

    ports = f"53:{held[53, 'UDP']}/UDP,8080:{held[8080, 'TCP']}/TCP"

    assert ["NAME", "TYPE", "PHASE", "PORTS", "NODE", "AGE"] == head
    assert ["runs", TYPE, "Ready", running["status"]["nodeName"]] == [*runs[:3], runs[4]]
    assert sorted(ports.split(",")) == sorted(runs[3].split(","))
    assert ["stopped", TYPE, "Stopped", "", ""] == [*stopped[:3], *stopped[3:5]]
    assert re.fullmatch(r"\d+[sm].*", runs[5])


async def test_wide_adds_the_message_and_the_image(world: World, kubectl: Kubectl) -> None:
    await world.instance(image="workload:2")
    await world.is_in_phase("Ready")
    head, row = table(await kubectl("get", "inst", "-o", "wide"))

    assert ["MESSAGE", "IMAGE"] == head[6:]
    assert ["the workload is Ready", "workload:2"] == row[6:]


async def test_a_stop_keeps_the_ports_in_sight(world: World, kubectl: Kubectl) -> None:
    await world.instance(ports=[{"port": 8080}])
    held = node_ports(await world.is_in_phase("Ready"))
    await world.edit(stop=True)
    await world.is_in_phase("Stopped")
    _, row = table(await kubectl("get", "instances"))

    assert [f"8080:{held[8080, 'TCP']}/TCP", ""] == row[3:5]


async def test_everything_of_ours_is_in_one_category(world: World, kubectl: Kubectl) -> None:
    await world.instance(stop=True)
    items = json.loads(await kubectl("get", "gpustack", "-o", "json"))["items"]

    assert {names.INSTANCE.kind, names.INSTANCE_TYPE.kind} <= {item["kind"] for item in items}


async def test_explain_tells_of_each_field_what_it_means(kubectl: Kubectl) -> None:
    ports = await kubectl("explain", "instance.spec.ports")
    words = " ".join(ports.split())

    assert "port <integer> -required- Port that the workload listens on." in words
    assert "protocol <string> enum: TCP, UDP, SCTP Transport protocol." in words
    assert "name <string>" in words


async def test_explain_leaves_no_field_without_a_word(kubectl: Kubectl) -> None:
    for kind in ("instance", "instancetype", "instancesshpublickey", "setting"):
        assert "<no description>" not in await kubectl("explain", kind, "--recursive=false")
        assert "<no description>" not in await kubectl("explain", f"{kind}.spec")
