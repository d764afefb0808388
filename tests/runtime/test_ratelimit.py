"""Back-off and budget: how long a key that failed has to wait."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.runtime.ratelimit import (
    Backoff,
    ItemBackoff,
    RetryLimiter,
    TokenBucket,
    retry_limiter,
)
from tests.helpers.clock import FakeClock

shares = st.floats(0, 1)


@given(failures=st.integers(0, 1_000_000), at=shares)
def test_l1_each_wait_is_the_capped_power_within_its_jitter(failures: int, at: float) -> None:
    backoff = Backoff(base=0.005, factor=2, maximum=300, jitter=0.15)
    plain = 300.0 if failures > 20 else min(0.005 * 2**failures, 300.0)

    delay = backoff.delay(failures, at=at)

    assert plain * 0.85 - 1e-9 <= delay <= plain * 1.15 + 1e-9


@given(
    base=st.floats(0.001, 10),
    factor=st.floats(1.1, 10),
    span=st.floats(1, 1e6),
    failures=st.integers(0, 10**6),
)
def test_l1_waits_never_shrink_as_failures_add_up(
    base: float, factor: float, span: float, failures: int
) -> None:
    backoff = Backoff(base=base, factor=factor, maximum=base * span)

    assert backoff.delay(failures) <= backoff.delay(failures + 1) <= base * span * (1 + 1e-9)


def test_l1_the_defaults_are_5_ms_doubling_to_a_minute() -> None:
    items: ItemBackoff[str] = ItemBackoff(chance=lambda: 0.5)

    waits = [items.when("a") for _ in range(18)]

    assert pytest.approx([0.005, 0.01, 0.02, 0.04]) == waits[:4]
    assert 60 == waits[-1]


@given(failures=st.integers(1, 50))
def test_l2_forget_starts_again_from_the_base(failures: int) -> None:
    items: ItemBackoff[str] = ItemBackoff(chance=lambda: 0.5)
    for _ in range(failures):
        items.when("a")

    items.forget("a")

    assert 0 == len(items)
    assert 0.005 == items.when("a")


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans())))
def test_l4_the_limiter_remembers_exactly_the_keys_whose_last_pass_failed(
    passes: list[tuple[str, bool]],
) -> None:
    limiter = retry_limiter(FakeClock())
    for key, failed in passes:
        if failed:
            limiter.when(key)
        else:
            limiter.forget(key)

    assert sum(dict(passes).values()) == len(limiter)


def test_l5_two_controllers_limiters_do_not_know_each_other() -> None:
    clock = FakeClock()
    one, other = retry_limiter(clock), retry_limiter(clock)
    for _ in range(1000):
        one.when("a")

    assert other.when("a") < 0.006


def test_the_bucket_lets_a_burst_through_and_then_the_rate() -> None:
    bucket = TokenBucket(clock=FakeClock(), rate=50, burst=200)

    waits = [bucket.reserve() for _ in range(250)]

    assert [0.0] * 200 == waits[:200]
    assert pytest.approx([n / 50 for n in range(1, 51)]) == waits[200:]


@given(st.lists(st.integers(0, 30), max_size=60))
def test_the_bucket_never_grants_more_than_burst_and_rate_allow(pauses: list[int]) -> None:
    clock = FakeClock()
    bucket = TokenBucket(clock=clock, rate=0.5, burst=3)
    granted = []
    for pause in pauses:
        clock.stall(pause)
        granted.append(clock.monotonic() + bucket.reserve())

    for first, begin in enumerate(granted):
        for last in range(first, len(granted)):
            assert last - first + 1 <= 3 + math.floor((granted[last] - begin) * 0.5 + 1e-6)


def test_a_retry_waits_for_the_longer_of_back_off_and_budget() -> None:
    bucket = TokenBucket(clock=FakeClock(), rate=1, burst=1)
    limiter: RetryLimiter[str] = RetryLimiter(ItemBackoff(chance=lambda: 0.5), bucket)

    assert 0.005 == limiter.when("a")
    assert 1.0 == limiter.when("b")
    assert 2.0 == limiter.when("a")
