"""What the three adapters read from the pages of real exporters, and from spoilt ones."""

from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.metering.accelerators.adapter import Adapter, UnreadableError
from gpustack_ctrl.metering.accelerators.dcgm import DcgmAdapter
from gpustack_ctrl.metering.accelerators.hami import HamiAdapter
from gpustack_ctrl.metering.accelerators.mapping import (
    MappedAdapter,
    MappingError,
    parse_mapping,
)
from gpustack_ctrl.metering.accelerators.readings import (
    DeviceSample,
    Extent,
    PodClaim,
    Reason,
)
from tests.metering.accelerators.pages import (
    CARD_A,
    CARD_B,
    DCGM,
    DCGM_MIG,
    HAMI,
    HAMI_LEGACY,
    MAPPING,
    NPU,
    dcgm_card,
)

MIB = 1024 * 1024
GIB = 1024 * MIB
BOX = PodClaim(namespace="team", name="box", container="main")
OTHER = PodClaim(namespace="team", name="other", container="main")

DCGM_READER, HAMI_READER = DcgmAdapter(), HamiAdapter()
MAPPED = MappedAdapter(parse_mapping(MAPPING, "npu.yaml"))
PAGES: list[tuple[Adapter, str]] = [
    (DCGM_READER, DCGM),
    (DCGM_READER, DCGM_MIG),
    (HAMI_READER, HAMI),
    (HAMI_READER, HAMI_LEGACY),
    (MAPPED, NPU),
]


def test_dcgm_tells_a_card_and_its_pod() -> None:
    """MiB become bytes, percent a ratio; what the card does not know stays unknown."""
    used, free = DCGM_READER.read(DCGM)

    assert (
        DeviceSample(
            id=CARD_A,
            index="0",
            manufacturer="nvidia",
            memory_total_bytes=40000 * MIB,
            memory_used_bytes=4000 * MIB,
            cores_utilization=0.92,
            temperature_celsius=41,
            power_watts=122.855,
            unhealthy=False,
            pod=BOX,
        )
        == used
    )
    assert (CARD_B, None, None) == (free.id, free.pod, free.cores_utilization)
    assert (0, True) == (free.memory_used_bytes, free.unhealthy), "nothing used, off the bus"


def test_dcgm_tells_a_partition_its_own_figures() -> None:
    first, second = DCGM_READER.read(DCGM_MIG)

    assert (Extent.PARTITION, "1", BOX) == (first.extent, first.partition, first.pod)
    assert (19384 * MIB, 4384 * MIB) == (first.memory_total_bytes, first.memory_used_bytes)
    assert 0.995687 == first.cores_utilization
    assert (Extent.PARTITION, "2", None) == (second.extent, second.partition, second.pod)


@pytest.mark.parametrize(
    ("labels", "claim"),
    [
        ('namespace="team",pod="box",container="main"', BOX),
        ('pod_namespace="team",pod_name="box",container_name="main"', BOX),
        (
            'exported_namespace="team",exported_pod="box",exported_container="main",pod="x"',
            BOX,
        ),
        (
            'namespace="team",pod="box",container="main",pod_uid="u1"',
            PodClaim(namespace="team", name="box", uid="u1", container="main"),
        ),
        ('exported_pod="",exported_namespace="",pod="dcgm-exporter-x",namespace="gpu"', None),
        ('namespace="",pod="",container=""', None),
    ],
)
def test_dcgm_names_the_pod_in_any_of_its_ways(labels: str, claim: PodClaim | None) -> None:
    (sample,) = DCGM_READER.read(f'DCGM_FI_DEV_FB_USED{{gpu="0",UUID="{CARD_A}",{labels}}} 1\n')

    assert claim == sample.pod


