"""What the kubelet's summary says of Pods, and what becomes of one that is none."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gpustack_ctrl.metering.stats_summary import read
from gpustack_ctrl.metering.uses import PodUse, UnreadableError, VolumeUse
from tests.metering.summaries import MIB, UID, container, cpu, pod_stats, summary, volume

EMPTY = PodUse()
finite = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
FIELDS = (
    "podRef", "containers", "cpu", "memory", "network", "volume", "ephemeral-storage",
    "process_stats",
)  # fmt: skip


def test_all_figures_of_a_pod_are_read() -> None:
    assert read(summary(pod_stats())) == {
        UID: PodUse(
            cpu_seconds=30.0,
            cores=0.3,
            memory_working_set=53 * MIB,
            memory_rss=26 * MIB,
            network_received=20_000_007,
            network_transmitted=3005,
            storage_used=41 * MIB,
            processes=4,
            volumes=(
                VolumeUse(name="workspace", used=40 * MIB, capacity=1000 * MIB),
                VolumeUse(name="data", used=9 * MIB, capacity=2000 * MIB),
                VolumeUse(name="keys", used=4096, capacity=32 * MIB),
            ),
        )
    }


def test_each_pod_has_its_own_figures() -> None:
    told = read(summary(pod_stats("a"), pod_stats("b", cpu=cpu(1)), pod_stats("c", cpu=cpu(2))))
    assert {"a": 0.3, "b": 1, "c": 2} == {uid: use.cores for uid, use in told.items()}


def test_of_a_pod_without_figures_of_its_own_the_containers_are_added() -> None:
    held = [container(cores=0.25, memory=8), container("sshd", cores=0.5, memory=2)]
    use = read(summary(pod_stats(cpu=None, memory=None, containers=held)))[UID]

    assert (0.75, 75.0) == (use.cores, use.cpu_seconds)
    assert (10, 5) == (use.memory_working_set, use.memory_rss)


@pytest.mark.parametrize("field", ["containers", "network", "volume", "process_stats"])
def test_what_a_pod_does_not_have_is_not_known(field: str) -> None:
    told = {name: value for name, value in pod_stats().items() if name != field}
    absent = read(summary(told))[UID]
    null = read(json.dumps({"pods": [pod_stats() | {field: None}]}).encode())[UID]

    assert absent == null
    assert absent.cpu_seconds == 30


def test_a_host_network_pod_has_no_network_and_no_zero_either() -> None:
    use = read(summary(pod_stats(network=None)))[UID]
    assert (None, None) == (use.network_received, use.network_transmitted)


def test_the_default_interface_stands_for_all_where_none_is_listed() -> None:
    use = read(summary(pod_stats(network={"name": "eth0", "rxBytes": 7, "txBytes": 0})))[UID]
    assert (7, 0) == (use.network_received, use.network_transmitted)


def test_a_container_that_has_just_restarted_is_not_added() -> None:
    fresh = {"name": "main", "cpu": None, "memory": {"time": "now", "workingSetBytes": None}}
    held = [fresh, {"name": "bare"}, container("sshd", cores=0.5, memory=2)]
    use = read(summary(pod_stats(cpu=None, memory=None, containers=held)))[UID]

    assert (0.5, 2) == (use.cores, use.memory_working_set)


@pytest.mark.parametrize("body", [b'{"node":{}}', b'{"pods":null}', b'{"pods":[]}', b"{}"])
def test_a_node_without_pods_tells_nothing(body: bytes) -> None:
    assert {} == read(body)


def test_nothing_is_known_of_a_pod_that_is_only_named() -> None:
    assert {UID: EMPTY} == read(json.dumps({"pods": [{"podRef": {"uid": UID}}]}).encode())


@pytest.mark.parametrize("wrong", [-1, 1 << 63, (1 << 64) - 1, 10**400], ids=str.__call__)
def test_what_nothing_can_be_is_not_known_and_takes_nothing_along(wrong: int) -> None:
    odd = pod_stats(
        cpu={"usageNanoCores": wrong, "usageCoreNanoSeconds": wrong},
        memory={"workingSetBytes": 5, "rssBytes": wrong},
        network={"rxBytes": wrong, "txBytes": 3},
        volume=[volume("data", used=wrong, capacity=9)],
        process_stats={"process_count": wrong},
    )
    told = read(summary(odd, pod_stats("other")))

    assert told[UID] == PodUse(
        memory_working_set=5,
        network_transmitted=3,
        storage_used=41 * MIB,
        volumes=(VolumeUse(name="data", capacity=9),),
    )
    assert told["other"].cpu_seconds == 30


@pytest.mark.parametrize("cut", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_half_a_page_is_unreadable(cut: float) -> None:
    page = summary(pod_stats("a"), pod_stats("b"))
    with pytest.raises(UnreadableError, match="/stats/summary is not what the kubelet writes"):
        read(page[: int(len(page) * cut)])


@pytest.mark.parametrize(
    "body",
    [
        b"", b"null", b"[]", b"7", b"<html>busy</html>", b"\xff\xfe\x00", b"[" * 100_000,
        b'{"pods":' * 50_000, b'{"pods":{}}', b'{"pods":[null]}', b'{"pods":[{}]}',
        b'{"pods":[{"podRef":{}}]}', b'{"pods":[{"podRef":{"uid":7}}]}',
        b'{"pods":[{"podRef":{"uid":"\\ud800"}}]}',
    ],
    ids=range(14),
)  # fmt: skip
def test_garbage_is_unreadable(body: bytes) -> None:
    with pytest.raises(UnreadableError):
        read(body)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_unreadable(body: bytes) -> None:
    read_or_unreadable(body)


@given(st.sampled_from(FIELDS), json_values)
@example("cpu", {"usageNanoCores": 1e300})
@example("cpu", {"usageNanoCores": "1"})
@example("volume", [{"name": None}])
def test_any_value_in_a_field_is_read_or_unreadable(field: str, value: Any) -> None:
    read_or_unreadable(json.dumps({"pods": [pod_stats() | {field: value}]}).encode())


def read_or_unreadable(body: bytes) -> None:
    try:
        read(body)
    except UnreadableError:
        return


@given(st.text(max_size=5), json_values)
def test_fields_that_we_do_not_know_change_nothing(name: str, value: Any) -> None:
    newer = {f"new-{name}": value}
    told = {"node": newer, "pods": [pod_stats(containers=[container() | newer]) | newer]} | newer
    assert read(json.dumps(told).encode()) == read(summary(pod_stats()))
