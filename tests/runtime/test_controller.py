"""What a controller makes of the ways in which a pass can end."""

import asyncio

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from gpustack_ctrl.api.errors import ConflictError, ThrottledError
from gpustack_ctrl.runtime.reconcile import DONE, Request, Result, TerminalError
from tests.helpers.clock import FakeClock, settle
from tests.runtime.controller_world import A, B, World, controlled


@attrs.define
class Ends:
    """Ends its passes in the given ways, then well; remembers when each began."""

    clock: list[FakeClock] = attrs.field(factory=list)
    ways: list[Result | BaseException] = attrs.field(factory=list)
    begun: list[float] = attrs.field(factory=list)

    async def __call__(self, _: Request) -> Result:
        self.begun.append(self.clock[0].monotonic() - 1000)
        way = self.ways.pop(0) if self.ways else DONE
        if isinstance(way, BaseException):
            raise way
        return way


async def passes_begun(*ways: Result | BaseException) -> tuple[list[float], World]:
    """When passes began that ended in *ways*, and the world two minutes later."""
    script = Ends(ways=list(ways))
    with capture_logs():
        async with controlled(script) as world:
            script.clock.append(world.clock)
            world.queue.add(A)
            await world.clock.advance(120)
    return script.begun, world


@pytest.mark.parametrize(
    ("ways", "begun"),
    [
        ([DONE], [0]),
        ([Result(after=30)], [0, 30]),
        ([Result(after=0)], [0, 0]),
        ([OSError("no"), OSError("no"), OSError("no")], [0, 1, 3, 7]),
        ([ConflictError("changed"), ConflictError("changed")], [0, 1, 3]),
        ([ThrottledError("later", retry_after=20)], [0, 20]),
        ([ThrottledError("later", retry_after=0.5)], [0, 1]),
        ([ExceptionGroup("two", [OSError("no"), ThrottledError("later", retry_after=9)])], [0, 9]),
        ([TerminalError("never")], [0]),
        ([ExceptionGroup("two", [TerminalError("a"), TerminalError("b")])], [0]),
        ([ExceptionGroup("two", [TerminalError("a"), OSError("b")])], [0, 1]),
        ([OSError("no"), Result(after=10), OSError("no")], [0, 1, 11, 12]),
    ],
    ids=repr,
)
async def test_l3_what_follows_a_pass_is_what_the_contract_says_and_nothing_is_remembered(
    ways: list[Result | BaseException], begun: list[float]
) -> None:
    actual, world = await passes_begun(*ways)

    assert begun == actual
    assert 0 == len(world.limiter)


@given(
    st.lists(
        st.sampled_from(
            [DONE, Result(after=1), OSError("no"), ConflictError("x"), TerminalError("never")]
        )
    )
)
def test_c10_results_add_up_to_the_passes_and_no_worker_stays_active(
    ways: list[Result | BaseException],
) -> None:
    begun, world = asyncio.run(passes_begun(*ways))

    results = ("error", "requeue_after", "requeue", "success")
    assert len(begun) == sum(
        world.count("runtime_reconcile_total", result=result) or 0 for result in results
    )
    assert 0 == world.count("runtime_active_workers")
    assert len(begun) == world.count("runtime_reconcile_time_seconds_count")


async def test_c2_no_more_passes_run_at_once_than_there_are_workers() -> None:
    running: list[int] = []
    now = 0

    async def script(request: Request) -> Result:
        nonlocal now
        now += 1
        running.append(now)
        await world.clock.sleep(1)
        now -= 1
        return DONE

    async with controlled(script, workers=3) as world:
        await settle()
        tasks = len(asyncio.all_tasks())
        for number in range(50):
            world.queue.add(Request("team", str(number)))
        await settle()
        assert tasks == len(asyncio.all_tasks())
        await world.clock.advance(60)

    assert 50 == len(running)
    assert 3 == max(running)


async def test_c3_a_defect_is_counted_and_backed_off_and_its_worker_goes_on() -> None:
    seen: list[Request] = []

    async def script(request: Request) -> Result:
        seen.append(request)
        if request == A:
            raise KeyError("defect")
        return DONE

    async with controlled(script, workers=1) as world:
        world.queue.add(A)
        world.queue.add(B)
        await settle()

    assert [A, B] == seen
    assert 1 == len(world.limiter)
    assert 1 == world.count("runtime_reconcile_panics_total")
    assert 1 == world.count("runtime_reconcile_errors_total")


async def test_g2_stopping_lets_the_running_pass_finish_and_begins_no_other() -> None:
    ended: list[Request] = []

    async def script(request: Request) -> Result:
        await world.clock.sleep(5)
        ended.append(request)
        return DONE

    async with controlled(script, workers=1) as world:
        world.queue.add(A)
        world.queue.add(B)
        await settle()
        world.controller.stop()
        await world.clock.advance(60)

    assert [A] == ended