@pytest.mark.parametrize(
    ("line", "unhealthy"),
    [
        ("DCGM_FI_DEV_XID_ERRORS{%s} 0", False),
        ("DCGM_FI_DEV_XID_ERRORS{%s} 79", True),
        ("DCGM_FI_DEV_XID_ERRORS{%s} 31", False),  # A program's fault, not the card's.
        ("DCGM_FI_DEV_ROW_REMAP_FAILURE{%s} 1", True),
        ('DCGM_EXP_GPU_HEALTH_STATUS{%s,health_watch="PCIE"} 10', False),
        ("DCGM_EXP_GPU_HEALTH_STATUS{%s} 0\nDCGM_EXP_GPU_HEALTH_STATUS{%s} 20", True),
        ("DCGM_FI_DEV_GPU_TEMP{%s} 40", None),
    ],
)
def test_dcgm_health(line: str, unhealthy: bool | None) -> None:  # noqa: FBT001
    (sample,) = DCGM_READER.read(line.replace("%s", dcgm_card(0, CARD_A)) + "\n")

    assert unhealthy is sample.unhealthy


def test_hami_tells_each_container_its_own_slice() -> None:
    by_pod = {sample.pod: sample for sample in HAMI_READER.read(HAMI)}

    own, card = by_pod[BOX], by_pod[None]
    assert (Extent.SLICE, CARD_A, "nvidia") == (own.extent, own.id, own.manufacturer)
    assert (10 * GIB, GIB, 0.25) == (
        own.memory_total_bytes,
        own.memory_used_bytes,
        own.cores_utilization,
    )
    assert by_pod[OTHER].memory_total_bytes is None, "a limit of 0 is none"
    assert (Extent.DEVICE, "0", 3 * GIB) == (card.extent, card.index, card.memory_used_bytes)


def test_hami_is_read_under_its_old_names_too() -> None:
    by_pod = {sample.pod: sample for sample in HAMI_READER.read(HAMI_LEGACY)}

    assert (10 * GIB, GIB, 0.25) == (
        by_pod[BOX].memory_total_bytes,
        by_pod[BOX].memory_used_bytes,
        by_pod[BOX].cores_utilization,
    )
    assert 0.85 == by_pod[None].cores_utilization


def test_hami_with_both_names_tells_everything_once() -> None:
    both = HAMI_READER.read(HAMI + HAMI_LEGACY)

    assert 3 == len(both)


def test_a_mapping_tells_figures_in_our_units() -> None:
    used, free = MAPPED.read(NPU)

    assert (
        DeviceSample(
            id="V-0",
            index="0",
            manufacturer="ascend",
            memory_total_bytes=65536 * MIB,
            memory_used_bytes=1024 * MIB,
            cores_utilization=1.5,  # Told as measured.
            unhealthy=False,
            pod=PodClaim(namespace="team", name="box"),
        )
        == used
    )
    assert (True, None, None) == (free.unhealthy, free.pod, free.memory_used_bytes)


@pytest.mark.parametrize(("adapter", "page"), PAGES)
def test_a_page_cut_within_a_line_is_truncated(adapter: Adapter, page: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        adapter.read(page[:-3])

    assert Reason.TRUNCATED == caught.value.reason


@pytest.mark.parametrize("adapter", [DCGM_READER, HAMI_READER, MAPPED])
@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("go_goroutines 12\n", Reason.VERSION_SKEW),
        ("\n", Reason.VERSION_SKEW),
        ("<html>502 Bad Gateway</html>\n", Reason.INVALID_DATA),
        ('{"status": "error"}\n', Reason.INVALID_DATA),
        ("", Reason.TRUNCATED),
    ],
)
def test_what_is_no_page_of_the_source_has_a_reason(
    adapter: Adapter, page: str, reason: Reason
) -> None:
    with pytest.raises(UnreadableError) as caught:
        adapter.read(page)

    assert reason == caught.value.reason


@pytest.mark.parametrize(("adapter", "page"), PAGES)
@pytest.mark.parametrize("value", ["NaN", "+Inf", "-Inf", "-1"])
def test_what_is_no_amount_is_unknown(adapter: Adapter, page: str, value: str) -> None:
    spoilt = "\n".join(
        f"{line.rpartition('}')[0]}}} {value}" if "}" in line else line for line in page.split("\n")
    )

    for sample in adapter.read(spoilt):
        assert (None, None) == (sample.memory_used_bytes, sample.cores_utilization)


