"""The arithmetic of the ledger: intervals follow one another, and nothing is lost."""

from datetime import timedelta

import attrs
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.api.usage import AllocatedTime, Charge, Usage, UsageFamily, UsageState
from gpustack_ctrl.api.validation import violations
from gpustack_ctrl.reconcilers.conditions import timestamp
from gpustack_ctrl.reconcilers.usage.ledger import (
    NAMED,
    OTHERS,
    Held,
    Move,
    Totals,
    metered,
    moment,
    moved,
)
from tests.helpers.builders import NOW

WHOLE = Charge(type="large", family=UsageFamily.WHOLE, accelerators=4)
NEW = Usage(state=UsageState.PENDING, since=timestamp(NOW))

charges = st.builds(
    Charge,
    type=st.integers(0, 99).map("type-{}".format),
    family=st.sampled_from(UsageFamily),
    accelerators=st.integers(0, 8),
)
states = st.sampled_from(UsageState)
steps = st.integers(-5, 600)


def after(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)


def to(state: UsageState, seconds: int, charge: Charge | None = None) -> Move:
    held = charge if state is UsageState.ALLOCATED else None
    return Move(to=state, at=NOW + after(seconds), charge=held)


def total(totals: Totals) -> float:
    allocated = sum(held.seconds for held in totals.allocated.values())
    return allocated + totals.pending_seconds + totals.stopped_seconds


def test_an_interval_is_closed_where_the_next_one_begins() -> None:
    ledger = moved(NEW, to(UsageState.ALLOCATED, 10, WHOLE))
    ledger = moved(ledger, to(UsageState.STOPPED, 70))
    ledger = moved(ledger, to(UsageState.PENDING, 75))

    assert (
        attrs.evolve(
            NEW,
            since=timestamp(NOW + after(75)),
            allocated=(
                AllocatedTime(
                    type="large", family=UsageFamily.WHOLE, seconds=60, acceleratorSeconds=240
                ),
            ),
            pendingSeconds=10,
            stoppedSeconds=5,
        )
        == ledger
    )


def test_the_open_interval_counts_for_readers_at_once() -> None:
    ledger = moved(NEW, to(UsageState.ALLOCATED, 10, WHOLE))

    totals = metered(ledger, NOW + after(12.5))

    held = {("large", UsageFamily.WHOLE): Held(seconds=2.5, accelerator_seconds=10)}
    assert Totals(allocated=held, pending_seconds=10, stopped_seconds=0) == totals


def test_what_began_this_second_is_served_as_nothing_rather_than_not_at_all() -> None:
    totals = metered(moved(NEW, to(UsageState.ALLOCATED, 0, WHOLE)), NOW)

    assert {("large", UsageFamily.WHOLE): Held()} == totals.allocated


def test_a_reader_whose_clock_is_behind_sees_no_negative_time() -> None:
    assert 0 == metered(NEW, NOW - after(5)).pending_seconds


def test_of_no_time_at_all_nothing_is_noted() -> None:
    ledger = moved(moved(NEW, to(UsageState.ALLOCATED, 0, WHOLE)), to(UsageState.STOPPED, 0))

    assert () == ledger.allocated


def test_times_of_another_zone_and_parts_of_seconds_are_understood() -> None:
    assert moment("2026-11-30T12:00:00Z") == moment("2026-11-30T14:00:00.75+02:00")


def test_types_that_the_ledger_has_no_room_for_are_summed_up_by_family() -> None:
    ledger = NEW
    for number in range(NAMED + 10):
        family = tuple(UsageFamily)[number % 5]
        charge = Charge(type=f"type-{number}", family=family, accelerators=1)
        ledger = moved(ledger, to(UsageState.ALLOCATED, number, charge))
    ledger = moved(ledger, to(UsageState.STOPPED, NAMED + 10))

    others = {told.family: told.seconds for told in ledger.allocated if told.type == OTHERS}
    assert dict.fromkeys(UsageFamily, 2) == others
    assert NAMED + 5 == len(ledger.allocated)
    assert () == violations(ledger)


@given(lives=st.lists(st.tuples(states, steps, charges), max_size=200), rest=steps)
def test_all_time_is_in_one_total_whatever_the_clocks_say(
    lives: list[tuple[UsageState, int, Charge]], rest: int
) -> None:
    ledger, clock = NEW, 0
    for state, step, charge in lives:
        clock += step
        before = metered(ledger, moment(ledger.since))
        ledger = moved(ledger, to(state, clock, charge))
        assert_no_less(before, metered(ledger, moment(ledger.since)))

    now = max(NOW + after(clock + rest), moment(ledger.since))

    assert (now - NOW).total_seconds() == total(metered(ledger, now))
    assert () == violations(ledger)


def assert_no_less(before: Totals, now: Totals) -> None:
    """Nothing that was counted is taken back."""
    assert now.pending_seconds >= before.pending_seconds
    assert now.stopped_seconds >= before.stopped_seconds
    for key, held in before.allocated.items():
        assert now.allocated.get(key, Held()).seconds >= held.seconds
        assert now.allocated.get(key, Held()).accelerator_seconds >= held.accelerator_seconds
