"""Whatever the sources and the kubelet say: nobody is told what another uses."""

from collections.abc import Iterator, Mapping

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpustack_ctrl.api.core import Pod
from gpustack_ctrl.metering.accelerators.attribution import Seen, attribute
from gpustack_ctrl.metering.accelerators.grants import HAMI_ALLOCATED, DeviceGrant
from gpustack_ctrl.metering.accelerators.readings import (
    Attribution,
    DeviceSample,
    EntryPoint,
    Extent,
    PodClaim,
)
from gpustack_ctrl.metering.accelerators.tenants import PodRef
from tests.metering.accelerators.node import (
    GPU,
    LOOK,
    card,
    claim,
    grant,
    instance_uid,
    partition,
    pod,
    ref,
    seen,
    slice_of,
)

NAMES = ("a", "b", "c", "stranger", "gone")
CARDS = ("GPU-0", "GPU-1", "GPU-2")
ASKS: dict[str, Mapping[str, str]] = {
    "whole": {GPU: "1"},
    "shared": {f"{GPU}.shared": "1"},
    "sliced": {GPU: "1", "nvidia.com/gpumem": "25"},
    "parted": {"nvidia.com/mig-3g.20gb": "1"},
    "none": {},
}


@attrs.frozen
class World:
    """A node, and which figures are whose: each figure is a bit of its own."""

    node: Seen
    told: Mapping[int, DeviceSample]

    def samples(self, figure: int) -> Iterator[DeviceSample]:
        """The samples whose figures make up *figure*."""
        for bit, sample in self.told.items():
            if figure & bit:
                yield sample


def bits(samples: list[DeviceSample]) -> dict[int, DeviceSample]:
    marked = (
        attrs.evolve(sample, memory_used_bytes=1 << number, memory_total_bytes=1 << 40)
        for number, sample in enumerate(samples)
    )
    return {sample.memory_used_bytes or 0: sample for sample in marked}


claims = st.none() | st.builds(
    PodClaim,
    namespace=st.sampled_from(["team", "elsewhere"]),
    name=st.sampled_from(NAMES),
    uid=st.sampled_from(["", "pod-a", "pod-b", "pod-of-before"]),
    container=st.sampled_from(["", "main", "sshd"]),
)
any_sample = st.one_of(
    st.builds(card, st.sampled_from(CARDS), claims),
    st.builds(slice_of, st.sampled_from(CARDS), claims),
    st.builds(partition, st.sampled_from(CARDS), st.integers(1, 2), claims),
)
devices = st.builds(
    lambda device, tail: device + tail,
    st.sampled_from(CARDS),
    st.sampled_from(["", "::0", "::1", "-0"]),
) | st.sampled_from(["MIG-GPU-0/1/0", "MIG-7", "nvidia0/gi1"])
any_grant = st.builds(
    DeviceGrant,
    namespace=st.just("team"),
    pod=st.sampled_from(NAMES),
    container=st.sampled_from(["main", "sshd"]),
    resource=st.sampled_from([GPU, f"{GPU}.shared", f"{GPU}.sliced", LOOK, "nvidia.com/gpumem"]),
    devices=st.lists(devices, max_size=2).map(tuple),
)


@st.composite
def any_pod(draw: st.DrawFn, name: str) -> Pod:
    annotated = draw(st.sampled_from(["", *(f"{one},NVIDIA,1,1:;" for one in CARDS)]))
    asks = ASKS[draw(st.sampled_from(sorted(ASKS)))]
    return pod(name, asks=asks, annotations={HAMI_ALLOCATED: annotated} if annotated else {})


@st.composite
def chaos(draw: st.DrawFn) -> World:
    """A node on which anybody may say anything."""
    pods = tuple(draw(any_pod(name)) for name in ("a", "b", "c"))
    told = bits(draw(st.lists(any_sample, max_size=12)))
    running = [ref(one) for one in pods if draw(st.booleans())]
    running += [PodRef("team", "stranger", "pod-stranger"), PodRef("team", "a", "pod-of-before")][
        : draw(st.integers(0, 2))
    ]
    labels = {"nvidia.com/gpu.sharing-strategy": draw(st.sampled_from(["none", "mps"]))}
    grants = tuple(draw(st.lists(any_grant, max_size=6)))
    node = seen(
        *pods,
        samples=tuple(told.values()),
        running=tuple(running),
        grants=grants,
        node_labels=labels,
    )
    return World(node, told)


def figures(attribution: Attribution) -> Iterator[tuple[str, int]]:
    """Who is told which amounts of memory."""
    for uid, readings in attribution.readings.items():
        for reading in readings:
            if reading.memory_used_bytes is not None:
                yield uid, reading.memory_used_bytes


@settings(max_examples=300, deadline=None)
@given(chaos())
def test_no_figure_is_told_to_two_or_to_whom_it_does_not_name(world: World) -> None:
    told_to: dict[DeviceSample, str] = {}
    for uid, figure in figures(attribute(world.node)):
        for sample in world.samples(figure):
            assert told_to.setdefault(sample, uid) == uid
            if sample.pod is not None:
                assert sample.pod.container != "sshd" or sample.extent is not Extent.SLICE
                assert uid in {instance_uid(sample.pod.name), instance_uid(sample.pod.uid[4:])}
            assert sample.pod is not None or sample.extent is not Extent.SLICE


