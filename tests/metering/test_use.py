"""What an Instance is told to use, why nothing is told, and how the reference rounds."""

from collections.abc import Mapping

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gpustack_ctrl.api.core import PodContainer, PodVolume
from gpustack_ctrl.metering import families as f
from gpustack_ctrl.metering.members import members
from gpustack_ctrl.metering.stats_summary import read
from gpustack_ctrl.metering.use import mebibytes, millicores, missing_samples, use_samples
from gpustack_ctrl.metering.uses import PodUse, VolumeUse
from tests.helpers.builders import instance, pod_of, remade
from tests.metering.summaries import (
    MIB,
    UID,
    claimed,
    holding,
    member,
    pod_stats,
    resources,
    scratch,
    summary,
    values,
)

MEASURED = PodUse(cpu_seconds=1, memory_working_set=1)


def test_all_that_the_summary_knows_is_told_under_the_name_of_the_instance() -> None:
    box = holding(member(), volumes=(scratch(), claimed()))
    told = list(use_samples([box], read(summary(pod_stats())), reference=False))
    by_volume = {(it.family, it.labels[4:]): it.value for it in told}

    assert {("team", "box", "uid-of-box", "node-1")} == {it.labels[:4] for it in told}
    assert by_volume == {
        (f.CPU_USAGE, ()): 30,
        (f.MEMORY_WORKING_SET, ()): 53 * MIB,
        (f.MEMORY_RSS, ()): 26 * MIB,
        (f.NETWORK_RECEIVE, ()): 20_000_007,
        (f.NETWORK_TRANSMIT, ()): 3005,
        (f.STORAGE_USED, ()): 41 * MIB,
        (f.PROCESSES, ()): 4,
        (f.VOLUME_USED, ("workspace",)): 40 * MIB,
        (f.VOLUME_CAPACITY, ("workspace",)): 1000 * MIB,
        (f.VOLUME_USED, ("data",)): 9 * MIB,
        (f.VOLUME_CAPACITY, ("data",)): 2000 * MIB,
    }


def test_the_sidecar_counts_for_the_instance() -> None:
    """The Pod's own figures hold it; where there are none, it is added."""
    without = pod_stats(cpu=None, memory=None)
    told = values(use_samples([member()], read(summary(without)), reference=False))

    assert told[f.CPU_USAGE.name] == 30
    assert told[f.MEMORY_WORKING_SET.name] == 52 * MIB


def test_what_is_not_known_has_no_series() -> None:
    told = values(use_samples([member()], {UID: PodUse(cpu_seconds=2.5)}, reference=True))
    assert {f.CPU_USAGE.name: 2.5} == told


@pytest.mark.parametrize("uid", ["", "uid-of-an-older-pod"])
def test_a_pod_of_another_uid_counts_for_nobody(uid: str) -> None:
    uses = read(summary(pod_stats(uid)))

    assert not list(use_samples([member()], uses, reference=True))
    assert [("kubelet", "not_in_answer")] == gaps(uses)


@pytest.mark.parametrize("use", [PodUse(), PodUse(cpu_seconds=0, memory_working_set=0)])
def test_a_new_pod_is_not_measured_yet(use: PodUse) -> None:
    """Of a new Pod the kubelet says zeros, which nobody measured."""
    assert not list(use_samples([member()], {UID: use}, reference=True))
    assert [("kubelet", "not_measured_yet")] == gaps({UID: use})


def test_where_nothing_was_read_its_reason_is_told() -> None:
    assert [("kubelet", "timeout")] == gaps(None, failure="timeout")


def test_nothing_is_missing_of_a_pod_that_is_told() -> None:
    assert [] == gaps({UID: MEASURED})


@pytest.mark.parametrize("phase", ["Pending", "Unknown", ""])
def test_nothing_is_missing_of_a_pod_that_does_not_run(phase: str) -> None:
    box = member(phase=phase)
    assert not list(missing_samples([box], None, source="kubelet", failure="timeout"))


def gaps(uses: Mapping[str, PodUse] | None, failure: str = "") -> list[tuple[str, ...]]:
    """The source and reason of what is missing of one Instance."""
    told = missing_samples([member()], uses, source="kubelet", failure=failure)
    return [held.labels[4:] for held in told]


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_ended_is_of_no_instance(phase: str) -> None:
    box = member(phase=phase)
    assert not list(members([box.pod], lambda _: box.instance))


def test_only_the_pod_that_says_the_uid_is_of_an_instance() -> None:
    box = instance()
    strangers = [
        pod_of(instance(uid="uid-of-a-deleted-one")),
        remade(pod_of(box), labels={}),
        pod_of(instance(name="other", uid="uid-of-other")),
    ]

    assert not list(members(strangers, {box.key: box}.get))
    assert [box] == [held.instance for held in members([pod_of(box)], {box.key: box}.get)]
    unborn = attrs.evolve(box, metadata=attrs.evolve(box.metadata, uid=""))
    assert not list(members([pod_of(unborn)], lambda _: unborn))


