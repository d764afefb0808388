"""What holds of every type and every wish, however odd."""

from collections.abc import Callable, Mapping

from hypothesis import given

from gpustack_ctrl.api.instance_type import Dialect, InstanceTypeSpec
from gpustack_ctrl.api.manufacturers import MANUFACTURERS
from gpustack_ctrl.api.resources import Family, InstanceResources
from gpustack_ctrl.reconcilers.accelerators.request import AcceleratorRequest, Refusal, request
from tests.reconcilers.resource_strategies import consistent_wishes, offers, unhurried, wishes


def _gpustack(name: str, base: str) -> Family:
    suffixes = {".shared": Family.SHARED, ".sliced": Family.SLICED}
    suffixes[".partitioned"] = Family.PARTITIONED
    rest = name.removeprefix(base)
    found = [family for suffix, family in suffixes.items() if rest.startswith(suffix)]
    return found[0] if found else Family.WHOLE


FORMS: Mapping[Family, Callable[[set[str], str], bool]] = {
    Family.WHOLE: lambda names, base: {base} == names,
    Family.SHARED: lambda names, base: {f"{base}.shared"} == names,
    Family.SLICED: lambda names, base: (
        {f"{base}.sliced", f"{base}.sliced.cores-percentage"} < names
        and len(names) == 3
        and 1 == len({f"{base}.sliced.memory-mib", f"{base}.sliced.memory-percentage"} & names)
    ),
    Family.PARTITIONED: lambda names, base: f"{base}.partitioned" in names and len(names) == 2,
}


@unhurried
@given(offered=offers, asked=wishes | consistent_wishes)
def test_i2_under_gpustack_main_asks_by_the_keys_of_exactly_one_family(
    offered: InstanceTypeSpec, asked: InstanceResources
) -> None:
    answer = request(offered, asked)
    if isinstance(answer, Refusal) or answer.family is None:
        return
    if offered.dialect is not Dialect.GPUSTACK:
        return
    base = offered.resourceName or MANUFACTURERS[offered.manufacturer].resource
    assert {answer.family} == {_gpustack(name, base) for name in answer.main}
    assert FORMS[answer.family](set(answer.main), base)


@unhurried
@given(offered=offers, asked=wishes | consistent_wishes)
def test_i2_a_card_is_granted_or_refused_and_never_half_of_each(
    offered: InstanceTypeSpec, asked: InstanceResources
) -> None:
    answer = request(offered, asked)
    if isinstance(answer, Refusal):
        assert answer.reason.isalnum()
        assert ":" in answer.message
        return
    assert bool(answer.count) == (answer.family is not None) == bool(answer.main)
    assert all(int(amount) >= 1 for amount in answer.main.values())
    assert not offered.families or answer.family in (None, *offered.families)


@unhurried
@given(offered=offers, asked=wishes | consistent_wishes)
def test_i3_the_sidecar_never_holds_an_accelerator(
    offered: InstanceTypeSpec, asked: InstanceResources
) -> None:
    answer = request(offered, asked)
    if isinstance(answer, Refusal):
        return
    visible = {f"device.gpustack.ai/{offered.manufacturer}.visibility": str(answer.count)}
    shows = answer.count > 0 and offered.dialect is Dialect.GPUSTACK
    assert (visible if shows else {}) == answer.sidecar
    assert not set(answer.main) & set(answer.sidecar)
    assert not [name for name in answer.main if name.startswith("device.gpustack.ai/")]


@unhurried
@given(offered=offers, asked=wishes)
def test_i2_a_contradiction_is_never_granted(
    offered: InstanceTypeSpec, asked: InstanceResources
) -> None:
    sliced = (asked.acceleratorSlicedMemoryPercentage, asked.acceleratorSlicedMemoryMiB)
    ways = (asked.acceleratorShared, *sliced, asked.acceleratorPartitionedProfile)
    alone = asked.acceleratorSlicedCoresPercentage and not any(sliced)
    if sum(map(bool, ways)) > 1 or alone:
        assert isinstance(request(offered, asked), Refusal)


@unhurried
@given(offered=offers, asked=consistent_wishes)
def test_an_answer_depends_on_the_type_and_the_wish_alone(
    offered: InstanceTypeSpec, asked: InstanceResources
) -> None:
    assert request(offered, asked) == request(offered, asked)


@unhurried
@given(offered=offers)
def test_i2_zero_cards_are_granted_on_every_type(offered: InstanceTypeSpec) -> None:
    assert AcceleratorRequest() == request(offered, InstanceResources(accelerator="0"))
