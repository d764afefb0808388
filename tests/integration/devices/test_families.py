"""I2: every way to ask for an accelerator, of every manufacturer, scheduled and Ready."""

from collections.abc import Mapping
from typing import Any

import pytest

from e2e.cluster.nodes import BASES
from gpustack_ctrl.api import names
from gpustack_ctrl.api.manufacturers import MANUFACTURERS
from tests.integration.devices.fleet import CARD_MIB, MAKER, MAKERS, limits_of, node_of
from tests.integration.world import World

pytestmark = pytest.mark.usefixtures("operator")

PROFILE = "3g.40gb"
ASKED: Mapping[str, Mapping[str, Any]] = {
    "silent": {},
    "whole": {"accelerator": "2"},
    "shared": {"acceleratorShared": True, "accelerator": 2},
    "percent": {"acceleratorSlicedMemoryPercentage": 25},
    "mib": {"acceleratorSlicedMemoryMiB": CARD_MIB // 2, "acceleratorSlicedCoresPercentage": 30},
    "partition": {"acceleratorPartitionedProfile": PROFILE},
    "none": {"accelerator": "0"},
}


def expected(maker: str) -> Mapping[str, Mapping[str, str]]:
    """What `main` asks the device plugin of *maker* for, by what the user asked for."""
    base = BASES[maker]
    asked = {
        "silent": {base: "1"},
        "whole": {base: "2"},
        "shared": {f"{base}.shared": "2"},
        "percent": {
            f"{base}.sliced": "1",
            f"{base}.sliced.memory-percentage": "25",
            f"{base}.sliced.cores-percentage": "25",
        },
        "mib": {
            f"{base}.sliced": "1",
            f"{base}.sliced.memory-mib": str(CARD_MIB // 2),
            f"{base}.sliced.cores-percentage": "30",
        },
        "none": {},
    }
    if maker in {"hygon", "nvidia", "thead"}:
        asked["partition"] = {f"{base}.partitioned": "1", f"{base}.partitioned.mig-{PROFILE}": "1"}
    return asked


@pytest.mark.parametrize("maker", MAKERS)
async def test_i2_each_family_that_a_maker_has_is_asked_for_and_served(
    world: World, maker: str
) -> None:
    offered = {
        "manufacturer": maker,
        "acceleratorMemoryMiB": CARD_MIB,
        "nodeSelector": {MAKER: maker},
    }
    kind = world.namespace
    await world.create(names.INSTANCE_TYPE, {"metadata": {"name": kind}, "spec": offered})
    wanted = expected(maker)
    # Both ask for whole cards, of which the node has two: one after the other.
    await served(world, kind, maker, {name: wanted[name] for name in wanted if name != "silent"})
    await world.edit("whole", stop=True)
    await world.is_in_phase("Stopped", "whole")
    await served(world, kind, maker, {"silent": wanted["silent"]})
    await world.delete(names.INSTANCE_TYPE, kind)


async def served(
    world: World, kind: str, maker: str, wanted: Mapping[str, Mapping[str, str]]
) -> None:
    """Ask in each way of *wanted*, and see that it is Ready with those limits."""
    for name in wanted:
        await world.instance(name, type=kind, resources=ASKED[name])
    for name, limits in wanted.items():
        instance = await world.is_in_phase("Ready", name)
        pod = await world.get(names.POD, name)

        assert limits == limits_of(pod), name
        assert node_of(maker) == instance["status"]["nodeName"], name
        assert ["main"] == [container["name"] for container in pod["spec"]["containers"]]
        hidden = {} if limits else invisible()
        assert hidden == variables(pod), name


def invisible() -> dict[str, str]:
    """What hides every card of every maker."""
    rows = MANUFACTURERS.values()
    return {name: value for row in rows for name, value in row.invisible.items()}


def variables(pod: Mapping[str, Any]) -> dict[str, str]:
    """The variables of `main`."""
    return {
        held["name"]: held.get("value", "") for held in pod["spec"]["containers"][0].get("env", ())
    }