def test_members_come_in_the_order_of_their_names() -> None:
    held = [member(name) for name in ("b", "c", "a")]
    known = {one.instance.key: one.instance for one in held}
    told = members([one.pod for one in held], known.get)

    assert ["a", "b", "c"] == [one.instance.metadata.name for one in told]


def test_programs_of_ours_are_no_volume_to_fill() -> None:
    box = holding(member(), volumes=(scratch("ssh-programs"), scratch()))
    told = volumes(box, VolumeUse(name="ssh-programs", used=9), VolumeUse(name="workspace", used=2))

    assert {("workspace", f.VOLUME_USED): 2} == told


def test_files_of_the_api_server_are_no_volumes_to_fill() -> None:
    box = holding(member(), volumes=(PodVolume(name="keys"), scratch()))
    told = volumes(box, VolumeUse(name="keys", used=1), VolumeUse(name="workspace", used=2))
    assert {("workspace", f.VOLUME_USED): 2} == told


def test_a_share_of_the_disk_holds_no_more_than_its_limit() -> None:
    box = holding(member(), volumes=(scratch("a", "1Gi"), scratch("b", "5Gi"), claimed("c")))
    told = volumes(box, *(VolumeUse(name=name, capacity=2 << 30) for name in "abc"))
    sizes = {"a": 1 << 30, "b": 2 << 30, "c": 2 << 30}

    assert {(name, f.VOLUME_CAPACITY): size for name, size in sizes.items()} == told


def test_a_volume_that_is_told_twice_is_one_series() -> None:
    """Two of the same labels would spoil the whole page."""
    box = holding(member(), volumes=(claimed(),))
    twice = [VolumeUse(name="data", used=1), VolumeUse(name="data", used=2)]
    assert {("data", f.VOLUME_USED): 2} == volumes(box, *twice)


def volumes(box: object, *told: VolumeUse) -> dict[tuple[str, object], float]:
    """The values of the volumes, by their name and family."""
    use = attrs.evolve(MEASURED, volumes=told)
    samples = list(use_samples([box], {UID: use}, reference=False))  # type: ignore[list-item]
    held = [it for it in samples if it.family.labels[-1] == "volume"]
    named = {(it.labels[-1], it.family): it.value for it in held}
    assert len(named) == len(held)
    return named  # type: ignore[return-value]


def test_the_reference_adds_limits_of_all_containers_and_rounds_as_it_does() -> None:
    """Bytes are added and rounded up once; cores are rounded up for each container."""
    box = holding(
        member(),
        PodContainer(
            name="main",
            resources=resources(cpu="1500500u", memory="1500Ki", ephemeral_storage="1"),
        ),
        PodContainer(
            name="sshd",
            resources=resources(cpu="100u", memory="500Ki", ephemeral_storage="1"),
        ),
    )
    told = values(use_samples([box], {UID: MEASURED}, reference=True))

    assert told[f.REFERENCE_CPU_TOTAL.name] == 1501 + 1
    assert told[f.REFERENCE_MEMORY_TOTAL.name] == 2
    assert told[f.REFERENCE_STORAGE_TOTAL.name] == 1


def test_a_sidecar_without_limits_adds_nothing_and_init_containers_neither() -> None:
    main = PodContainer(name="main", resources=resources(cpu="2", memory="1Gi"))
    box = holding(member(), main, PodContainer(name="sshd"))
    spec = attrs.evolve(box.pod.spec, initContainers=(main,))
    box = attrs.evolve(box, pod=attrs.evolve(box.pod, spec=spec))
    told = values(use_samples([box], {UID: MEASURED}, reference=True))

    assert told[f.REFERENCE_CPU_TOTAL.name] == 2000
    assert told[f.REFERENCE_MEMORY_TOTAL.name] == 1024
    assert f.REFERENCE_STORAGE_TOTAL.name not in told


def test_the_reference_rounds_use_up() -> None:
    use = PodUse(cpu_seconds=1, cores=0.2971, memory_working_set=MIB + 1, storage_used=1)
    told = values(use_samples([member()], {UID: use}, reference=True))

    assert told[f.REFERENCE_CPU_USED.name] == 298
    assert told[f.REFERENCE_MEMORY_USED.name] == 2
    assert told[f.REFERENCE_STORAGE_USED.name] == 1


def test_the_names_of_the_reference_can_be_switched_off() -> None:
    told = use_samples([member()], read(summary(pod_stats())), reference=False)
    assert f.Group.USE == {it.family.group for it in told}.pop()


@given(st.integers(0, 10**15))
@example(69_000_000)
@example(1)
def test_nanocores_in_thousandths_are_rounded_up_and_by_nothing_else(nano: int) -> None:
    """0.069 cores are 69 thousandths, though 0.069 * 1000 is a little more in binary."""
    assert -(-nano // 10**6) == millicores(nano / 10**9)


@given(st.integers(0, 1 << 52))
def test_bytes_in_mib_are_rounded_up_and_by_nothing_else(held: int) -> None:
    assert -(-held // MIB) == mebibytes(held)
    assert mebibytes(None) is None
