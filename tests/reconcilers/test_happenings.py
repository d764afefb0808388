"""T3, T4: what of a pass deserves an Event."""

import itertools
from typing import Any

import attrs
import pytest

from gpustack_ctrl.api import names
from gpustack_ctrl.api.errors import ForbiddenError
from gpustack_ctrl.api.instance_status import (
    Blocker,
    Failures,
    InstanceStatus,
    LastTermination,
    Phase,
)
from gpustack_ctrl.api.meta import Condition
from gpustack_ctrl.plan.actions import Plan, Refused, create, delete
from gpustack_ctrl.reconcilers.status.happenings import Happening, changes, deeds
from tests.helpers.builders import meta

READY = InstanceStatus(phase=Phase.READY, podUID="first", nodeName="node-1")
BLOCKER = Blocker(gate="type", reason="TypeNotFound", message="no such type; see `kubectl get`")
END = LastTermination(
    reason="OOMKilled", exitCode=137, podUID="first", finishedAt="2026-11-30T11:00:00Z"
)
LOST = attrs.evolve(READY, phase=Phase.UNKNOWN)


def says(kind: str, status: Any, reason: str, message: str = "told") -> InstanceStatus:
    """A status with this one condition."""
    condition = Condition(type=kind, status=status, reason=reason, message=message)
    return attrs.evolve(READY, conditions=(condition,))


def told(before: InstanceStatus, after: InstanceStatus) -> list[str]:
    """The types and reasons of what happened."""
    return [f"{held.type} {held.reason}" for held in changes(before, after)]


@pytest.mark.parametrize(
    "steps",
    [
        ["", "Pending", "Starting", "Ready", "Deleting"],
        ["", "Ready", "Stopping"],
        ["", "Queued", "Ready"],
        ["", "Stopped", "Pending", "Ready"],
        ["Stopped", "Stopped"],
    ],
)
def test_t3_the_ordinary_way_has_no_event(steps: list[str]) -> None:
    way = [InstanceStatus(phase=Phase(step) if step else None) for step in steps]
    pairs = itertools.pairwise(way)

    assert [] == [held for before, after in pairs for held in changes(before, after)]


def test_t3_a_gate_that_is_shut_is_told_in_the_words_of_its_blocker() -> None:
    [happening] = changes(InstanceStatus(), InstanceStatus(blocker=BLOCKER))

    assert (
        Happening(type="Warning", reason="TypeNotFound", action="Start", note=BLOCKER.message)
        == happening
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"message": "in other words"}, []),
        ({"since": "2026-11-30T11:00:00Z"}, []),
        ({"reason": "TypeInactive"}, ["Warning TypeInactive"]),
        ({"gate": "admission"}, ["Warning TypeNotFound"]),
    ],
)
def test_t3_a_gate_is_told_again_only_if_it_is_another_one(
    change: dict[str, Any], expected: list[str]
) -> None:
    before = InstanceStatus(blocker=BLOCKER)
    after = InstanceStatus(blocker=attrs.evolve(BLOCKER, **change))

    assert expected == told(before, after)


def test_n2_the_wait_for_the_policy_is_part_of_the_ordinary_way() -> None:
    pending = Blocker(gate="isolation", reason="PolicyPending", message="not in place yet")

    assert [] == told(InstanceStatus(), InstanceStatus(blocker=pending))


def test_t3_what_held_it_back_is_not_told_when_it_is_gone() -> None:
    assert [] == told(InstanceStatus(blocker=BLOCKER), READY)


@pytest.mark.parametrize(
    ("end", "expected", "note"),
    [
        ({}, "Warning OOMKilled", "the workload ended: OOMKilled, exit code 137"),
        (
            {"reason": "Error", "exitCode": 2, "message": "no such file"},
            "Warning Exited",
            "the workload ended: Error, exit code 2: no such file",
        ),
        (
            {"reason": "Completed", "exitCode": 0},
            "Normal Exited",
            "the workload ended: Completed, exit code 0",
        ),
        (
            {"reason": "Evicted", "exitCode": None, "dataLost": True},
            "Warning Evicted",
            "the workload ended: Evicted; the ephemeral volume is lost",
        ),
        (
            {"signal": 9},
            "Warning OOMKilled",
            "the workload ended: OOMKilled, exit code 137, signal 9",
        ),
    ],
)
def test_t4_an_end_that_nobody_asked_for_is_told(
    end: dict[str, Any], expected: str, note: str
) -> None:
    after = attrs.evolve(READY, lastTermination=attrs.evolve(END, **end))
    [happening] = changes(READY, after)

    assert expected == f"{happening.type} {happening.reason}"
    assert note == happening.note


