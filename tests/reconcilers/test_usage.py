"""How an Instance passes its time: what begins and ends an interval, and when."""

from datetime import datetime, timedelta
from typing import Any

import attrs
import pytest

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import ContainerState, ContainerStatus, ContainerTerminated, Node, Pod
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_status import InstanceStatus, Phase
from gpustack_ctrl.api.usage import AllocatedTime, Charge, Usage, UsageFamily, UsageState
from gpustack_ctrl.reconcilers.conditions import timestamp
from gpustack_ctrl.reconcilers.status.reporting import only_progress
from gpustack_ctrl.reconcilers.status.summary import status
from gpustack_ctrl.reconcilers.usage.account import SETTLING, served, usage
from tests.helpers.builders import (
    NOW,
    condition,
    ending,
    instance,
    meta,
    node,
    pod_of,
    remade,
    seen,
)

CHARGE = Charge(type="small", family=UsageFamily.WHOLE, accelerators=2)
NOTE = "small/Whole/2"
ALLOCATED, PENDING, STOPPED = UsageState.ALLOCATED, UsageState.PENDING, UsageState.STOPPED


def at(minute: float) -> str:
    """A time, in minutes after twelve."""
    return timestamp(NOW + timedelta(minutes=minute))


def clock(minute: float) -> datetime:
    return NOW + timedelta(minutes=minute)


def box(ledger: Usage | None = None, *, told: bool = False, **rest: Any) -> Instance:
    """An Instance made at twelve, with *ledger* in its status, or *told* of without one."""
    status = InstanceStatus(usage=ledger, observedGeneration=3 if ledger or told else None)
    made: Instance = remade(instance(status=status, **rest), creationTimestamp=at(0), generation=1)
    return made


def pod(
    uid: str = "first",
    *,
    made: float = 0,
    scheduled: float | None = 1,
    ended: float | None = None,
    **rest: Any,
) -> Pod:
    """A Pod with its note, and the times of its life in minutes."""
    placed = {"node": "node-1" if scheduled is not None else ""}
    phase = "Running" if ended is None else "Failed"
    held: Pod = remade(
        pod_of(box(), **({"phase": phase} | placed | rest)),
        uid=uid,
        creationTimestamp=at(made),
        annotations={names.CHARGE: NOTE},
    )
    if scheduled is not None:
        bound = attrs.evolve(condition("PodScheduled", "True"), lastTransitionTime=at(scheduled))
        held = attrs.evolve(held, status=attrs.evolve(held.status, conditions=(bound,)))
    return ended_at(held, ended) if ended is not None else held


def ended_at(held: Pod, *minutes: float) -> Pod:
    """*held*, its containers having ended at *minutes*."""
    ends = tuple(
        ContainerStatus(
            name=f"c{minute}",
            state=ContainerState(terminated=ContainerTerminated(finishedAt=at(minute))),
        )
        for minute in minutes
    )
    return attrs.evolve(held, status=attrs.evolve(held.status, containerStatuses=ends))


def ledger(state: UsageState, since: float, uid: str = "", **rest: Any) -> Usage:
    """A ledger whose open interval began at minute *since*."""
    charge = CHARGE if state is ALLOCATED else None
    return Usage(state=state, since=at(since), podUID=uid, charge=charge, **rest)


def held_for(minutes: float) -> tuple[AllocatedTime, ...]:
    """The Pod's charge for so long."""
    seconds = int(minutes * 60)
    return (
        AllocatedTime(
            type="small", family=UsageFamily.WHOLE, seconds=seconds, acceleratorSeconds=2 * seconds
        ),
    )


RUNS = ledger(ALLOCATED, 1, "first", pendingSeconds=60)
WAITS = ledger(PENDING, 0)
IDLE = ledger(STOPPED, 0)
UNPLACED = pod(scheduled=None, phase="Pending")
OVER = pod(ended=7)
FOREIGN = Pod(metadata=meta(uid="foreign"))

