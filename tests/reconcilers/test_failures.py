"""T4: which ends of a Pod count, when another one is tried, and what is kept of the last."""

from datetime import timedelta
from typing import Any

import attrs
import pytest

from gpustack_ctrl.api.core import ContainerState, ContainerStatus, ContainerTerminated, Pod
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_status import Failures, InstanceStatus
from gpustack_ctrl.api.references import LocalReference
from gpustack_ctrl.api.volumes import WorkspaceVolume
from gpustack_ctrl.plan.actions import Delete
from gpustack_ctrl.reconcilers import pod as pods
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot
from gpustack_ctrl.reconcilers.status.failures import MOST, seconds_to_retry
from gpustack_ctrl.reconcilers.status.summary import status
from tests.helpers.builders import (
    NOW,
    condition,
    instance,
    instance_type,
    pod_of,
    remade,
    seen,
)

BOX = instance()
DAY = timedelta(days=1)


def ended(uid: str = "uid-of-pod", reason: str = "Evicted", **rest: Any) -> Pod:
    """A Pod that failed."""
    held: Pod = remade(pod_of(BOX, phase="Failed", ready=False, reason=reason, **rest), uid=uid)
    return held


def told(of: Instance, pod: Pod | None, **rest: Any) -> InstanceStatus:
    return status(seen(of, pod=pod, **rest))


def having(told: InstanceStatus, of: Instance = BOX, **spec: Any) -> Instance:
    """The Instance after *told* was written, and perhaps an edit."""
    edited = attrs.evolve(of, status=told, spec=attrs.evolve(of.spec, **spec))
    generation = (of.metadata.generation or 0) + bool(spec)
    return attrs.evolve(edited, metadata=attrs.evolve(of.metadata, generation=generation))


def failed_times(times: int, reason: str = "Evicted") -> InstanceStatus:
    """The status after so many Pods failed in a row."""
    held = InstanceStatus()
    for number in range(times):
        held = told(having(held), ended(f"uid-{number}", reason))
    return held


def waits(held: InstanceStatus) -> float | None:
    return seconds_to_retry(held.failures, NOW)


def test_t4_the_wait_doubles_up_to_five_minutes_and_then_no_more_are_tried() -> None:
    assert [10, 20, 40, 80, 160, None] == [waits(failed_times(times)) for times in range(1, 7)]
    assert MOST == 6


def test_t4_a_failed_pod_is_counted_once() -> None:
    first = told(BOX, ended())

    assert first == told(having(first), ended())
    assert first.failures is not None
    assert (1, "uid-of-pod") == (first.failures.count, first.failures.podUID)


def forgotten(message: str) -> Pod:
    """A Pod as the kubelet leaves it that ended it, where all containers then ended with 0."""
    told = condition("DisruptionTarget", "True", "TerminationByKubelet", message)
    done = ContainerState(terminated=ContainerTerminated(exitCode=0, reason="Completed"))
    main = ContainerStatus(name="main", state=done)
    return pod_of(
        BOX, phase="Succeeded", ready=False, conditions=(told,), containerStatuses=(main,)
    )


EXCUSED = {
    "preempted by the kubelet": ended(reason="Preempting"),
    "the node does not fit any more": ended(reason="NodeAffinity"),
    "the node shut down": ended(reason="NodeShutdown"),
    "quota lags": ended(reason="OutOfnvidia.com/gpu"),
    "preempted by the scheduler": ended(
        reason="", conditions=(condition("DisruptionTarget", "True", "PreemptionByScheduler"),)
    ),
    "preempted by the kubelet, and forgotten": forgotten(
        "Preempted in order to admit critical pod"
    ),
    "the node shut down, and forgotten": forgotten(
        "Pod was terminated in response to imminent node shutdown."
    ),
    "drained": ended(
        reason="", conditions=(condition("DisruptionTarget", "True", "EvictionByEvictionAPI"),)
    ),
}


@pytest.mark.parametrize("pod", EXCUSED.values(), ids=EXCUSED)
def test_t4_an_end_that_was_not_the_workload_s_does_not_count_but_waits(pod: Pod) -> None:
    before = failed_times(MOST - 1)
    assert before.failures is not None

    after = told(having(before), pod)

    assert after.failures is not None
    assert before.failures.count == after.failures.count
    assert 10 == waits(after)


@pytest.mark.parametrize("reason", ["Evicted", "UnexpectedAdmissionError", "", "Error"])
def test_t4_any_other_end_counts(reason: str) -> None:
    held = told(BOX, ended(reason=reason))

    assert held.failures is not None
    assert 1 == held.failures.count


def test_t4_a_long_run_begins_the_count_anew() -> None:
    before = failed_times(3)
    long, short = "2026-11-30T11:00:00Z", "2026-11-30T11:55:00Z"

    counts = [told(having(before), ended(startTime=at)).failures for at in (long, short)]

    assert [1, 4] == [held.count for held in counts if held]