def test_t4_the_same_end_is_told_once_and_the_next_one_again() -> None:
    before = attrs.evolve(READY, lastTermination=END)
    reworded = attrs.evolve(END, message="more is known")
    later = attrs.evolve(END, finishedAt="2026-11-30T11:00:05Z")

    assert [] == told(before, attrs.evolve(READY, lastTermination=reworded))
    assert ["Warning OOMKilled"] == told(before, attrs.evolve(READY, lastTermination=later))


def test_t4_a_failed_pod_is_one_event_and_the_blocker_tells_the_most() -> None:
    evicted = Blocker(gate="eviction", reason="Evicted", message="another Pod is made at noon")
    failed = attrs.evolve(
        READY,
        phase=Phase.FAILED,
        blocker=evicted,
        lastTermination=attrs.evolve(END, reason="Evicted"),
        failures=Failures(count=1, podUID="first", retryAt="2026-11-30T12:00:00Z"),
    )

    assert [evicted.message] == [held.note for held in changes(READY, failed)]


def test_t4_the_last_try_is_told_once() -> None:
    def failed(pod: str, retry: str | None) -> InstanceStatus:
        told = Failures(count=6, podUID=pod, retryAt=retry)
        return InstanceStatus(phase=Phase.FAILED, failures=told)

    earlier, last = failed("fifth", "2026-11-30T12:00:00Z"), failed("sixth", None)
    [happening] = changes(earlier, last)

    assert "GivenUp" == happening.reason
    assert "6 Pods failed in a row" in happening.note
    assert () == changes(last, attrs.evolve(last, observedGeneration=3))
    assert () == changes(InstanceStatus(), earlier)


def test_i5_a_stop_is_told_when_the_pod_is_gone() -> None:
    stopping = attrs.evolve(READY, phase=Phase.STOPPING)
    stopped = attrs.evolve(READY, phase=Phase.STOPPED)

    assert [] == told(READY, stopping)
    assert ["Normal Stopped"] == told(stopping, stopped)


def test_t2_a_node_that_falls_silent_and_comes_back_is_told() -> None:
    [lost] = changes(READY, LOST)

    assert ("Warning", "NodeLost") == (lost.type, lost.reason)
    assert "node node-1 does not answer" in lost.note
    assert ["Normal NodeReturned"] == told(LOST, READY)
    assert [] == told(LOST, LOST)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (says("NameConflict", "True", "ServiceNotOurs"), ["Warning NameConflict"]),
        (says("PortsReady", "False", "NodePortTaken"), ["Warning NodePortTaken"]),
        (says("RestartPending", "True", "IntentChanged"), ["Normal RestartPending"]),
        (says("PortsReady", "False", "ServicePending"), []),
        (says("RestartPending", "False", "UpToDate"), []),
        (says("PodScheduled", "False", "Unschedulable"), []),
    ],
)
def test_s5_s6_t5_conditions_that_nothing_else_tells(
    after: InstanceStatus, expected: list[str]
) -> None:
    assert expected == told(READY, after)
    assert [] == told(after, after)
    assert ["told"] * len(expected) == [held.note for held in changes(READY, after)]


def test_s6_a_conflict_is_one_event_though_two_places_say_so() -> None:
    blocker = Blocker(gate="name", reason="NameConflict", message="Pod team/box is not ours")
    after = attrs.evolve(says("NameConflict", "True", "PodNotOurs"), blocker=blocker)

    assert [blocker.message] == [held.note for held in changes(READY, after)]


def pod_deleted(because: str) -> Plan:
    return (delete(names.POD, meta(), because=because),)


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (pod_deleted("restarted"), ["Restarted"]),
        (pod_deleted("failed"), ["Replaced"]),
        (pod_deleted("stopped"), []),
        ((delete(names.SERVICE, meta(), because="no ports"),), []),
        ((create(names.POD, meta(), {}),), []),
        ((), []),
    ],
)
def test_i5_t4_a_pod_that_is_replaced_is_told(plan: Plan, expected: list[str]) -> None:
    assert expected == [held.reason for held in deeds(plan, ())]


def test_what_the_api_server_refused_did_not_happen() -> None:
    plan = pod_deleted("restarted")

    assert () == deeds(plan, [Refused(plan[0], ForbiddenError("no"))])
