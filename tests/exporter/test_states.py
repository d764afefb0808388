"""What the API server knows is told as soon as it is known, and no longer."""

from collections import Counter

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from gpustack_ctrl.api.instance_status import InstanceStatus, LastTermination, Phase
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.api.usage import Usage, UsageState
from tests.exporter.fleet import PERIOD, Fleet, fleet
from tests.helpers.builders import NVIDIA, instance, instance_type
from tests.helpers.clock import settle

PHASE = "gpustack_instance_phase"
COUNT = "gpustack_instances"
ACCELERATORS = "gpustack_instance_accelerators"
STOPPED = "gpustack_instance_stopped_seconds_total"
KEY = ObjectKey("team", "box")


def put(held: Fleet, phase: Phase, *, name: str = "box", uid: str = "") -> None:
    """An Instance in that phase."""
    status = InstanceStatus(phase=phase)
    made = instance(name=name, uid=uid or f"uid-of-{name}", status=status)
    held.caches.put(held.caches.instances, made)


def phases(held: Fleet) -> dict[str, str]:
    """The phase of each Instance, by the page."""
    return {it.labels["instance_name"]: it.labels["phase"] for it in held.series(PHASE)}


def counts(held: Fleet) -> dict[str, float]:
    """How many Instances are in each phase, by the page, without those in which none is."""
    return {it.labels["phase"]: it.value for it in held.series(COUNT) if it.value}


async def test_a_change_is_told_without_any_time_passing() -> None:
    held = fleet()
    async with held.telling_states():
        for phase in (Phase.PENDING, Phase.STARTING, Phase.READY, Phase.STOPPED):
            put(held, phase)
            await settle()
            assert {"box": phase} == phases(held)
            assert {phase: 1} == counts(held)


async def test_what_was_there_before_is_told_at_once() -> None:
    held = fleet()
    put(held, Phase.READY)
    async with held.telling_states():
        await settle()
        assert {"box": "Ready"} == phases(held)


async def test_nothing_is_left_of_an_instance_that_is_gone() -> None:
    held = fleet()
    async with held.telling_states():
        put(held, Phase.READY)
        held.add_pod(instance(), "")
        await settle()
        held.caches.drop(held.caches.instances, KEY)
        await settle()
        assert "" == held.page()


async def test_an_instance_made_anew_under_its_name_is_counted_once() -> None:
    held = fleet()
    async with held.telling_states():
        put(held, Phase.READY)
        put(held, Phase.PENDING, uid="uid-of-another")
        await settle()
        assert {"Pending": 1} == counts(held)
        assert {"uid-of-another"} == held.told(PHASE, "instance_uid")


async def test_a_pod_of_another_instance_says_nothing_of_this_one() -> None:
    held = fleet()
    async with held.telling_states():
        put(held, Phase.READY)
        held.add_pod(instance(uid="uid-of-a-deleted-one"), "node-1")
        await settle()
        assert {""} == held.told("gpustack_instance_info", "node")
        held.add_pod(instance(), "node-2")
        await settle()
        assert {"node-2"} == held.told("gpustack_instance_info", "node")


async def test_a_type_that_changes_is_told_for_all_its_instances() -> None:
    held = fleet()
    async with held.telling_states():
        put(held, Phase.READY)
        put(held, Phase.READY, name="other")
        await settle()
        assert [] == held.series(ACCELERATORS)
        held.caches.put(held.caches.types, instance_type(NVIDIA))
        await settle()
        assert {"box", "other"} == held.told(ACCELERATORS)


async def test_time_goes_on_though_nothing_changes() -> None:
    held = fleet()
    now = f"{held.clock.now():%Y-%m-%dT%H:%M:%SZ}"
    usage = Usage(state=UsageState.STOPPED, since=now)
    status = InstanceStatus(phase=Phase.STOPPED, usage=usage)
    held.caches.put(held.caches.instances, instance(stop=True, status=status))
    async with held.telling_states():
        await held.clock.advance(2 * PERIOD)
        [before] = held.series(STOPPED)
        await held.clock.advance(10 * PERIOD)
        [after] = held.series(STOPPED)
    assert 9 * PERIOD <= after.value - before.value <= 11 * PERIOD


async def test_a_fault_in_one_instance_takes_its_own_series_alone() -> None:
    held = fleet()
    broken = LastTermination(reason="Error", finishedAt="no time at all")
    status = InstanceStatus(phase=Phase.READY, lastTermination=broken)
    async with held.telling_states():
        for name in ("a", "b", "c"):
            put(held, Phase.READY, name=name)
        with capture_logs() as logs:
            made = attrs.evolve(instance(name="b", uid="uid-of-b"), status=status)
            held.caches.put(held.caches.instances, made)
            await settle()
            assert {"a", "c"} == set(phases(held))
            assert {"Ready": 3} == counts(held)
    assert {"team/b"} == {line["key"] for line in logs}


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["gone", *Phase]), st.booleans()),
        max_size=15,
    )
)
@settings(deadline=None)
async def test_counts_are_those_of_the_instances_that_there_are(
    changes: list[tuple[str, str, bool]],
) -> None:
    held = fleet()
    async with held.telling_states():
        for name, what, waits in changes:
            if what == "gone":
                held.caches.drop(held.caches.instances, ObjectKey("team", name))
            else:
                put(held, Phase(what), name=name)
            if waits:
                await settle()
        await settle()
        there = [str(it.status.phase) for it in held.caches.instances.list()]

        assert Counter(there) == counts(held)
        assert Counter(there) == Counter(phases(held).values())