@pytest.mark.parametrize("edit", [{"stop": True}, {"args": ("-v",)}])
def test_t4_an_edit_begins_the_count_anew(edit: dict[str, Any]) -> None:
    before = failed_times(MOST)

    after = told(having(before, **edit), None)

    assert after.failures is None


def test_t4_a_changed_type_begins_the_count_anew() -> None:
    before = failed_times(MOST)
    changed = remade(instance_type(), generation=9)

    assert told(having(before), None, type=changed).failures is None


def test_t4_an_operator_that_starts_anew_goes_on_counting() -> None:
    before = failed_times(2)

    assert before.failures == told(having(before), pod_of(BOX)).failures


def test_t4_the_count_outlives_the_pod_that_failed() -> None:
    before = failed_times(2)

    assert before.failures == told(having(before), None).failures


def planned(of: Instance, pod: Pod, *, after: timedelta = DAY) -> InstanceSnapshot:
    return seen(of, pod=pod, now=NOW + after)


def test_t4_a_failed_pod_stays_until_its_end_is_written_down() -> None:
    assert () == pods.plan(planned(BOX, ended()))


def test_t4_what_was_written_down_of_an_earlier_pod_does_not_count_for_this_one() -> None:
    of = having(told(BOX, ended("uid-of-an-earlier-pod")))

    assert () == pods.plan(planned(of, ended()))


@pytest.mark.parametrize(("seconds", "goes"), [(9, False), (10, True), (600, True)])
def test_t4_a_failed_pod_stays_until_its_time_has_come(seconds: int, *, goes: bool) -> None:
    of = having(told(BOX, ended()))

    plan = pods.plan(planned(of, ended(), after=timedelta(seconds=seconds)))

    assert goes == any(isinstance(action, Delete) for action in plan)


def test_t4_after_the_last_try_a_failed_pod_stays_until_somebody_edits() -> None:
    held = failed_times(MOST)
    last = ended(f"uid-{MOST - 1}")

    assert () == pods.plan(planned(having(held), last))
    assert ["failed"] == [
        action.because
        for action in pods.plan(planned(having(held, args=("-v",)), last))
        if isinstance(action, Delete)
    ]


def test_t3_a_failed_pod_is_told_with_when_the_next_one_comes_or_that_none_does() -> None:
    first, last = failed_times(1), failed_times(MOST)

    assert "another Pod is made at 2026-11-30T12:00:10Z" in first.message
    assert "6 Pods failed in a row" in last.message
    assert "stop and start" in last.message


def crashed(code: int, at: str) -> Pod:
    """A Pod that lives on after its container ended."""
    how = ContainerTerminated(exitCode=code, reason="OOMKilled", finishedAt=at)
    held = ContainerStatus(name="main", restartCount=1, lastState=ContainerState(terminated=how))
    return pod_of(BOX, containerStatuses=(held,))


def test_t4_the_end_of_a_container_is_kept_and_counts_no_pod() -> None:
    held = told(BOX, crashed(137, "2026-11-30T11:50:00Z"))

    assert held.lastTermination is not None
    assert (137, "OOMKilled", False) == (
        held.lastTermination.exitCode, held.lastTermination.reason, held.lastTermination.dataLost,
    )  # fmt: skip
    assert held.failures is None


def test_t4_the_reason_on_the_pod_is_kept_and_what_went_with_it() -> None:
    lost = told(BOX, ended(message="low on disk"))
    kept = instance(volume=WorkspaceVolume(persistent=LocalReference(name="home")))

    assert lost.lastTermination is not None
    assert ("Evicted", "low on disk", "node-1", True) == (
        lost.lastTermination.reason, lost.lastTermination.message, lost.lastTermination.node,
        lost.lastTermination.dataLost,
    )  # fmt: skip
    last = told(kept, ended()).lastTermination
    assert last is not None
    assert not last.dataLost


def test_t4_an_eviction_that_the_kubelet_forgot_is_told_by_its_condition() -> None:
    """Seen on a real node: a workload that ends with 0 leaves no reason on its Pod."""
    held = told(BOX, forgotten("The node was low on resource: memory. "))

    assert held.lastTermination is not None
    assert held.blocker is not None
    assert held.failures is not None
    assert ("Evicted", "Evicted", "eviction") == (
        held.lastTermination.reason, held.blocker.reason, held.blocker.gate,
    )  # fmt: skip
    assert "low on resource: memory" in held.lastTermination.message
    assert "low on resource: memory" in held.blocker.message
    assert 1 == held.failures.count


def test_t4_the_last_end_stays_told_when_another_pod_runs() -> None:
    before = told(BOX, ended())

    assert before.lastTermination == told(having(before), pod_of(BOX)).lastTermination


def test_t4_a_stop_is_no_end_to_be_told() -> None:
    stopped = instance(stop=True)

    assert told(stopped, ended()).lastTermination is None


def test_without_failures_there_is_nothing_to_wait_for() -> None:
    assert seconds_to_retry(None, NOW) is None
    assert seconds_to_retry(Failures(), NOW) is None
    assert 0 == seconds_to_retry(Failures(retryAt="2026-11-30T11:59:00Z"), NOW)
