"""Electors over a simulated line to a simulated API server."""

import asyncio
import itertools

import pytest

from gpustack_ctrl.runtime.election import LeadershipLostError
from gpustack_ctrl.runtime.lease import identity
from tests.helpers.clock import FakeClock
from tests.runtime.lease_world import Fault, Leases, Line, campaign, elector


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
