"""I2, T3: what a type cannot give is told by gate `type`, with the sentence that helps."""

from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from gpustack_ctrl.api import names
from tests.integration.devices.fleet import Own, blocked
from tests.integration.world import World

pytestmark = pytest.mark.usefixtures("operator")

SLICE = {"acceleratorSlicedMemoryPercentage": 25}
MIB = {"acceleratorSlicedMemoryMiB": 4096}
PARTITION = {"acceleratorPartitionedProfile": "1g.10gb"}
SHARED = {"acceleratorShared": True}
WHOLE = {"accelerator": 1}


@attrs.frozen
class Refused:
    """A type, what is asked of it, and why it cannot be had."""

    offered: Mapping[str, Any]
    asked: Mapping[str, Any]
    reason: str
    says: str


CASES: Mapping[str, Refused] = {
    "a card of a type without cards": Refused(
        {"manufacturer": ""},
        WHOLE,
        "NoAccelerator",
        "leave it out, or choose a type with accelerators",
    ),
    "a maker that nobody knows": Refused(
        {"manufacturer": "acme"},
        {},
        "UnknownManufacturer",
        "spec.manufacturer to one of amd, ascend, cambricon, hygon, iluvatar",
    ),
    "a family that is not offered": Refused(
        {"families": ["Whole", "Sliced"]},
        SHARED,
        "FamilyNotOffered",
        "set acceleratorSlicedMemoryPercentage to ask for a slice; or choose another type",
    ),
    "a partition that is not offered": Refused(
        {"partitionProfiles": [{"name": "3g.40gb"}]},
        PARTITION,
        "ProfileNotOffered",
        "'1g.10gb' is not offered by the InstanceType: set it to one of 3g.40gb",
    ),
    "a slice larger than a card": Refused(
        {"acceleratorMemoryMiB": 2048},
        MIB,
        "SliceTooLarge",
        "acceleratorSlicedMemoryMiB is 4096 but a card of the InstanceType has 2048 MiB",
    ),
    "a slice of a card of unknown size": Refused(
        {"acceleratorMemoryMiB": None},
        MIB,
        "ShareUnknown",
        "set spec.resources.cpu and ram, or ask an administrator to set spec.acceleratorMemoryMiB",
    ),
    "a partition where cards have none": Refused(
        {"manufacturer": "amd"},
        PARTITION,
        "FamilyUnsupported",
        "cards of amd have no hardware partitions: set acceleratorSlicedMemoryPercentage",
    ),
    "a slice of NVIDIA's own plugin": Refused(
        {"dialect": "nvidia"},
        SLICE,
        "FamilyUnsupported",
        "NVIDIA's device plugin has no logical slices: set acceleratorShared",
    ),
    "two replicas of time-slicing": Refused(
        {"dialect": "nvidia"},
        {**SHARED, "accelerator": 2},
        "FamilyUnsupported",
        "two shares may be of the same card: leave accelerator out or set it to 1",
    ),
    "a maker whose plugin has no name": Refused(
        {"dialect": "nvidia", "manufacturer": "metax"},
        WHOLE,
        "FamilyUnsupported",
        "must set spec.resourceName of the InstanceType to what the device plugin registers",
    ),
    "a share of HAMi": Refused(
        {"dialect": "hami"},
        SHARED,
        "FamilyUnsupported",
        "HAMi shares cards by slices only: set acceleratorSlicedMemoryPercentage instead",
    ),
    "a partition of HAMi": Refused(
        {"dialect": "hami"},
        PARTITION,
        "FamilyUnsupported",
        "set acceleratorSlicedMemoryMiB to the memory of the partition instead",
    ),
    "a maker whose names HAMi does not tell": Refused(
        {"dialect": "hami", "manufacturer": "ascend"},
        WHOLE,
        "FamilyUnsupported",
        "set spec.resourceName of the InstanceType to what HAMi calls its devices",
    ),
    "a name that no resource can have": Refused(
        {"resourceName": "gpu"},
        WHOLE,
        "InvalidResourceName",
        "write spec.resourceName of the InstanceType as vendor.example/name",
    ),
    "a type that is held": Refused(
        {"inactive": True}, {}, "TypeInactive", "it takes no new Instances"
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_t3_what_a_type_cannot_give_is_told_and_no_pod_is_made(
    world: World, own: Own, case: Refused
) -> None:
    await own.edit(**case.offered)
    await world.instance(type=own.name, resources=case.asked)
    told = await blocked(world, "type", case.reason)

    assert case.says in told["message"]
    assert told["message"] == (await world.get(names.INSTANCE, "box"))["status"]["message"]
    assert await world.find(names.POD, "box") is None


async def test_t3_a_type_that_is_set_right_lets_its_instance_start(world: World, own: Own) -> None:
    own.add_node()
    await own.edit(families=["Whole"])
    await world.instance(type=own.name, resources=SLICE)
    await blocked(world, "type", "FamilyNotOffered")
    await own.edit(families=["Whole", "Sliced"])
    instance = await world.is_in_phase("Ready")

    assert "blocker" not in instance["status"]
