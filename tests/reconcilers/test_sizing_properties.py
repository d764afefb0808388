"""What holds of all sizes: requests within limits, explicit values kept, more for more."""

import attrs
from hypothesis import example, given
from hypothesis import strategies as st

from gpustack_ctrl.api import quantity
from gpustack_ctrl.api.core import ResourceRequirements
from gpustack_ctrl.api.instance_type import InstanceTypeSpec, UnitResources
from gpustack_ctrl.api.resources import InstanceResources
from gpustack_ctrl.reconcilers.accelerators.request import Refusal, request
from gpustack_ctrl.reconcilers.accelerators.sizing import size
from tests.reconcilers.resource_strategies import (
    consistent_wishes,
    cpus,
    memories,
    offers,
    unhurried,
    wishes,
)

SIZES = ("cpu", "memory", "ephemeral-storage")
TINY = InstanceTypeSpec(
    manufacturer="nvidia", acceleratorMemoryMiB=81920, unitResources=UnitResources(ram="1000001")
)
explicit = {"cpu": "cpu", "ram": "memory", "localStorage": "ephemeral-storage"}


def _sized(
    offered: InstanceTypeSpec, asked: InstanceResources, *, overcommit: bool
) -> ResourceRequirements | None:
    granted = request(offered, asked)
    if isinstance(granted, Refusal):
        return None
    answer = size(offered, asked, granted, overcommit=overcommit)
    return None if isinstance(answer, Refusal) else answer


@unhurried
@given(offered=offers, asked=wishes | consistent_wishes, overcommit=st.booleans())
def test_a_request_is_above_nothing_and_within_its_limit(
    offered: InstanceTypeSpec, asked: InstanceResources, *, overcommit: bool
) -> None:
    answer = _sized(offered, asked, overcommit=overcommit)
    if answer is None:
        return
    assert set(answer.limits) == set(answer.requests)
    for name, limit in answer.limits.items():
        assert 0 < quantity.parse(answer.requests[name]) <= quantity.parse(limit)


@unhurried
@given(offered=offers, cpu=cpus, ram=memories, storage=memories, overcommit=st.booleans())
def test_explicit_values_hold_as_written(
    offered: InstanceTypeSpec, cpu: int | str, ram: str, storage: str, *, overcommit: bool
) -> None:
    asked = InstanceResources(accelerator="0", cpu=cpu, ram=ram, localStorage=storage)
    answer = _sized(offered, asked, overcommit=overcommit)
    assert answer is not None
    for field, name in explicit.items():
        assert quantity.parse(getattr(asked, field)) == quantity.parse(answer.limits[name])


@unhurried
@given(
    offered=offers,
    few=st.integers(1, 16),
    more=st.integers(0, 16),
    shared=st.booleans(),
    overcommit=st.booleans(),
)
def test_more_cards_never_bring_less(
    offered: InstanceTypeSpec, few: int, more: int, *, shared: bool, overcommit: bool
) -> None:
    asked = InstanceResources(accelerator=str(few), acceleratorShared=shared)
    less = _sized(offered, asked, overcommit=overcommit)
    larger = attrs.evolve(asked, accelerator=str(few + more))
    most = _sized(offered, larger, overcommit=overcommit)
    _demand_no_less(less, most)


@unhurried
@example(offered=TINY, few=1, more=100, overcommit=False)
@given(offered=offers, few=st.integers(1, 100), more=st.integers(1, 100), overcommit=st.booleans())
def test_a_larger_slice_never_brings_less(
    offered: InstanceTypeSpec, few: int, more: int, *, overcommit: bool
) -> None:
    small, large = sorted((few, more))
    less, most = (
        _sized(
            offered,
            InstanceResources(acceleratorSlicedMemoryPercentage=percentage),
            overcommit=overcommit,
        )
        for percentage in (small, large)
    )
    _demand_no_less(less, most)


def _demand_no_less(less: ResourceRequirements | None, most: ResourceRequirements | None) -> None:
    if less is None or most is None:
        return
    for name in SIZES:
        assert quantity.parse(less.limits[name]) <= quantity.parse(most.limits[name])
        assert quantity.parse(less.requests[name]) <= quantity.parse(most.requests[name])


@unhurried
@given(offered=offers, asked=wishes | consistent_wishes, overcommit=st.booleans())
def test_quantities_are_canonical(
    offered: InstanceTypeSpec, asked: InstanceResources, *, overcommit: bool
) -> None:
    answer = _sized(offered, asked, overcommit=overcommit)
    if answer is None:
        return
    for held in (answer.limits, answer.requests):
        assert quantity.milli(quantity.parse(held["cpu"])) == held["cpu"]
        for name in ("memory", "ephemeral-storage"):
            assert quantity.binary(quantity.parse(held[name])) == held[name]
