"""W7 over arbitrary histories: nothing is told twice, nothing is lost unsaid."""

import asyncio

from hypothesis import example, given
from hypothesis import strategies as st

from gpustack_ctrl.api.errors import UnreachableError
from gpustack_ctrl.runtime.recorder import Fate
from tests.runtime.recorder_world import World, occurrence, recording

Step = tuple[str, int]

happens = st.tuples(st.just("happens"), st.integers(0, 40))
passes = st.tuples(st.just("passes"), st.sampled_from([0, 1, 10, 100, 359, 360, 361, 2000]))
fails = st.tuples(st.just("fails"), st.integers(1, 3))
loses = st.tuples(st.just("loses"), st.integers(1, 3))
histories = st.lists(st.one_of(happens, passes, fails, loses), max_size=60)


async def do(world: World, step: Step) -> None:
    match step:
        case ("happens", number):
            world.recorder.record(occurrence(f"R{number}"))
        case ("passes", seconds):
            await world.clock.advance(seconds)
        case ("fails", times):
            world.server.errors = [UnreachableError("?")] * times
        case ("loses", times):
            world.server.lost_answers = times


def told(world: World) -> int:
    """How many occurrences the Events stand for."""
    return sum(event.get("series", {}).get("count", 1) for event in world.server.events)


@example([("happens", 0), ("loses", 1), ("passes", 0), ("happens", 0)])
@given(histories)
def test_w7_each_occurrence_is_in_one_event_or_is_counted_as_dropped(steps: list[Step]) -> None:
    async def live() -> None:
        async with recording() as world:
            for step in steps:
                await do(world, step)
            world.server.errors, world.server.lost_answers = [], 0
            await world.clock.advance(360)
            happened = sum(step[0] == "happens" for step in steps)

            assert happened == told(world) + world.fates.count(Fate.SPAM)
            assert 0 == len(world.recorder)
            assert 0 == world.clock.pending
            assert world.server.most_at_once <= world.recorder.senders

    asyncio.run(live())


@given(st.integers(1, 300), st.integers(1, 400))
def test_w7_a_storm_is_one_event_and_a_write_each_half_hour(times: int, apart: int) -> None:
    async def live() -> None:
        async with recording() as world:
            for _ in range(times):
                world.recorder.record(occurrence())
                await world.clock.advance(apart)
            await world.clock.advance(360)
            events = len(world.server.events)
            half_hours = times * apart // 1800

            assert (times if apart >= 360 else 1) == events + world.fates.count(Fate.SPAM)
            assert len(world.server.asked) <= events + 2 + half_hours

    asyncio.run(live())
