"""How long the progress of an Instance may wait to be told."""

from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.controllers.patience import Patience

KEY, OTHER = ObjectKey("team", "box"), ObjectKey("team", "bench")


def test_progress_waits_from_when_it_was_first_noticed() -> None:
    patience = Patience()

    assert 1.0 == patience.wait(KEY, 100.0)
    assert 0.5 == patience.wait(KEY, 100.5)
    assert 0.0 == patience.wait(KEY, 101.0)
    assert 0.0 == patience.wait(KEY, 500.0)


def test_after_a_write_the_next_progress_waits_longer() -> None:
    patience = Patience()
    patience.wait(KEY, 100.0)
    patience.wrote(KEY, 101.0)

    assert 4.5 == patience.wait(KEY, 101.5)
    assert 1.0 == patience.wait(KEY, 105.0)


def test_what_was_told_otherwise_does_not_wait_any_more() -> None:
    patience = Patience()
    patience.wait(KEY, 100.0)
    patience.settle(KEY)

    assert 1.0 == patience.wait(KEY, 200.0)


def test_each_instance_waits_for_itself() -> None:
    patience = Patience()
    patience.wait(KEY, 100.0)
    patience.wrote(KEY, 100.0)

    assert 1.0 == patience.wait(OTHER, 100.5)


def test_an_instance_that_is_gone_leaves_nothing_behind() -> None:
    patience = Patience()
    patience.wait(KEY, 100.0)
    patience.wrote(KEY, 101.0)
    patience.wait(KEY, 101.5)

    patience.forget(KEY)
    patience.forget(OTHER)

    assert 1.0 == patience.wait(KEY, 102.0)
