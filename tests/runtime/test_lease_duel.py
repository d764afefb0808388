"""Electors against each other: at no moment do two of them lead."""

import asyncio
import itertools
from collections.abc import Iterable

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from gpustack_ctrl.runtime.election import Election, LeadershipLostError, Timing
from gpustack_ctrl.runtime.lease import LeaseElector
from tests.helpers.clock import FakeClock
from tests.runtime.lease_world import KEY, Fault, Leases, Line, SkewedClock, campaign, elector


@given(at=st.integers(0, 80))
def test_e9_deleting_the_lease_does_not_make_two_leaders(at: int) -> None:
    async def scenario() -> None:
        clock, leases = FakeClock(), Leases()
        first, second = (elector(clock, Line(leases, clock), name) for name in ("one", "two"))
        async with campaign(first), campaign(second):
            await clock.advance(at / 8)
            leases.delete()
            for _ in range(240):
                await clock.advance(1 / 8)
                assert sum((first.leading, second.leading)) <= 1
            assert first.leading

    asyncio.run(scenario())


@given(
    until=st.integers(8, 80),
    slow=st.sampled_from([0.0, 1.0, 2.75]),
    chance=st.floats(0, 1),
)
def test_e1_a_slow_clock_and_late_answers_do_not_prolong_leadership(
    until: int, slow: float, chance: float
) -> None:
    async def scenario() -> None:
        """The leader sees its writes confirmed late; the rival's clock runs much faster."""
        true, leases = FakeClock(), Leases()
        quick_start = itertools.chain([Fault(), Fault()], itertools.repeat(Fault(back=slow)))
        line = Line(leases, true, quick_start)
        leader = elector(true, line, "leader")
        rival = LeaseElector(
            client=Line(leases, true),
            election=Election(key=KEY, identity="rival"),
            clock=SkewedClock(true, rate=1.49),
            chance=lambda: chance / 10,
        )
        async with campaign(leader), campaign(rival):
            await true.advance(until / 4)
            line.down = True
            for _ in range(160):
                await true.advance(1 / 8)
                assert sum((leader.leading, rival.leading)) <= 1
            assert rival.leading

    asyncio.run(scenario())


FAULTS = st.builds(
    Fault,
    there=st.sampled_from([0.0, 0.0, 0.0, 0.5, 2.0, 4.0, 20.0]),
    back=st.sampled_from([0.0, 0.0, 0.0, 0.5, 2.0, 4.0]),
    lost_there=st.sampled_from([False] * 5 + [True]),
    lost_back=st.sampled_from([False] * 5 + [True]),
)


@attrs.frozen
class Rival:
    """A process that takes part, and starts anew whenever it lost."""

    clock: SkewedClock
    line: Line
    name: str
    current: list[LeaseElector] = attrs.field(factory=list)

    async def live(self) -> None:
        for life in range(10_000):
            election = Election(key=KEY, identity=f"{self.name}-{life}")
            self.current[:] = [
                LeaseElector(
                    client=self.line, election=election, clock=self.clock, chance=lambda: 0.3
                )
            ]
            try:
                await self.current[0].run()
            except LeadershipLostError:
                await self.clock.sleep(1)

    @property
    def leading(self) -> bool:
        return any(elector.leading for elector in self.current)


@settings(max_examples=40, deadline=None)
@given(
    rates=st.tuples(*[st.floats(1.0, 1.45)] * 3),
    offsets=st.tuples(*[st.integers(0, 10_000)] * 3),
    faults=st.tuples(*[st.lists(FAULTS, max_size=40)] * 3),
    stalls=st.lists(st.integers(0, 400), max_size=3),
)
def test_e1_rivals_with_skewed_clocks_on_bad_lines_never_lead_together(
    rates: tuple[float, ...],
    offsets: tuple[int, ...],
    faults: tuple[Iterable[Fault], ...],
    stalls: list[int],
) -> None:
    asyncio.run(duel(rates, offsets, faults, stalls))


async def duel(
    rates: tuple[float, ...],
    offsets: tuple[int, ...],
    faults: tuple[Iterable[Fault], ...],
    stalls: list[int],
) -> None:
    """Three rivals for two minutes, then fair weather; at no moment do two lead."""
    true, leases = FakeClock(), Leases()
    rivals = [
        Rival(SkewedClock(true, rate, offset), Line(leases, true, iter(bad)), f"rival-{number}")
        for number, (rate, offset, bad) in enumerate(zip(rates, offsets, faults, strict=True))
    ]
    tasks = [asyncio.create_task(rival.live()) for rival in rivals]
    for moment in range(480):
        if moment in stalls:
            true.stall(11)
        await true.advance(0.25)
        assert sum(rival.leading for rival in rivals) <= 1
    for rival in rivals:
        rival.line.faults = iter(())
    longest = Timing().lease + Timing().retry * 2.2 + Timing().attempt + 25
    await true.advance(longest)
    assert 1 == sum(rival.leading for rival in rivals)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
