"""Usage over arbitrary lives: the operator and its readers die and come back at any time."""

from datetime import timedelta

import attrs
from hypothesis import event, given, settings
from hypothesis import strategies as st

from gpustack_ctrl.api.validation import violations
from gpustack_ctrl.reconcilers.usage.account import SETTLING, served
from gpustack_ctrl.reconcilers.usage.ledger import Totals, metered
from tests.helpers.builders import NOW
from tests.reconcilers.usage_life import HELD, PENDING, STOPPED, Life, Truth, flat

MOST_LAG = 10
"""How far behind a reader's caches may be: less than what is served."""

Step = tuple[int, int, bool, int, int]
steps = st.lists(
    st.tuples(
        st.integers(0, 8) | st.integers(0, 600),
        st.integers(0, 2**16),
        st.booleans(),
        st.integers(0, MOST_LAG),
        st.integers(0, MOST_LAG),
    ),
    max_size=40,
)
unhurried = settings(deadline=None, max_examples=100)


def lived(life: Life, steps: list[Step], readers: "Readers | None" = None) -> Life:
    """*life* after *steps*, each some time, something that happens, and what follows."""
    life.work(waits=True)
    life.note()
    for seconds, choice, waits, *lags in steps:
        life.pass_time(seconds)
        if readers:
            readers.look(life, *lags)
        acts = life.possible()
        acts[sorted(acts)[choice % len(acts)]]()
        life.work(waits=waits)
        life.note()
        if readers:
            readers.look(life, *lags)
    return life


def settled(life: Life) -> Life:
    """*life* once the operator is there and has written all."""
    life.come_back()
    life.work(waits=False)
    return life


@attrs.define
class Readers:
    """One after the other, each without any memory: only what they served is compared."""

    last: Truth = attrs.field(factory=dict)
    _instance: int = 0
    _pod: int = 0

    def look(self, life: Life, instance_lag: int, pod_lag: int) -> None:
        """Read with caches that are so far behind, and never go back."""
        self._instance = max(self._instance, _seen_at(life, life.clock - instance_lag))
        self._pod = max(self._pod, _seen_at(life, life.clock - pod_lag))
        _, instance, _ = life.past[self._instance]
        _, _, pod = life.past[self._pod]
        totals = served(instance, pod, None, life.now)
        if totals is not None:
            self._compare(flat(totals))

    def _compare(self, told: Truth) -> None:
        for key, before in self.last.items():
            assert told.get(key, 0) >= before, key
        self.last = told


def _seen_at(life: Life, clock: int) -> int:
    """Which entry of its past is the last one that was there at *clock*."""
    return max((at for at, (when, *_) in enumerate(life.past) if when <= clock), default=0)


def _errors(life: Life, totals: Totals) -> dict[tuple[str, ...], float]:
    told = flat(totals)
    return {
        key: abs(told.get(key, 0) - life.truth.get(key, 0))
        for key in {*told, *life.truth}
        if key[0] in (HELD, *PENDING, *STOPPED)
    }


def _some(told: Truth) -> Truth:
    return {key: value for key, value in told.items() if value}


@given(steps=steps)
@unhurried
def test_the_ledger_is_right_but_for_what_nobody_could_know(steps: list[Step]) -> None:
    life = settled(lived(Life(), steps))
    assert life.ledger is not None
    now = NOW + timedelta(seconds=life.clock)

    event("something nobody could know" if life.unsure else "all could be known")
    assert max(_errors(life, metered(life.ledger, now)).values()) <= life.unsure
    if not life.unsure:
        assert _some(life.truth) == _some(flat(metered(life.ledger, now)))


@given(steps=steps)
@unhurried
def test_all_time_since_the_creation_is_in_one_total(steps: list[Step]) -> None:
    life = Life()
    life.work(waits=False)
    for step in steps:
        lived(life, [step])
        assert life.ledger is not None
        told = flat(metered(life.ledger, life.now))
        counted = sum(value for key, value in told.items() if key[0] != "accelerators")

        assert (life.now - NOW).total_seconds() == counted
        assert () == violations(life.ledger)


@given(steps=steps)
@unhurried
def test_what_is_served_never_goes_down_whoever_dies(steps: list[Step]) -> None:
    readers = Readers()
    life = lived(Life(), steps, readers)
    life.pass_time(MOST_LAG)
    settled(life).note()
    life.pass_time(60)
    readers.look(life, 0, 0)

    assert life.ledger is not None
    late = NOW + timedelta(seconds=life.clock) - SETTLING
    assert flat(metered(life.ledger, late)) == readers.last