Row = tuple[Instance, Pod | None, Usage]
AT_TEN: dict[str, Row] = {
    "a new Instance waits from the moment it was made": (box(), None, WAITS),
    "a new Instance that is not to run is stopped from then on": (box(stop=True), None, IDLE),
    "a new Instance that was stopped before anybody wrote of it": (
        remade(box(stop=True), generation=2), UNPLACED,
        ledger(STOPPED, 10, pendingSeconds=600),
    ),
    "a start after a stop whose Pod is still going": (
        box(ledger(STOPPED, 5)), ending(pod(scheduled=None, phase="Pending")),
        ledger(PENDING, 10, stoppedSeconds=300),
    ),
    "a start after a stop in the second in which its Pod was made": (
        box(ledger(STOPPED, 5)), ending(pod(made=5, scheduled=None, phase="Pending")),
        ledger(PENDING, 10, stoppedSeconds=300),
    ),
    "a start after a stop whose Pod nobody could delete": (
        box(ledger(STOPPED, 5)), pod(scheduled=None, phase="Pending"),
        ledger(PENDING, 10, stoppedSeconds=300),
    ),
    "a stop whose Pod got a node all the same": (
        box(ledger(STOPPED, 5), stop=True), ending(pod(scheduled=7)),
        ledger(ALLOCATED, 7, "first", stoppedSeconds=120),
    ),
    "a Pod that waits for a node holds nothing": (box(WAITS), UNPLACED, WAITS),
    "a Pod under the name that is not ours is nothing": (box(WAITS), FOREIGN, WAITS),
    "a start that nobody wrote of before": (box(), pod(), RUNS),
    "a Pod holds from when it was scheduled": (box(WAITS), pod(), RUNS),
    "a Pod that still holds": (box(RUNS), pod(), RUNS),
    "a Pod that is going still holds": (box(RUNS), ending(pod()), RUNS),
    "a stop that waits for its Pod": (box(RUNS, stop=True), ending(pod()), RUNS),
    "a stop": (
        box(RUNS, stop=True), None,
        ledger(STOPPED, 10, "first", pendingSeconds=60, allocated=held_for(9)),
    ),
    "a stop of what held nothing": (
        box(WAITS, stop=True), UNPLACED, ledger(STOPPED, 10, pendingSeconds=600),
    ),
    "the end of an Instance that holds nothing": (
        box(WAITS, deleting=True), None, ledger(STOPPED, 10, pendingSeconds=600),
    ),
    "a start after a stop": (box(IDLE), None, ledger(PENDING, 10, stoppedSeconds=600)),
    "a start after a stop, seen by its Pod": (
        box(IDLE), pod(made=4, scheduled=None, phase="Pending"),
        ledger(PENDING, 4, stoppedSeconds=240),
    ),
    "a start after a stop, seen when all is done": (
        box(IDLE), pod(made=4, scheduled=6),
        ledger(ALLOCATED, 6, "first", stoppedSeconds=240, pendingSeconds=120),
    ),
    "a Pod that went unseen counts until it is missed": (
        box(RUNS), None,
        ledger(PENDING, 10, "first", pendingSeconds=60, allocated=held_for(9)),
    ),
    "a Pod that was replaced unseen": (
        box(RUNS), pod("second", made=5, scheduled=8),
        ledger(ALLOCATED, 8, "second", pendingSeconds=240, allocated=held_for(4)),
    ),
    "a Pod that failed holds until its last container ended": (
        box(RUNS), OVER, ledger(PENDING, 7, "first", pendingSeconds=60, allocated=held_for(6)),
    ),
    "the last of several containers": (
        box(RUNS), ended_at(OVER, 4, 6, 5),
        ledger(PENDING, 6, "first", pendingSeconds=60, allocated=held_for(5)),
    ),
    "a Pod that failed without a word of when": (
        box(RUNS), ended_at(OVER),
        ledger(PENDING, 10, "first", pendingSeconds=60, allocated=held_for(9)),
    ),
    "a Pod that came and failed between two writes": (
        box(WAITS), OVER, ledger(PENDING, 7, "first", pendingSeconds=60, allocated=held_for(6)),
    ),
    "a Pod that was written off": (
        box(ledger(PENDING, 7, "first")), OVER, ledger(PENDING, 7, "first"),
    ),
    "a Pod that was written off without a word of when": (
        box(ledger(PENDING, 7, "first")), ended_at(OVER), ledger(PENDING, 7, "first"),
    ),
    "a Pod that never got a node failed": (
        box(WAITS), pod(scheduled=None, phase="Failed", node=""), WAITS,
    ),
    "a stop of what failed": (
        box(ledger(PENDING, 7, "first"), stop=True), OVER,
        ledger(STOPPED, 10, "first", pendingSeconds=180),
    ),
    "an older operator told of a Pod": (
        box(told=True), pod(), ledger(ALLOCATED, 1, "first"),
    ),
    "an older operator told of no Pod": (box(told=True), None, ledger(PENDING, 10)),
    "an older operator told of a Pod that ended": (
        box(told=True), OVER, ledger(PENDING, 10, "first"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("of", "held", "expected"), AT_TEN.values(), ids=AT_TEN)
def test_the_ledger_at_ten_past_twelve(of: Instance, held: Pod | None, expected: Usage) -> None:
    assert expected == usage(of, held, None, clock(10))


@pytest.mark.parametrize(("of", "held", "expected"), AT_TEN.values(), ids=AT_TEN)
def test_what_was_written_is_not_written_again(
    of: Instance, held: Pod | None, expected: Usage
) -> None:
    written = attrs.evolve(of, status=InstanceStatus(usage=expected, observedGeneration=3))

    assert expected == usage(written, held, None, clock(99))


@pytest.mark.parametrize(("of", "held", "expected"), AT_TEN.values(), ids=AT_TEN)
def test_the_status_tells_it(of: Instance, held: Pod | None, expected: Usage) -> None:
    assert expected == status(seen(of, pod=held, now=clock(10))).usage


@pytest.mark.parametrize("ready", ["Unknown", "False"])
def test_what_a_silent_node_runs_is_held(ready: str) -> None:
    assert RUNS == usage(box(RUNS), pod(), node(ready=ready), clock(10))


def test_an_end_that_a_node_could_not_tell_counts_from_when_it_could() -> None:
    assert at(9) == usage(box(RUNS), OVER, answering(since=9), clock(10)).since
    assert at(7) == usage(box(RUNS), OVER, answering(since=5), clock(10)).since


def answering(*, since: float) -> Node:
    """A node that is Ready again."""
    held = node()
    again = attrs.evolve(condition("Ready", "True"), lastTransitionTime=at(since))
    return attrs.evolve(held, status=attrs.evolve(held.status, conditions=(again,)))


def test_a_pod_that_no_scheduler_placed_holds_from_when_it_was_made() -> None:
    bare = attrs.evolve(pod(made=2), status=attrs.evolve(pod().status, conditions=()))

    assert at(2) == usage(box(WAITS), bare, None, clock(10)).since


@pytest.mark.parametrize("now", [-5, 0.5])
def test_a_clock_that_is_behind_gives_no_negative_time(now: float) -> None:
    told = usage(box(WAITS), pod(), None, clock(now))

    assert (ALLOCATED, at(max(0, now))) == (told.state, told.since)
    assert int(max(0, now) * 60) == told.pendingSeconds


def test_a_pod_that_goes_before_anybody_wrote_of_it_is_written_at_once() -> None:
    placed = pod(scheduled=0)
    waits, starts, goes = (status(seen(box(), pod=held)) for held in (None, placed, ending(placed)))

    assert [Phase.PENDING, Phase.STARTING, Phase.PENDING] == [
        told.phase for told in (waits, starts, goes)
    ]
    assert only_progress(waits, starts)
    assert not only_progress(waits, goes)
    assert only_progress(starts, goes)


def seconds_served(of: Instance, held: Pod | None) -> tuple[float, float, float] | None:
    """What is served just after ten past, of what was at ten past: held, pending, stopped."""
    totals = served(of, held, None, clock(10) + SETTLING)
    if totals is None:
        return None
    allocated = sum(time.seconds for time in totals.allocated.values())
    return allocated, totals.pending_seconds, totals.stopped_seconds


SERVED: dict[str, tuple[Instance, Pod | None, tuple[float, float, float] | None]] = {
    "nothing is known": (box(), pod(), None),
    "it runs": (box(RUNS), pod(), (540, 60, 0)),
    "it waits": (box(WAITS), UNPLACED, (0, 600, 0)),
    "it is stopped": (box(IDLE, stop=True), None, (0, 0, 600)),
    "it was scheduled, which nobody wrote yet": (box(WAITS), pod(), (0, 60, 0)),
    "it failed, which nobody wrote yet": (box(RUNS), OVER, (360, 60, 0)),
    "its Pod is gone, which nobody wrote yet": (box(RUNS), None, (540, 60, 0)),
    "it was replaced, which nobody wrote yet": (
        box(RUNS), pod("second", made=5, scheduled=8), (240, 60, 0),
    ),
    "it was started, which nobody wrote yet": (box(IDLE), None, (0, 0, 600)),
    "it began after that": (box(ledger(ALLOCATED, 10.1, "first")), pod(), (0, 0, 0)),
}  # fmt: skip


@pytest.mark.parametrize(("of", "held", "expected"), SERVED.values(), ids=SERVED)
def test_no_more_is_served_than_what_no_later_write_takes_back(
    of: Instance, held: Pod | None, expected: tuple[float, float, float] | None
) -> None:
    assert expected == seconds_served(of, held)
