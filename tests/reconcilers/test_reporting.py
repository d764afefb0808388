"""When a changed status is written: progress waits, everything else is told at once."""

import itertools

import attrs
import pytest

from gpustack_ctrl.api.instance_status import Blocker, InstanceStatus, Phase
from gpustack_ctrl.reconcilers.status.reporting import due, only_progress, only_words
from tests.helpers.builders import condition

BLOCKER = Blocker(gate="quota", reason="QuotaExceeded", message="no")
ON_THE_WAY = (None, Phase.PENDING, Phase.STARTING)


def told(phase: Phase | None, blocker: Blocker | None = None) -> InstanceStatus:
    return InstanceStatus(phase=phase, blocker=blocker)


@pytest.mark.parametrize(("before", "after"), [*itertools.product(ON_THE_WAY, repeat=2)])
def test_a_start_that_gets_on_is_only_progress(before: Phase | None, after: Phase | None) -> None:
    assert only_progress(told(before), told(after))


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase not in ON_THE_WAY])
def test_every_other_phase_is_news_when_it_comes_and_when_it_goes(phase: Phase) -> None:
    assert not only_progress(told(Phase.STARTING), told(phase))
    assert not only_progress(told(phase), told(Phase.STARTING))
    assert not only_progress(told(phase), told(phase))


@pytest.mark.parametrize(("before", "after"), [(None, BLOCKER), (BLOCKER, None)])
def test_a_blocker_is_news_when_it_comes_and_when_it_goes(
    before: Blocker | None, after: Blocker | None
) -> None:
    assert not only_progress(told(Phase.PENDING, before), told(Phase.PENDING, after))


def test_a_gate_that_we_open_ourselves_in_no_time_is_only_progress() -> None:
    passing = Blocker(gate="isolation", reason="PolicyPending", message="wait")

    assert only_progress(told(None), told(Phase.PENDING, passing))
    assert only_progress(told(Phase.PENDING, passing), told(Phase.STARTING))


def test_progress_waits_a_second_and_five_after_the_last_write() -> None:
    assert 101.0 == due(noticed=100.0, written=None)
    assert 101.0 == due(noticed=100.0, written=10.0)
    assert 104.0 == due(noticed=100.0, written=99.0)
    assert 101.0 == due(noticed=100.0, written=96.0)


def test_the_same_news_in_another_sentence_is_only_words() -> None:
    said = condition("Ready", "False", "QuotaExceeded")
    before = InstanceStatus(message="3 used", blocker=BLOCKER, conditions=(said,))
    after = InstanceStatus(
        message="4 used",
        blocker=attrs.evolve(BLOCKER, message="4 used"),
        conditions=(attrs.evolve(said, message="4 used"),),
    )

    assert only_words(before, after)
    assert not only_words(before, before)


def test_another_reason_generation_or_blocker_is_more_than_words() -> None:
    before = InstanceStatus(blocker=BLOCKER, conditions=(condition("Ready", "False", "Quota"),))

    for after in (
        attrs.evolve(before, observedGeneration=2),
        attrs.evolve(before, blocker=None),
        attrs.evolve(before, blocker=attrs.evolve(BLOCKER, reason="Forbidden")),
        attrs.evolve(before, conditions=(condition("Ready", "False", "Other"),)),
    ):
        assert not only_words(before, after)
