"""What part of a type's unit comes with an accelerator."""

from collections.abc import Mapping
from fractions import Fraction

import attrs
import pytest

from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.api.resources import InstanceResources
from gpustack_ctrl.reconcilers.accelerators.request import AcceleratorRequest, Refusal, request
from tests.reconcilers.accelerator_types import (
    A100,
    PARTITION,
    SHARED,
    SLICE,
    WHOLE,
)


def granted(offered: InstanceTypeSpec, asked: InstanceResources) -> AcceleratorRequest:
    answer = request(offered, asked)
    assert isinstance(answer, AcceleratorRequest), answer
    return answer


UNMEASURED = attrs.evolve(A100, acceleratorMemoryMiB=None, partitionProfiles=())
SHARES: Mapping[str, tuple[InstanceTypeSpec, InstanceResources, Fraction]] = {
    "whole cards": (A100, WHOLE, Fraction(2)),
    "shared cards count as cards": (A100, SHARED, Fraction(1)),
    "percentage": (A100, SLICE, Fraction(1, 4)),
    "MiB, in whole percent": (
        A100,
        InstanceResources(acceleratorSlicedMemoryMiB=21000),
        Fraction(25, 100),
    ),
    "a sliver is one percent": (
        A100,
        InstanceResources(acceleratorSlicedMemoryMiB=1),
        Fraction(1, 100),
    ),
    "MiB, the whole card": (
        A100,
        InstanceResources(acceleratorSlicedMemoryMiB=81920),
        Fraction(1),
    ),
    "a profile said to be larger than its card is all of it": (
        attrs.evolve(A100, acceleratorMemoryMiB=1024),
        PARTITION,
        Fraction(1),
    ),
    "profile, in whole percent": (A100, PARTITION, Fraction(49, 100)),
    "profile measured by its name": (
        attrs.evolve(A100, partitionProfiles=()),
        PARTITION,
        Fraction(50, 100),
    ),
    "percentage of a card of unknown memory": (UNMEASURED, SLICE, Fraction(1, 4)),
}


@pytest.mark.parametrize(("offered", "asked", "share"), SHARES.values(), ids=SHARES)
def test_an_accelerator_brings_its_share_of_the_unit(
    offered: InstanceTypeSpec, asked: InstanceResources, share: Fraction
) -> None:
    assert share == granted(offered, asked).share


def test_a_share_that_is_not_known_says_whom_to_ask() -> None:
    share = granted(UNMEASURED, PARTITION).share
    assert (
        Refusal(
            reason="ShareUnknown",
            message="spec.resources.acceleratorPartitionedProfile: the InstanceType does not tell "
            "what part of a card this is: set spec.resources.cpu and ram, or ask an administrator "
            "to set spec.acceleratorMemoryMiB of the type",
        )
        == share
    )
