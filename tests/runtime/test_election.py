"""The decisions of an elector, without time passing and without a network."""

from datetime import UTC, datetime
from typing import Any

import pytest

from gpustack_ctrl.runtime.election import Create, Election, Timing, Update, Wait
from tests.runtime.lease_world import KEY

WALL = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


def lease(holder: str, *, renewed: str = "t0", version: str = "7", **spec: object) -> Any:
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": "leader",
            "uid": "u",
            "resourceVersion": version,
            "labels": {"a": "b"},
        },
        "spec": {
            "holderIdentity": holder,
            "leaseDurationSeconds": 15,
            "acquireTime": "then",
            "renewTime": renewed,
            "leaseTransitions": 3,
            **spec,
        },
    }


def me() -> Election:
    return Election(key=KEY, identity="me")


def test_a_lease_that_is_not_there_is_created() -> None:
    step = me().observed(None, 100).claim(100, WALL)

    assert isinstance(step, Create)
    assert {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"namespace": "system", "name": "leader"},
        "spec": {
            "holderIdentity": "me",
            "leaseDurationSeconds": 15,
            "acquireTime": "2026-03-01T12:00:00.123456Z",
            "renewTime": "2026-03-01T12:00:00.123456Z",
            "leaseTransitions": 0,
        },
    } == step.lease


def test_e3_a_lease_is_taken_only_a_full_term_after_its_last_change_was_seen() -> None:
    watching = me().observed(lease("other"), 100)

    assert isinstance(watching.claim(114.9, WALL), Wait)
    assert isinstance(watching.claim(115, WALL), Update)

    watching = watching.observed(lease("other", renewed="t1"), 114)

    assert isinstance(watching.claim(128.9, WALL), Wait)
    assert isinstance(watching.claim(129, WALL), Update)


def test_e3_what_a_person_labels_does_not_prolong_a_term() -> None:
    watching = me().observed(lease("other"), 100).observed(lease("other", version="8"), 110)

    step = watching.claim(115, WALL)

    assert isinstance(step, Update)
    assert "8" == step.lease["metadata"]["resourceVersion"]


def test_e3_the_holder_says_how_long_its_term_is() -> None:
    watching = me().observed(lease("other", leaseDurationSeconds=60), 100)

    assert isinstance(watching.claim(159, WALL), Wait)
    assert isinstance(watching.claim(160, WALL), Update)


def test_e3_a_time_of_day_in_the_lease_means_nothing() -> None:
    watching = me().observed(lease("other", renewed="1970-01-01T00:00:00.000000Z"), 100)

    assert isinstance(watching.claim(101, WALL), Wait)


def test_a_released_lease_is_taken_at_once() -> None:
    step = me().observed(lease("", leaseDurationSeconds=1), 100).claim(100, WALL)

    assert isinstance(step, Update)
    assert "me" == step.lease["spec"]["holderIdentity"]


def test_a_lease_without_a_spec_is_taken_at_once() -> None:
    bare = {"metadata": {"resourceVersion": "1"}}

    assert isinstance(me().observed(bare, 100).claim(100, WALL), Update)


def test_e8_a_change_of_holder_counts_a_transition_and_a_renewal_does_not() -> None:
    taken = me().observed(lease("other"), 100).claim(200, WALL)
    kept = me().observed(lease("me"), 100).claim(100, WALL)

    assert isinstance(taken, Update)
    assert isinstance(kept, Update)
    assert 4 == taken.lease["spec"]["leaseTransitions"]
    assert "2026-03-01T12:00:00.123456Z" == taken.lease["spec"]["acquireTime"]
    assert 3 == kept.lease["spec"]["leaseTransitions"]
    assert "then" == kept.lease["spec"]["acquireTime"]
    assert "2026-03-01T12:00:00.123456Z" == kept.lease["spec"]["renewTime"]


def test_what_others_wrote_into_the_lease_survives_a_claim() -> None:
    step = me().observed(lease("other", strategy="OldestEmulationVersion"), 0).claim(99, WALL)

    assert isinstance(step, Update)
    assert "OldestEmulationVersion" == step.lease["spec"]["strategy"]
    assert {"a": "b"} == step.lease["metadata"]["labels"]


def test_e2_leadership_ends_by_itself_at_the_renew_deadline() -> None:
    leader = me().renewed(lease("me"), begun=100)

    assert leader.leading(109.9)
    assert not leader.leading(110)


def test_e7_a_leader_that_sees_another_holder_does_not_write() -> None:
    leader = me().renewed(lease("me"), begun=100).observed(lease("other"), 101)

    assert leader.held_by_other()
    assert isinstance(leader.claim(500, WALL), Wait)


def test_e7_a_leader_whose_lease_somebody_edited_goes_on() -> None:
    leader = me().renewed(lease("me"), begun=100).observed(lease("me", version="9"), 101)

    step = leader.claim(101, WALL)

    assert isinstance(step, Update)
    assert "9" == step.lease["metadata"]["resourceVersion"]


def test_e9_a_lease_that_vanished_is_not_taken_before_its_holders_term_ends() -> None:
    watching = me().observed(lease("other"), 100).observed(None, 105)

    assert isinstance(watching.claim(114, WALL), Wait)
    assert isinstance(watching.claim(115, WALL), Create)


def test_e9_a_leader_creates_its_vanished_lease_again() -> None:
    leader = me().renewed(lease("me"), begun=100).observed(None, 102)

    assert isinstance(leader.claim(102, WALL), Create)


def test_e6_only_the_holder_resigns_and_it_leaves_the_history_alone() -> None:
    leader = me().renewed(lease("me"), begun=100)

    resignation = leader.resignation(WALL)

    assert resignation is not None
    assert {
        "holderIdentity": "",
        "leaseDurationSeconds": 1,
        "acquireTime": "then",
        "renewTime": "2026-03-01T12:00:00.123456Z",
        "leaseTransitions": 3,
    } == resignation.lease["spec"]
    assert None is leader.observed(lease("other"), 101).resignation(WALL)
    assert None is me().resignation(WALL)


@pytest.mark.parametrize(
    ("periods", "complaint"),
    [
        ({"lease": 10.0}, r"^lease duration 10 s must exceed renew deadline 10 s"),
        ({"retry": 9.0}, r"1\.2 retry periods of 9 s: lengthen the one or shorten the other$"),
        ({"retry": 0.0}, r"retry periods of 0 s"),
        (
            {"attempt": 4.0},
            r"^two failing attempts of 4 s must leave time .*: shorten the attempt$",
        ),
    ],
)
def test_e5_periods_that_cannot_work_are_refused(periods: dict[str, float], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Timing(**periods)


def test_an_elector_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="system/leader: an elector needs an identity"):
        Election(key=KEY, identity="")
