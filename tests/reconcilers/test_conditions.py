"""W6: a condition has a new time exactly when its status is new."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.api.meta import Condition, ConditionStatus
from gpustack_ctrl.reconcilers.conditions import Statement, stated, timestamp
from tests.helpers.builders import NOW, SINCE, condition

statuses: st.SearchStrategy[ConditionStatus] = st.sampled_from(("True", "False", "Unknown"))
words = st.sampled_from(("", "Why", "Other"))
said = st.builds(Statement, st.just("Ready"), statuses, words, words)


def told(now: Statement, before: tuple[Condition, ...] = ()) -> Condition:
    [condition] = stated([now], before, generation=4, now=NOW)
    return condition


def test_a_statement_becomes_a_condition_of_the_generation_that_was_seen() -> None:
    assert Condition(
        type="Ready",
        status="False",
        reason="Starting",
        message="wait",
        lastTransitionTime="2026-11-30T12:00:00Z",
        observedGeneration=4,
    ) == told(Statement("Ready", "False", "Starting", "wait"))


@given(before=said, after=said)
def test_w6_the_time_changes_exactly_when_the_status_does(
    before: Statement, after: Statement
) -> None:
    earlier = condition("Ready", before.status, before.reason, before.message)

    now = told(after, (condition("Stopped", "True"), earlier))

    assert (before.status == after.status) == (SINCE == now.lastTransitionTime)
    assert (after.reason, after.message) == (now.reason, now.message)


@pytest.mark.parametrize("status", ["True", "False"])
def test_w6_the_history_of_another_condition_does_not_count(status: ConditionStatus) -> None:
    now = told(Statement("Ready", status, "Why"), (condition("Stopped", status),))

    assert "2026-11-30T12:00:00Z" == now.lastTransitionTime


def test_a_condition_that_is_not_stated_any_more_is_gone() -> None:
    held = (condition("NameConflict", "True"), condition("Ready", "True"))

    assert ["Ready"] == [
        it.type for it in stated([Statement("Ready", "True", "Why")], held, generation=1, now=NOW)
    ]


def test_times_are_written_in_utc_and_whole_seconds() -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)

    assert "2026-01-02T03:04:05Z" == timestamp(moment)
    assert "2026-01-02T03:04:06Z" == timestamp(moment + timedelta(milliseconds=400))
