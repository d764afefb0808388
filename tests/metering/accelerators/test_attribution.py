"""Which Instance is told which figure, and what is told of those that nobody is."""

import attrs
import pytest

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import PodStatus
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.metering.accelerators.attribution import MOST_CARDS, Seen, attribute
from gpustack_ctrl.metering.accelerators.dcgm import DcgmAdapter
from gpustack_ctrl.metering.accelerators.grants import ALLOCATED, HAMI_ALLOCATED, Makers
from gpustack_ctrl.metering.accelerators.hami import HamiAdapter
from gpustack_ctrl.metering.accelerators.readings import (
    AcceleratorReading,
    EntryPoint,
    Extent,
    Mode,
    PodClaim,
    Reason,
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
from tests.metering.accelerators.pages import CARD_A, DCGM, DCGM_MIG, HAMI

WHOLE = {GPU: "1"}
SHARED = {f"{GPU}.shared": "1"}
SLICED = {GPU: "1", "nvidia.com/gpumem": "25", "nvidia.com/gpucores": "25"}
PARTED = {"nvidia.com/mig-3g.20gb": "1"}
BOX = instance_uid("box")


def reading(node: Seen, name: str = "box") -> AcceleratorReading:
    """The one reading of the Instance *name*."""
    (only,) = attribute(node).readings[instance_uid(name)]
    return only


def reasons(node: Seen) -> dict[tuple[str, EntryPoint], Reason]:
    return {(gap.id, gap.entry_point): gap.reason for gap in attribute(node).gaps}


def both(device: str, reason: Reason) -> dict[tuple[str, EntryPoint], Reason]:
    return {(device, entry_point): reason for entry_point in EntryPoint}


def test_a_whole_card_is_told_to_who_has_it_by_the_label() -> None:
    """(1) The sample names the Pod."""
    node = seen(pod("box", asks=WHOLE), samples=(card("GPU-a", claim("box")),))

    assert AcceleratorReading(
        id="GPU-a",
        index="0",
        manufacturer="nvidia",
        mode=Mode.EXCLUSIVE,
        memory_total_bytes=100,
        memory_used_bytes=40,
        cores_utilization=0.5,
        temperature_celsius=41.0,
        power_watts=120.0,
        unhealthy=False,
    ) == reading(node)
    assert () == attribute(node).gaps


def test_a_whole_card_is_told_to_who_has_it_by_the_kubelet() -> None:
    """(2) The sample names no Pod, the kubelet the device."""
    node = seen(pod("box", asks=WHOLE), samples=(card("GPU-a"),), grants=(grant("box", "GPU-a"),))

    assert 40 == reading(node).memory_used_bytes


@pytest.mark.parametrize(
    "annotation",
    [
        {
            ALLOCATED: '{"main": {"devices": {"groups": [{"id": "g", "manufacturer": "nvidia", '
            '"accelerators": [{"id": "GPU-a"}]}]}}}'
        },
        {HAMI_ALLOCATED: "GPU-a,NVIDIA,100,100:;"},
        {HAMI_ALLOCATED: ";GPU-a,NVIDIA,100,100:;;"},
    ],
)
def test_a_whole_card_is_told_to_who_has_it_by_the_annotation(annotation: dict[str, str]) -> None:
    """(3) Neither names it; or the kubelet has an id that no source has heard of."""
    box = pod("box", asks=WHOLE, annotations=annotation)

    for grants in ((), (grant("box", "GPU-a-3"),)):
        assert 40 == reading(seen(box, samples=(card("GPU-a"),), grants=grants)).memory_used_bytes


def test_the_kubelet_is_believed_before_an_annotation() -> None:
    """Who may edit a Pod cannot ask for the figures of another card."""
    box = pod("box", asks=WHOLE, annotations={HAMI_ALLOCATED: "GPU-b,NVIDIA,1,1:;"})
    node = seen(box, samples=(card("GPU-a"), card("GPU-b")), grants=(grant("box", "GPU-a"),))

    assert "GPU-a" == reading(node).id


@pytest.mark.parametrize("text", ["{", "[]", '{"main": 7}', '{"main": {"devices": {"groups": 1}}}'])
def test_a_broken_annotation_is_none(text: str) -> None:
    box = pod("box", asks=WHOLE, annotations={ALLOCATED: text, HAMI_ALLOCATED: "a,b:;c,d:;"})

    assert {} == attribute(seen(box, samples=(card("GPU-a"),))).readings


def test_the_sidecars_look_is_no_use() -> None:
    """What sshd may see is neither a second grant nor a second holder."""
    grants = (
        grant("box", "GPU-a"),
        grant("box", "GPU-a", resource=LOOK, container="sshd"),
    )
    node = seen(pod("box", asks=WHOLE), samples=(card("GPU-a"),), grants=grants)
    alone = seen(pod("box", asks=WHOLE), samples=(card("GPU-a"),), grants=grants[1:])

    assert 40 == reading(node).memory_used_bytes
    assert {} == attribute(alone).readings


def test_a_source_that_names_the_sidecar_names_its_pod() -> None:
    sample = card("GPU-a", claim("box", container="sshd"))
    box, other = pod("box", asks=WHOLE), pod("other", asks=WHOLE)

    assert {} == attribute(seen(box, samples=(sample,))).readings
    assert (
        40
        == reading(seen(box, samples=(sample,), grants=(grant("box", "GPU-a"),))).memory_used_bytes
    )
    node = seen(box, other, samples=(sample,), grants=(grant("other", "GPU-a"),))
    assert reading(node, "other").memory_used_bytes is None


def test_shares_are_told_facts_but_no_use() -> None:
    """G4: two Instances on one card: neither is told what both of them use together."""
    pods = (pod("box", asks=SHARED), pod("other", asks=SHARED))
    grants = tuple(
        grant(name, f"GPU-a::{number}", resource=f"{GPU}.shared")
        for number, name in enumerate(("box", "other"))
    )
    for claimed in (None, claim("box")):
        node = seen(*pods, samples=(card("GPU-a", claimed, unhealthy=True),), grants=grants)
        for name in ("box", "other"):
            assert AcceleratorReading(
                id="GPU-a",
                index="0",
                manufacturer="nvidia",
                mode=Mode.SHARED,
                temperature_celsius=41.0,
                unhealthy=True,
            ) == reading(node, name)
        assert both("GPU-a", Reason.MEDIATED) == reasons(node)


@pytest.mark.parametrize(
    "hint",
    [
        {"grants": (grant("box", "GPU-a::0"),)},
        {"node_labels": {"nvidia.com/gpu.sharing-strategy": "time-slicing"}},
        {"grants": (grant("box", "GPU-a"), grant("stranger", "GPU-a"))},
        {"samples": (card("GPU-a", claim("box")), card("GPU-a", claim("stranger")))},
        {"samples": (card("GPU-a", claim("box")), slice_of("GPU-a", claim("gone")))},
    ],
)
def test_any_hint_of_somebody_else_withholds_a_cards_use(hint: dict[str, object]) -> None:
    """Also where the share of a time-sliced card goes by the name of a whole one."""
    box = pod("box", asks=WHOLE)
    running = (ref(box), PodRef("team", "stranger", "pod-stranger"))
    rest = {"samples": (card("GPU-a", claim("box")),), "running": running} | hint

    told = reading(seen(box, **rest))

    assert (None, None, None) == (told.memory_used_bytes, told.power_watts, told.cores_utilization)
    assert 41.0 == told.temperature_celsius


def test_a_card_that_two_are_named_for_is_told_to_neither() -> None:
    """As dcgm-exporter does for time-sliced cards that keep the name of whole ones."""
    names_of_both = ("box", "other")
    node = seen(
        *(pod(name, asks=WHOLE) for name in names_of_both),
        samples=tuple(card("GPU-a", claim(name)) for name in names_of_both),
    )

    assert {None} == {reading(node, name).memory_used_bytes for name in names_of_both}


@pytest.mark.parametrize(
    "only",
    [
        {"samples": (slice_of("GPU-a", claim("box", container="sshd")),)},
        {"samples": (card("GPU-a"),), "grants": (grant("box", "GPU-a", container="sshd"),)},
    ],
)
def test_what_another_container_than_main_has_is_not_told(only: dict[str, object]) -> None:
    box = pod("box", asks=WHOLE)
    rest = {"samples": (), "grants": ()} | only

    assert {} == attribute(seen(box, **rest)).readings
    told = reading(seen(box, **rest | {"grants": (*seen(**rest).grants, grant("box", "GPU-a"))}))
    assert told.memory_used_bytes is None


def test_a_slice_is_told_its_own_share_and_the_facts_of_the_card() -> None:
    pods = (pod("box", asks=SLICED), pod("other", asks=SLICED))
    samples = (
        card("GPU-a"),
        slice_of("GPU-a", claim("box"), used=10),
        slice_of("GPU-a", claim("other"), used=30),
    )
    grants = (grant("box", "GPU-a-0"), grant("other", "GPU-a-1"))
    node = seen(*pods, samples=samples, grants=grants)

    told = {name: reading(node, name) for name in ("box", "other")}
    assert (10, 30) == (told["box"].memory_used_bytes, told["other"].memory_used_bytes)
    assert {Mode.SLICED} == {one.mode for one in told.values()}
    assert {25} == {one.memory_total_bytes for one in told.values()}
    assert {(41.0, None)} == {(one.temperature_celsius, one.power_watts) for one in told.values()}
    assert {} == reasons(node)


def test_a_slice_without_figures_is_told_no_neighbours() -> None:
    pods = (pod("box", asks=SLICED), pod("other", asks=SLICED))
    samples = (card("GPU-a", claim("box")), slice_of("GPU-a", claim("other")))
    node = seen(*pods, samples=samples)

    assert (None, None) == (reading(node).memory_used_bytes, reading(node).memory_total_bytes)
    assert both("GPU-a", Reason.MEDIATED) == reasons(node)


def test_two_slices_of_one_card_are_one_reading() -> None:
    samples = tuple(
        attrs.evolve(slice_of("GPU-a", claim("box")), partition=number) for number in ("0", "1")
    )
    told = reading(seen(pod("box", asks=SLICED), samples=samples))

    assert (50, 20, 0.5) == (
        told.memory_total_bytes,
        told.memory_used_bytes,
        told.cores_utilization,
    )


def test_a_slice_of_nobody_is_a_gap() -> None:
    node = seen(samples=(slice_of("GPU-a", None),))

    assert both("GPU-a", Reason.NO_POD_COMPONENT) == reasons(node)


def test_a_partition_is_told_its_own_total_and_not_the_cards_power() -> None:
    node = seen(
        pod("box", asks=PARTED),
        samples=(partition("GPU-a", 1, claim("box")), partition("GPU-a", 2), card("GPU-a")),
        grants=(grant("box", "MIG-0000", resource="nvidia.com/mig-3g.20gb"),),
    )

    told = reading(node)
    assert ("GPU-a/1", Mode.PARTITIONED) == (told.id, told.mode)
    assert (20, 1, None) == (told.memory_total_bytes, told.memory_used_bytes, told.power_watts)
    assert 41.0 == told.temperature_celsius


@pytest.mark.parametrize("device", ["MIG-GPU-a/1/0", "MIG-GPU-a/1"])
def test_a_partition_is_found_by_the_kubelets_old_ids(device: str) -> None:
    grants = (grant("box", device, resource="nvidia.com/mig-3g.20gb"),)
    node = seen(pod("box", asks=PARTED), samples=(partition("GPU-a", 1),), grants=grants)

    assert 1 == reading(node).memory_used_bytes


def test_a_partition_under_the_name_of_a_whole_card_is_one() -> None:
    """NVIDIA's strategy `single`."""
    node = seen(pod("box", asks=WHOLE), samples=(partition("GPU-a", 1, claim("box")),))

    assert (Mode.PARTITIONED, 1) == (reading(node).mode, reading(node).memory_used_bytes)


@pytest.mark.parametrize("asks", [PARTED, WHOLE])
def test_who_has_a_part_of_a_card_is_not_told_the_cards_use(asks: dict[str, str]) -> None:
    """Also where the source names the Pod at the card itself."""
    whole = card("GPU-a", claim("box"))
    box = pod("box", asks=asks)

    told = reading(seen(box, samples=(whole, partition("GPU-a", 1, claim("box")))))
    unnamed = reading(seen(box, samples=(whole, partition("GPU-a", 1))))

    assert ("GPU-a/1", 1) == (told.id, told.memory_used_bytes)
    assert ("GPU-a", None) == (unnamed.id, unnamed.memory_used_bytes)


@pytest.mark.parametrize(
    ("claimed", "reason"),
    [
        (claim("box", uid="pod-of-before"), Reason.EXITED),
        (claim("gone"), Reason.EXITED),
        (claim("stranger"), Reason.UNKNOWN_POD),
        (claim("stranger", uid="pod-stranger"), Reason.UNKNOWN_POD),
        (PodClaim(namespace="elsewhere", name="box", uid="pod-box"), Reason.UNKNOWN_POD),
    ],
)
def test_a_claim_that_fails_is_told_to_nobody(claimed: PodClaim, reason: Reason) -> None:
    """Also not to the Pod that the kubelet knows: the sample may be of the one before."""
    box = pod("box", asks=WHOLE)
    node = seen(
        box,
        running=(ref(box), PodRef("team", "stranger", "pod-stranger")),
        samples=(card("GPU-a", claimed),),
        grants=(grant("box", "GPU-a"),),
    )

    assert reading(node).memory_used_bytes is None
    assert both("GPU-a", reason) == reasons(node)


def test_while_an_old_pod_of_the_same_name_ends_names_say_nothing() -> None:
    box = pod("box", asks=WHOLE)
    node = seen(
        box,
        running=(PodRef("team", "box", "pod-of-before"), ref(box)),
        samples=(card("GPU-a", claim("box")), card("GPU-b", claim("box", uid="pod-box"))),
    )

    assert "GPU-b" == reading(node).id, "the UID still tells which is which"
    assert both("GPU-a", Reason.EXITED) == reasons(node)


@pytest.mark.parametrize(
    "spoil",
    [
        {"instances": {}},
        {"instances": {BOX: ObjectKey("team", "another")}},
        {"running": ()},
        {"running": (), "samples": (card("GPU-a", claim("box", uid="pod-box")),)},
        {"pods": (pod("box", asks=WHOLE, labels={names.PART_OF: BOX}),)},
        {"pods": (attrs.evolve(pod("box", asks=WHOLE), status=PodStatus(phase="Failed")),)},
    ],
)
def test_only_a_running_pod_of_its_instance_is_told(spoil: dict[str, object]) -> None:
    node = seen(
        pod("box", asks=WHOLE),
        **({"samples": (card("GPU-a", claim("box")),), "grants": (grant("box", "GPU-a"),)} | spoil),
    )

    assert {} == attribute(node).readings


def test_ids_are_of_one_manufacturer() -> None:
    """Card 0 of one is not card 0 of another."""
    radeon = attrs.evolve(card("0", memory_used_bytes=7), manufacturer="amd")
    box, other = pod("box", asks=WHOLE), pod("other", asks={"amd.com/gpu": "1"})
    grants = (grant("box", "0"), grant("other", "0", resource="amd.com/gpu"))

    both_told = seen(box, other, samples=(card("0"), radeon), grants=grants)
    one_told = seen(box, other, samples=(radeon,), grants=grants)

    assert (40, 7) == (
        reading(both_told).memory_used_bytes,
        reading(both_told, "other").memory_used_bytes,
    )
    assert (None, 7) == (
        reading(one_told).memory_used_bytes,
        reading(one_told, "other").memory_used_bytes,
    )


def test_what_the_kubelet_says_of_pods_that_ended_is_old() -> None:
    """Its answer may still list them, while the card has gone on to another."""
    node = seen(
        pod("box", asks=WHOLE),
        samples=(card("GPU-a"),),
        grants=(grant("job", "GPU-a"), grant("box", "GPU-a")),
    )

    assert 40 == reading(node).memory_used_bytes


@pytest.mark.parametrize("silence", [Reason.UNSUPPORTED, Reason.TRUNCATED, Reason.PERMISSION])
def test_a_card_that_no_source_tells_of_is_told_with_the_reason(silence: Reason) -> None:
    node = seen(pod("box", asks=WHOLE), grants=(grant("box", "GPU-a"),), silence=silence)

    assert AcceleratorReading(id="GPU-a", manufacturer="nvidia", mode=Mode.EXCLUSIVE) == reading(
        node
    )
    assert both("GPU-a", silence) == reasons(node)


def test_a_figure_that_the_source_lacks_is_unsupported() -> None:
    node = seen(
        pod("box", asks=WHOLE), samples=(card("GPU-a", claim("box"), cores_utilization=None),)
    )

    assert {("GPU-a", EntryPoint.CORES): Reason.UNSUPPORTED} == reasons(node)


def test_a_free_card_is_no_gap() -> None:
    assert {} == reasons(seen(samples=(card("GPU-a"),)))


def test_more_cards_than_we_follow_are_one_gap() -> None:
    cards = tuple(card(f"GPU-{number:04}", claim("box")) for number in range(MOST_CARDS + 1))
    node = seen(pod("box", asks={GPU: "257"}), samples=cards)

    assert MOST_CARDS == len(attribute(node).readings[BOX])
    assert both("", Reason.BOUNDED) == reasons(node)


def test_two_sources_complete_each_other() -> None:
    """HAMi tells the use of a card that it gives out whole, dcgm-exporter its health."""
    asks = {GPU: "1", "nvidia.com/gpumem-percentage": "100", "nvidia.com/gpucores": "100"}
    samples = (card("GPU-a"), slice_of("GPU-a", claim("box"), used=39))
    told = reading(seen(pod("box", asks=asks), samples=samples))

    assert (Mode.EXCLUSIVE, 39, False) == (told.mode, told.memory_used_bytes, told.unhealthy)


def test_the_pages_of_real_exporters() -> None:
    whole, sliced, parted = (pod("box", asks=asks) for asks in (WHOLE, SLICED, PARTED))

    by_dcgm = reading(seen(whole, samples=DcgmAdapter().read(DCGM)))
    by_hami = reading(seen(sliced, samples=HamiAdapter().read(HAMI)))
    by_mig = reading(seen(parted, samples=DcgmAdapter().read(DCGM_MIG)))

    assert (CARD_A, 0.92, 122.855) == (by_dcgm.id, by_dcgm.cores_utilization, by_dcgm.power_watts)
    assert (CARD_A, 0.25, "0") == (by_hami.id, by_hami.cores_utilization, by_hami.index)
    assert (f"{CARD_A}/1", 0.995687) == (by_mig.id, by_mig.cores_utilization)


def test_an_instance_type_may_name_the_resource() -> None:
    makers = Makers(named={"example.com/card": "nvidia"})
    node = seen(
        pod("box", asks={"example.com/card": "1"}),
        samples=(card("GPU-a"),),
        grants=(grant("box", "GPU-a", resource="example.com/card"),),
    )

    assert {} == attribute(node).readings
    assert 40 == attribute(node, makers).readings[BOX][0].memory_used_bytes


@pytest.mark.parametrize(
    ("asks", "mode"),
    [
        (WHOLE, Mode.EXCLUSIVE),
        (SHARED, Mode.SHARED),
        (SLICED, Mode.SLICED),
        (PARTED, Mode.PARTITIONED),
        ({f"{GPU}.sliced": "1", f"{GPU}.sliced.memory-percentage": "25"}, Mode.SLICED),
        ({f"{GPU}.partitioned": "1"}, Mode.PARTITIONED),
        ({"cambricon.com/vmlu": "1", "cambricon.com/mlu.smlu.vmemory": "4"}, Mode.SLICED),
        ({"metax-tech.com/sgpu": "1", "metax-tech.com/vcore": "25"}, Mode.SLICED),
    ],
)
def test_the_mode_is_what_main_asks_for(asks: dict[str, str], mode: Mode) -> None:
    main = pod("box", asks=asks).container(names.MAIN)
    given = Makers().given_to(main) if main else None

    assert given is not None
    assert mode is given.mode


def test_units_and_looks_are_no_devices() -> None:
    makers = Makers()
    for resource in (LOOK, f"{GPU}.sliced.units", f"{GPU}.sliced.memory-mib", "nvidia.com/gpumem"):
        assert makers.given(resource) is None


def test_extents_have_names_for_a_mapping() -> None:
    assert ["device", "slice", "partition"] == [str(one) for one in Extent]
