"""Electors over a simulated line to a simulated API server."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpustack_ctrl.runtime.election import Election, LeadershipLostError, Timing
from gpustack_ctrl.runtime.lease import LeaseElector, identity
from tests.helpers.clock import FakeClock, settle
from tests.runtime.lease_world import KEY, Fault, Leases, Line, SkewedClock


def elector(clock: FakeClock, line: Line, name: str = "me") -> LeaseElector:
    return LeaseElector(
        client=line,
        election=Election(key=KEY, identity=name),
        clock=clock,
        chance=lambda: 0.5,
    )


@asynccontextmanager
async def campaign(elector: LeaseElector) -> AsyncIterator["asyncio.Task[None]"]:
    """The elector runs within the block; what became of it is the test's business."""
    task = asyncio.create_task(elector.run())
    try:
        await settle()
        yield task
    finally:
        task.cancel()
        await asyncio.wait({task})


async def test_the_first_candidate_leads_at_once_and_renews_every_two_seconds() -> None:
    clock, leases = FakeClock(), Leases()
    leader = elector(clock, Line(leases, clock))
    async with campaign(leader):
        await leader.won()
        await clock.advance(60)

        assert leader.leading
        assert ["me"] * 31 == leases.writes
        assert 0 == leases.spec["leaseTransitions"]


async def test_e2_a_stalled_loop_does_not_believe_that_it_still_leads() -> None:
    clock, leases = FakeClock(), Leases()
    leader = elector(clock, Line(leases, clock))
    async with campaign(leader) as task:
        clock.stall(10)

        assert not leader.leading

        await clock.advance(0)
        assert isinstance(task.exception(), LeadershipLostError)
        assert ["me"] == leases.writes


async def test_e2_a_leader_that_cannot_renew_gives_up_at_the_renew_deadline() -> None:
    clock, leases = FakeClock(), Leases()
    line = Line(leases, clock)
    leader = elector(clock, line)
    async with campaign(leader) as task:
        line.down = True
        leading = []
        for _ in range(40):
            await clock.advance(0.25)
            leading.append(leader.leading)

        assert [True] * 39 + [False] == leading
        assert "lost lease system/leader: not renewed for 10 s: connection refused" == str(
            task.exception()
        )


async def test_e2_an_attempt_without_an_answer_does_not_delay_the_loss() -> None:
    clock, leases = FakeClock(), Leases()
    line = Line(leases, clock, itertools.repeat(Fault(there=60, lost_there=True)))
    line.faults = itertools.chain([Fault(), Fault()], line.faults)
    leader = elector(clock, line)
    async with campaign(leader) as task:
        await clock.advance(10)

        assert isinstance(task.exception(), LeadershipLostError)


@pytest.mark.parametrize(
    "fault",
    [
        Fault(there=60, lost_there=True),
        Fault(lost_there=True),
        Fault(lost_back=True),
        Fault(there=2.5, back=60),
    ],
)
async def test_e5_two_slow_or_failed_attempts_do_not_lose_the_lease(fault: Fault) -> None:
    clock, leases = FakeClock(), Leases()
    leader = elector(clock, Line(leases, clock, iter([Fault(), Fault(), fault, fault])))
    async with campaign(leader) as task:
        await clock.advance(60)

        assert not task.done()
        assert leader.leading


async def test_e6_a_released_lease_goes_to_the_next_candidate_and_is_not_written_again() -> None:
    clock, leases = FakeClock(), Leases()
    first, second = (elector(clock, Line(leases, clock), name) for name in ("one", "two"))
    async with campaign(first) as task, campaign(second):
        await clock.advance(30)
        task.cancel()
        await asyncio.wait({task})
        await first.release()
        assert not first.leading
        assert "" == leases.spec["holderIdentity"]

        await clock.advance(5)

        assert second.leading
        assert "two" == leases.spec["holderIdentity"]
        assert 1 == leases.spec["leaseTransitions"]
        assert {"two"} == set(leases.writes[leases.writes.index("") + 1 :])


async def test_e6_a_release_that_conflicts_with_a_label_is_repeated() -> None:
    clock, leases = FakeClock(), Leases()
    leader = elector(clock, Line(leases, clock))
    async with campaign(leader) as task:
        task.cancel()
        await asyncio.wait({task})
        leases.update(leases.get())

        await leader.release()

    assert "" == leases.spec["holderIdentity"]


async def test_e6_a_release_that_fails_is_harmless_and_bounded() -> None:
    clock, leases = FakeClock(), Leases()
    line = Line(leases, clock)
    leader = elector(clock, line)
    async with campaign(leader) as task:
        task.cancel()
        await asyncio.wait({task})
        line.faults = iter([Fault(there=60, lost_there=True)])
        releasing = asyncio.create_task(leader.release())
        await clock.advance(3)

        assert releasing.done()
        assert not leader.leading
    assert ["me"] == leases.writes


async def test_e6_who_does_not_lead_does_not_release() -> None:
    clock, leases = FakeClock(), Leases()
    leases.create({"metadata": {}, "spec": {"holderIdentity": "other", "leaseDurationSeconds": 15}})
    standby = elector(clock, Line(leases, clock))
    async with campaign(standby):
        await clock.advance(3)
    await standby.release()

    assert ["other"] == leases.writes


async def test_e7_a_leader_that_meets_another_holder_is_lost_at_once() -> None:
    clock, leases = FakeClock(), Leases()
    leader = elector(clock, Line(leases, clock))
    async with campaign(leader) as task:
        stolen = leases.get()
        leases.update({**stolen, "spec": {**stolen["spec"], "holderIdentity": "thief"}})
        await clock.advance(2)

        assert not leader.leading
        assert "lost lease system/leader: thief holds it" == str(task.exception())


async def test_e7_a_leader_whose_lease_was_labelled_goes_on() -> None:
    clock, leases = FakeClock(), Leases()
    leader = elector(clock, Line(leases, clock))
    async with campaign(leader) as task:
        leases.update(leases.get())
        await clock.advance(30)

        assert not task.done()
        assert leader.leading


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


async def test_g4_the_check_notices_a_stuck_elector_and_not_an_absent_server() -> None:
    clock = FakeClock()
    line = Line(Leases(), clock, down=True)
    candidate = elector(clock, line)
    assert None is candidate.check()
    async with campaign(candidate):
        await clock.advance(120)
        assert None is candidate.check()

        clock.stall(20)

        assert "no attempt on lease system/leader for 2" in str(candidate.check())


def test_two_runs_of_one_pod_have_different_identities() -> None:
    assert identity("pod-0").startswith("pod-0_")
    assert identity("pod-0") != identity("pod-0")


async def test_g4_an_elector_that_released_its_lease_is_not_stuck() -> None:
    clock = FakeClock()
    leader = elector(clock, Line(Leases(), clock))
    async with campaign(leader) as task:
        task.cancel()
        await asyncio.wait({task})
    await leader.release()
    await clock.advance(60)

    assert None is leader.check()


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
