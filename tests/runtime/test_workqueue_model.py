"""The queue against a model that is too simple to be wrong: scans instead of structures."""

import asyncio

import attrs
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gpustack_ctrl.runtime.ratelimit import Backoff, ItemBackoff
from gpustack_ctrl.runtime.schedule import HIGH_BETWEEN_LOW, Priority
from gpustack_ctrl.runtime.workqueue import HIGH, LOW, WorkQueue
from tests.helpers.clock import FakeClock, settle
from tests.runtime.workqueue_metrics import RecordedQueueMetrics

KEYS = st.sampled_from("abcdef")
PRIORITIES = st.sampled_from([HIGH, LOW])
SECONDS = st.sampled_from([-1.0, 0.0, 1.0, 2.0, 2.5, 4.0, 3600.0])
BACKOFF = Backoff(base=1, factor=2, maximum=8, jitter=0)


@attrs.define
class Wish:
    """That somebody wants a pass: *rank* is its place in line once it is ready."""

    due: float
    priority: Priority
    asked: int
    rank: int | None = None


@attrs.define
class Model:
    """What the queue promises, in the plainest words."""

    now: float
    wishes: dict[str, Wish] = attrs.field(factory=dict)
    held: dict[str, Priority] = attrs.field(factory=dict)
    failures: dict[str, int] = attrs.field(factory=dict)
    ticks: int = 0
    high_in_a_row: int = 0
    adds: int = 0

    def tick(self) -> int:
        self.ticks += 1
        return self.ticks

    def want(self, key: str, seconds: float, priority: Priority | None) -> None:
        if priority is None:
            priority = self.held.get(key, HIGH)
        due = max(self.now + seconds, self.now)
        wish = self.wishes.setdefault(key, Wish(due, priority, self.tick()))
        if due < wish.due:
            wish.due, wish.asked = due, self.tick()
        if priority > wish.priority:
            wish.priority = priority
            wish.rank = self.tick() if wish.rank is not None else None
        self.line_up()

    def line_up(self) -> None:
        """Give a rank to each wish that is due and whose key nobody holds."""
        due = [
            (wish.due, wish.asked, wish)
            for key, wish in self.wishes.items()
            if wish.due <= self.now and wish.rank is None and key not in self.held
        ]
        for _, _, wish in sorted(due, key=lambda entry: entry[:2]):
            wish.rank = self.tick()
            self.adds += 1

    def ready(self, priority: Priority) -> list[str]:
        ranks = {
            wish.rank: key
            for key, wish in self.wishes.items()
            if wish.rank is not None and wish.priority is priority
        }
        return [ranks[rank] for rank in sorted(ranks)]

    def take(self) -> str | None:
        high, low = self.ready(HIGH), self.ready(LOW)
        if not high and not low:
            return None
        low_turn = bool(low) and (not high or self.high_in_a_row == HIGH_BETWEEN_LOW)
        self.high_in_a_row = self.high_in_a_row + 1 if low and not low_turn else 0
        key = (low if low_turn else high)[0]
        self.held[key] = self.wishes.pop(key).priority
        return key

    def done(self, key: str) -> None:
        del self.held[key]
        self.line_up()

    def advance(self, seconds: float) -> None:
        self.now += seconds
        self.line_up()


class WorkQueueMachine(RuleBasedStateMachine):
    """Q1 Q2 Q3 Q4 Q5 Q6 Q7 Q8 Q10 Q11, L2 L3 L4, on any sequence of calls."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock = FakeClock()
        self.metrics = RecordedQueueMetrics()
        self.limiter: ItemBackoff[str] = ItemBackoff(BACKOFF, chance=lambda: 0.5)
        self.queue: WorkQueue[str] = WorkQueue(
            "model", clock=self.clock, limiter=self.limiter, metrics=self.metrics
        )
        self.model = Model(now=self.clock.monotonic())

    @rule(key=KEYS, priority=PRIORITIES)
    def add(self, key: str, priority: Priority) -> None:
        self.queue.add(key, priority=priority)
        self.model.want(key, 0, priority)

    @rule(key=KEYS, seconds=SECONDS, priority=st.none() | PRIORITIES)
    def add_after(self, key: str, seconds: float, priority: Priority | None) -> None:
        self.queue.add_after(key, seconds, priority=priority)
        self.model.want(key, seconds, priority)

    @rule(key=KEYS)
    def add_rate_limited(self, key: str) -> None:
        failures = self.model.failures.get(key, 0)
        self.model.failures[key] = failures + 1
        self.queue.add_rate_limited(key)
        self.model.want(key, min(2.0**failures, 8.0), None)

    @rule(key=KEYS)
    def forget(self, key: str) -> None:
        self.queue.forget(key)
        self.model.failures.pop(key, None)

    @rule()
    def get(self) -> None:
        """Takes what the model takes; when that is nothing, gives up and loses nothing."""
        assert self.model.take() == self.runner.run(take_or_give_up(self.queue))

    @precondition(lambda self: self.model.held)
    @rule(data=st.data())
    def done(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.model.held)))
        self.queue.done(key)
        self.model.done(key)

    @precondition(lambda self: len(self.model.held) < 6)
    @rule(data=st.data())
    def done_without_hand_out(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(set("abcdef") - set(self.model.held))))
        with pytest.raises(ValueError, match=f"^{key} is not held"):
            self.queue.done(key)

    @rule(seconds=st.sampled_from([0.5, 1.0, 2.0, 4000.0]))
    def advance(self, seconds: float) -> None:
        self.runner.run(self.clock.advance(seconds))
        self.model.advance(seconds)

    @invariant()
    def ready_keys_and_metrics_agree(self) -> None:
        high, low = self.model.ready(HIGH), self.model.ready(LOW)
        assert len(high) + len(low) == len(self.queue)
        assert {HIGH: len(high), LOW: len(low)} == self.metrics.depths
        assert self.model.adds == self.metrics.adds
        assert len(self.model.held) == len(self.queue.running_seconds())

    @invariant()
    def the_limiter_remembers_failures_only(self) -> None:
        assert len(self.model.failures) == len(self.limiter)

    def teardown(self) -> None:
        """No wish is lost: all of them are granted once workers let go and time passes."""
        try:
            for key in tuple(self.model.held):
                self.done_now(key)
            self.runner.run(self.clock.advance(10_000))
            self.model.advance(10_000)
            while (expected := self.model.take()) is not None:
                assert expected == self.runner.run(take_or_give_up(self.queue))
                self.done_now(expected)
            assert None is self.runner.run(take_or_give_up(self.queue))
            self.queue.shut_down()
            assert 0 == self.clock.pending
        finally:
            self.runner.close()

    def done_now(self, key: str) -> None:
        self.queue.done(key)
        self.model.done(key)


async def take_or_give_up(queue: WorkQueue[str]) -> str | None:
    """What a getter gets without waiting; a getter that would wait is cancelled."""
    getter = asyncio.create_task(queue.get())
    await settle()
    if getter.done():
        return getter.result()
    getter.cancel()
    await asyncio.wait({getter})
    return None


TestWorkQueueAgainstModel = WorkQueueMachine.TestCase
TestWorkQueueAgainstModel.settings = settings(
    max_examples=150, stateful_step_count=60, deadline=None
)
