"""T1 W6: what holds of every status, whatever a pass may have seen."""

from datetime import timedelta

import attrs
from hypothesis import given, settings

from gpustack_ctrl.api.instance_status import InstanceStatus, Phase
from gpustack_ctrl.api.meta import condition_of
from gpustack_ctrl.api.validation import violations
from gpustack_ctrl.plan.actions import Refused
from gpustack_ctrl.reconcilers.claims import Claim, claim
from gpustack_ctrl.reconcilers.isolation.cidrs import in_place
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot
from gpustack_ctrl.reconcilers.status.summary import status
from tests.helpers.builders import instance, seen
from tests.helpers.snapshots import refusals, snapshots

Refusals = tuple[Refused, ...]
unhurried = settings(deadline=None, max_examples=60)


def later(snapshot: InstanceSnapshot, told: InstanceStatus) -> InstanceSnapshot:
    """The same picture a minute later, with *told* written."""
    instance = attrs.evolve(snapshot.instance, status=told)
    return attrs.evolve(snapshot, instance=instance, now=snapshot.now + timedelta(minutes=1))


@given(snapshot=snapshots(), refused=refusals)
@unhurried
def test_t1_a_status_that_is_written_is_told_again_unchanged(
    snapshot: InstanceSnapshot, refused: Refusals
) -> None:
    # An hour on, what may take too long has done so.
    settled = attrs.evolve(snapshot, now=snapshot.now + timedelta(hours=1))
    told = status(settled, refused)

    assert told == status(later(settled, told), refused)


@given(before=snapshots(), after=snapshots())
@unhurried
def test_w6_a_transition_time_changes_exactly_when_the_status_does(
    before: InstanceSnapshot, after: InstanceSnapshot
) -> None:
    first = status(before)
    second = status(later(after, first))

    for now in second.conditions:
        was = condition_of(first.conditions, now.type)
        if was is not None:
            same = was.status == now.status
            assert same == (was.lastTransitionTime == now.lastTransitionTime), now.type


@given(snapshot=snapshots(), refused=refusals)
@unhurried
def test_t1_ready_means_that_all_of_it_is_there(
    snapshot: InstanceSnapshot, refused: Refusals
) -> None:
    told = status(snapshot, refused)
    ready = condition_of(told.conditions, "Ready")
    assert ready is not None

    assert (ready.status == "True") == (told.phase is Phase.READY)
    if told.phase is not Phase.READY:
        return
    pod, cidrs = snapshot.pod, snapshot.settings.isolation
    assert pod is not None
    assert Claim.OURS is claim(snapshot.instance, pod)
    assert pod.metadata.uid == told.podUID
    assert "Running" == pod.status.phase or pod.status.phase in ("", "Pending", "Unknown")
    assert not pod.metadata.deleting
    assert told.blocker is None
    assert all(port.nodePort for port in told.ports)
    assert cidrs is not None
    assert not cidrs or in_place(snapshot.policy, cidrs)


@given(snapshot=snapshots(), refused=refusals)
@unhurried
def test_a_status_never_breaks_the_bounds_of_its_own_schema(
    snapshot: InstanceSnapshot, refused: Refusals
) -> None:
    assert () == violations(status(snapshot, refused), "status")


def test_a_fault_with_a_very_long_value_is_cut_to_what_the_schema_takes() -> None:
    told = status(seen(instance(volumeMount="x" * 5000)))

    assert told.blocker is not None
    assert "InvalidSpec" == told.blocker.reason
    assert () == violations(told, "status")


@given(snapshot=snapshots(), refused=refusals)
@unhurried
def test_t3_a_blocker_never_stands_beside_ready_and_is_what_ready_says(
    snapshot: InstanceSnapshot, refused: Refusals
) -> None:
    told = status(snapshot, refused)
    ready = condition_of(told.conditions, "Ready")
    assert ready is not None

    if told.blocker is not None and not (
        snapshot.instance.spec.stop or snapshot.instance.metadata.deleting
    ):
        assert (told.blocker.reason, told.blocker.message) == (ready.reason, ready.message)


@given(snapshot=snapshots(), other=snapshots())
@unhurried
def test_t1_nothing_but_promises_and_history_is_carried_over(
    snapshot: InstanceSnapshot, other: InstanceSnapshot
) -> None:
    stale = status(other)
    lying = attrs.evolve(
        stale,
        phase=Phase.READY,
        message="a lie",
        blocker=None,
        conditions=(),
        nodeName="elsewhere",
        podIPs=(),
        portSummary="a lie",
        restarts=99,
        startTime="2001-01-01T00:00:00Z",
        observedGeneration=99,
    )
    honest = attrs.evolve(lying, phase=None, message="", nodeName="", portSummary="", restarts=0)

    assert status(later(snapshot, honest)) == status(later(snapshot, lying))