@given(st.sampled_from(PAGES), st.data())
def test_a_spoilt_page_raises_the_one_error_or_none(
    told: tuple[Adapter, str], data: st.DataObject
) -> None:
    """Cut anywhere, with anything put in anywhere: samples, or UnreadableError."""
    adapter, page = told
    start = data.draw(st.integers(0, len(page)))
    end = data.draw(st.integers(start, min(len(page), start + 40)))
    alphabet = st.sampled_from('{}=",\\ \n#0189eE+-.NaninfHELPTYPE\x00\r\té')
    junk = data.draw(st.text(alphabet, max_size=12) | st.text(max_size=6))
    try:
        samples = adapter.read(page[:start] + junk + page[end:])
    except UnreadableError:
        return
    assert all(sample.id for sample in samples)


@given(st.sampled_from([DCGM_READER, HAMI_READER, MAPPED]), st.text())
def test_garbage_raises_the_one_error(adapter: Adapter, text: str) -> None:
    with pytest.raises(UnreadableError):
        adapter.read(text)


WRONG: list[tuple[str, str, str]] = [
    ("labels: [", "is not YAML", "correct it"),
    ("just words", "the mapping must be a map", "write some of"),
    ("{colour: red}", "colour is not known", "use one of manufacturer"),
    ("{labels: {id: a}, figures: {}}", "manufacturer must be a text", "write its name"),
    ("{manufacturer: 7, labels: {id: a}}", "manufacturer must be a text", "in quotes"),
    ("{manufacturer: x, extent: half}", "extent is 'half'", "write one of device"),
    ("{manufacturer: x, labels: {}}", "labels.id is missing", "name the label"),
    ("{manufacturer: x, labels: {id: a, pod: b}}", "labels has one of", "name both"),
    ("{manufacturer: x, labels: {id: a}, figures: {}}", "figures is empty", "at least one"),
    (
        "{manufacturer: x, labels: {id: a}, figures: {memory: {family: f}}}",
        "figures.memory is not known",
        "use one of memory_total_bytes",
    ),
    (
        "{manufacturer: x, labels: {id: a}, figures: {power_watts: {factor: 2}}}",
        "figures.power_watts.family must be a text",
        "write its name",
    ),
    (
        "{manufacturer: x, labels: {id: a}, figures: {power_watts: {family: f, factor: big}}}",
        "figures.power_watts.factor is 'big'",
        "write a plain number",
    ),
    (
        "{manufacturer: x, labels: {id: a}, figures: {power_watts: {family: f, factor: 0}}}",
        "figures.power_watts.factor must be more than 0",
        "write what one unit",
    ),
    (
        "{manufacturer: x, labels: {id: a}, figures: {unhealthy: {family: f, factor: 2}}}",
        "figures.unhealthy.factor is not known",
        "use one of family, healthy",
    ),
]


@pytest.mark.parametrize(("text", "what", "remedy"), WRONG)
def test_a_wrong_mapping_is_told_with_file_field_and_remedy(
    text: str, what: str, remedy: str
) -> None:
    with pytest.raises(MappingError) as caught:
        parse_mapping(text, "npu.yaml")

    message = str(caught.value)
    assert message.startswith("npu.yaml"), message
    assert what in message
    assert remedy in message


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["manufacturer", "labels", "id", "figures", "power_watts", "family", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.text() | values.map(yaml.safe_dump))
def test_a_mapping_is_read_or_refused(text: str) -> None:
    with suppress(MappingError):
        parse_mapping(text, "npu.yaml")


def test_the_mapping_of_the_reference_is_right() -> None:
    """The example of the documentation can be copied as it stands."""
    page = Path("docs/reference/accelerator-sources.md").read_text()
    example = page.partition("```yaml\n")[2].partition("```")[0]

    assert "ascend" == parse_mapping(example, "npu.yaml").manufacturer
