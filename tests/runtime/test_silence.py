"""A watch that falls silent, and one that only seems to."""

import asyncio

import pytest

from gpustack_ctrl.runtime.silence import silence_limit
from tests.helpers.clock import FakeClock, settle
from tests.helpers.informers import Scene, scene


def synced_with(at: Scene) -> bool:
    """Whether the store equals the server."""
    return at.server.objects == {obj.metadata.key: obj for obj in at.informer.store.list()}


async def test_the_limit_counts_from_what_was_heard_last() -> None:
    clock, ended = FakeClock(), list[float]()

    async def listen() -> None:
        try:
            async with silence_limit(clock, allowed=10) as silence:
                await clock.sleep(8)
                silence.heard()
                await clock.sleep(1000)
        except TimeoutError:
            ended.append(clock.monotonic())

    async with asyncio.TaskGroup() as group:
        group.create_task(listen())
        await clock.advance(100)

    assert [1018.5] == ended
    assert 0 == clock.pending


async def test_a_block_that_ends_in_time_is_left_alone() -> None:
    clock = FakeClock()

    async with silence_limit(clock, allowed=10):
        await settle()
    await clock.advance(100)

    assert 0 == clock.pending


async def test_a_cancellation_from_outside_stays_one() -> None:
    clock = FakeClock()

    async def listen() -> None:
        async with silence_limit(clock, allowed=10):
            await clock.sleep(1000)

    task = asyncio.create_task(listen())
    await clock.advance(1)
    task.cancel()
    await settle()

    assert task.cancelled()
    assert 0 == clock.pending


@pytest.mark.parametrize(("bookmarked", "deadline"), [(False, 460), (True, 150)])
async def test_r7_a_dead_connection_is_left_within_a_second_of_its_deadline(
    bookmarked: bool,  # noqa: FBT001 -- a parametrized case.
    deadline: float,
) -> None:
    at = scene()
    async with at.running():
        if bookmarked:
            at.server.bookmark()
        await settle()
        at.server.black_hole()
        dead = at.server.connections[0]

        await at.clock.advance(deadline - 1)
        assert [dead] == at.server.connections

        await at.clock.advance(2)
        assert dead not in at.server.connections
        assert "silent" in at.informer.trouble

        at.server.put("a")
        await at.clock.advance(5)
        assert synced_with(at)
        assert "" == at.informer.trouble
    assert 1 == len(at.server.lists)


async def test_r13_a_stalled_loop_finds_the_bytes_that_waited() -> None:
    at = scene()
    async with at.running():
        at.server.bookmark()
        await settle()
        at.server.put("a")
        at.clock.stall(200)
        await at.clock.advance(100)

        assert synced_with(at)
        assert "" == at.informer.trouble
    assert 1 == len(at.server.watches)


async def test_r13_the_time_of_day_may_jump() -> None:
    at = scene()
    async with at.running():
        at.clock.jump(-86400)
        at.server.put("a")
        await at.clock.advance(100)
        at.clock.jump(2 * 86400)
        await at.clock.advance(100)

        assert synced_with(at)
    assert 1 == len(at.server.watches)