@settings(max_examples=300, deadline=None)
@given(chaos())
def test_a_whole_cards_use_is_told_only_where_nobody_else_is_named(world: World) -> None:
    for uid, figure in figures(attribute(world.node)):
        for sample in world.samples(figure):
            if sample.extent is Extent.DEVICE:
                assert named(world, sample.id) <= {uid}


def named(world: World, device: str) -> set[str]:
    """The Instances that samples name as using the whole card, by the names of their Pods."""
    found = (
        sample.pod
        for sample in world.told.values()
        if sample.id == device and sample.extent is not Extent.PARTITION
    )
    return {instance_uid(pod.name) for pod in found if pod}


@settings(max_examples=300, deadline=None)
@given(chaos())
def test_what_a_reading_lacks_has_a_reason(world: World) -> None:
    """And nothing is told under the same name twice."""
    attribution = attribute(world.node)
    gaps = {(gap.manufacturer, gap.id, gap.entry_point) for gap in attribution.gaps}
    assert len(gaps) == len(attribution.gaps)
    for readings in attribution.readings.values():
        assert len({reading.id for reading in readings}) == len(readings)
        for reading in readings:
            if reading.memory_used_bytes is None:
                assert (reading.manufacturer, reading.id, EntryPoint.MEMORY) in gaps


@st.composite
def true_world(draw: st.DrawFn) -> tuple[Seen, dict[tuple[str, str], int]]:
    """A node on which all say the truth, but not all of it; and who uses how much of what."""
    use: dict[tuple[str, str], int] = {}
    samples: list[DeviceSample] = []
    grants: list[DeviceGrant] = []
    pods: dict[str, Pod] = {}
    by_label, by_kubelet = draw(st.sampled_from([(True, True), (True, False), (False, True)]))
    for device in CARDS:
        family = draw(st.sampled_from(sorted(ASKS)))
        users = draw(st.integers(1, 1 if family == "whole" else 3)) if family != "none" else 0
        for number in range(users):
            name = f"{family}-{device.lower()}-{number}"
            pods[name] = pod(name, asks=ASKS[family])
            use[name, device] = draw(st.integers(0, 1000))
            named = claim(name) if by_label else None
            if family == "sliced":
                samples.append(slice_of(device, claim(name), used=use[name, device]))
            if family == "parted":
                own = partition(device, number, named)
                samples.append(attrs.evolve(own, memory_used_bytes=use[name, device]))
            if by_kubelet:
                grants.append(_granted(family, name, device, number))
                grants.append(grant(name, device, resource=LOOK, container="sshd"))
        whole = sum(use[name, at] for name, at in use if at == device)
        # dcgm-exporter names one of the Pods on a card, whoever else is there.
        last = claim(f"{family}-{device.lower()}-{users - 1}") if by_label and users else None
        samples.append(card(device, last, memory_used_bytes=whole))
    node = seen(*pods.values(), samples=tuple(samples), grants=tuple(grants))
    return node, {(instance_uid(name), device): used for (name, device), used in use.items()}


def _granted(family: str, name: str, device: str, number: int) -> DeviceGrant:
    ids = {
        "whole": (device, GPU),
        "shared": (f"{device}::{number}", f"{GPU}.shared"),
        "sliced": (f"{device}-{number}", GPU),
        "parted": (f"MIG-{device}/{number}/0", "nvidia.com/mig-3g.20gb"),
    }
    held, resource = ids[family]
    return grant(name, held, resource=resource)


@settings(max_examples=300, deadline=None)
@given(true_world())
def test_each_is_told_its_own_use_or_nothing(
    world: tuple[Seen, dict[tuple[str, str], int]],
) -> None:
    """And the sum over the Instances on a card is never more than the card's."""
    node, use = world
    told: dict[str, int] = {}
    for uid, readings in attribute(node).readings.items():
        for reading in readings:
            if reading.memory_used_bytes is not None:
                device = reading.id.partition("/")[0]
                assert use[uid, device] == reading.memory_used_bytes
                told[device] = told.get(device, 0) + reading.memory_used_bytes
    for sample in node.samples:
        if sample.extent is Extent.DEVICE:
            assert told.get(sample.id, 0) <= (sample.memory_used_bytes or 0)


@pytest.mark.parametrize("family", ["whole", "sliced", "parted"])
def test_the_truth_is_told_where_it_can_be(family: str) -> None:
    """The properties above do not hold by telling nothing."""
    names = ("x",) if family == "whole" else ("x", "y")
    samples = tuple(_sample(family, name, number) for number, name in enumerate(names, 1))
    node = seen(*(pod(name, asks=ASKS[family]) for name in names), samples=samples)

    assert len(names) == len(tuple(figures(attribute(node))))


def _sample(family: str, name: str, number: int) -> DeviceSample:
    if family == "parted":
        return partition("GPU-0", number, claim(name))
    return (card if family == "whole" else slice_of)("GPU-0", claim(name))
