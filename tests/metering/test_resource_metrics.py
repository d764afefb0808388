"""What the kubelet's shorter page says of Pods, by name and time."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.metering.resource_metrics import NamedUse, read
from gpustack_ctrl.metering.uses import PodUse, UnreadableError

BOX = ObjectKey("team", "box")
CPU = 'pod_cpu_usage_seconds_total{namespace="team",pod="box"}'
MEMORY = 'pod_memory_working_set_bytes{namespace="team",pod="box"}'
PAGE = f"""\
# HELP container_cpu_usage_seconds_total [STABLE] Cumulative cpu time
# TYPE container_cpu_usage_seconds_total counter
container_cpu_usage_seconds_total{{container="main",namespace="team",pod="box"}} 4.2 1796040000000
# HELP pod_cpu_usage_seconds_total [STABLE] Cumulative cpu time
# TYPE pod_cpu_usage_seconds_total counter
{CPU} 4.25 1796040000500
pod_cpu_usage_seconds_total{{namespace="team",pod="other"}} 1 1796040000000
# HELP pod_memory_working_set_bytes [STABLE] Current working set
# TYPE pod_memory_working_set_bytes gauge
{MEMORY} 5.24288e+07 1796040000000
# HELP scrape_error [ALPHA] (Deprecated) 1 if there was an error
# TYPE scrape_error gauge
scrape_error 0
"""


def text(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def test_processor_and_memory_of_each_pod_are_read() -> None:
    assert read(PAGE.encode()) == {
        BOX: NamedUse(PodUse(cpu_seconds=4.25, memory_working_set=50 << 20), taken=1_796_040_000.0),
        ObjectKey("team", "other"): NamedUse(PodUse(cpu_seconds=1), taken=1_796_040_000.0),
    }


def test_a_use_is_as_old_as_the_oldest_of_its_figures() -> None:
    """Else the figure of an older Pod would pass for one of today."""
    assert read(text(f"{CPU} 1 5000", f"{MEMORY} 2 9000"))[BOX].taken == 5
    assert read(text(f"{CPU} 1 9000", f"{MEMORY} 2 5000"))[BOX].taken == 5


@pytest.mark.parametrize("time", ["", " NaN", " +Inf", " -Inf"])
def test_a_figure_without_a_time_is_as_old_as_time(time: str) -> None:
    assert read(text(f"{CPU} 1{time}", f"{MEMORY} 2 9000"))[BOX].taken == 0


@pytest.mark.parametrize("wrong", ["NaN", "+Inf", "-Inf", "-1", "1e999"])
def test_what_nothing_can_be_is_not_known(wrong: str) -> None:
    told = read(text(f"{CPU} {wrong} 5000", f"{MEMORY} 2 9000"))
    assert {BOX: NamedUse(PodUse(memory_working_set=2), taken=9)} == told


@pytest.mark.parametrize(
    "line", [CPU, f"{CPU[:-1]} 1", f"{CPU} one", "pod_cpu", '{"', "# TYPE a b c d"]
)
def test_what_is_no_text_of_prometheus_is_unreadable(line: str) -> None:
    with pytest.raises(UnreadableError, match="/metrics/resource is not text of Prometheus"):
        read(text(line))


@given(st.binary(max_size=100))
@example(b"\xff")
@example(b"# TYPE")
@example(b"# HELP a\\")
def test_any_bytes_are_read_or_unreadable(body: bytes) -> None:
    read_or_unreadable(body)


@given(st.text(st.sampled_from('a{}="\\,:#\n 19.eE+-TYPE'), max_size=40))
@example("# TYPE a histogram\na 3")
@example('{"a"} 1')
def test_any_text_that_looks_like_a_page_is_read_or_unreadable(page: str) -> None:
    read_or_unreadable(f"{CPU}{page}\n{page}".encode())


def read_or_unreadable(body: bytes) -> None:
    try:
        read(body)
    except UnreadableError:
        return
