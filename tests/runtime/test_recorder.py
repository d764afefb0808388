"""W7: what a recorder writes, when, and that nobody waits for it."""

from typing import Any

import pytest

from gpustack_ctrl.api.errors import (
    ApiError,
    ForbiddenError,
    InvalidError,
    ServerError,
    ThrottledError,
    UnreachableError,
)
from gpustack_ctrl.runtime.event_series import BURST, MOST_UNTOLD, ObjectReference
from gpustack_ctrl.runtime.recorder import FLUSH_SECONDS, MOST_TRIES, Fate
from tests.runtime.recorder_world import BOX, occurrence, recording

MINUTE = 60.0


async def test_an_occurrence_becomes_an_event_of_the_new_api() -> None:
    async with recording() as world:
        await world.hears(occurrence())
        [event] = world.server.events

        assert {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": event["metadata"]["name"], "namespace": "team"},
            "eventTime": "2026-01-01T00:00:00.000000Z",
            "reportingController": "demo",
            "reportingInstance": "demo-0",
            "regarding": {
                "apiVersion": "v1",
                "kind": "Box",
                "name": "box",
                "namespace": "team",
                "uid": "uid-of-box",
            },
            "type": "Warning",
            "reason": "Broken",
            "action": "Run",
            "note": "it broke",
        } == event
        assert event["metadata"]["name"].startswith("box.")


async def test_the_first_repetition_is_told_at_once_and_later_ones_each_half_hour() -> None:
    async with recording() as world:
        for _ in range(62):
            await world.hears(occurrence())
            await world.clock.advance(MINUTE)

        assert ["create Broken", "patch 2", "patch 31", "patch 61"] == world.server.asked


async def test_what_a_series_still_owes_is_told_when_it_is_over() -> None:
    async with recording() as world:
        await world.hears(*[occurrence()] * 10)
        await world.clock.advance(5 * MINUTE)
        await world.hears(occurrence())
        [event] = world.server.events

        assert 10 == event["series"]["count"]

        await world.clock.advance(6 * MINUTE)

        assert {"count": 11, "lastObservedTime": "2026-01-01T00:05:00.000000Z"} == event["series"]


async def test_after_six_quiet_minutes_it_is_another_event() -> None:
    async with recording() as world:
        await world.hears(occurrence())
        await world.clock.advance(6 * MINUTE)
        await world.hears(occurrence())

        assert ["create Broken"] * 2 == world.server.asked
        assert 2 == len(world.server.events)


async def test_a_quiet_recorder_keeps_neither_series_nor_timers() -> None:
    async with recording() as world:
        await world.hears(occurrence("One"), occurrence("Two"), occurrence("Two"))
        await world.clock.advance(6 * MINUTE)

        assert 0 == world.clock.pending
        assert 0 == len(world.recorder)


@pytest.mark.parametrize(
    "different",
    [
        {"reason": "Other"},
        {"type": "Normal"},
        {"action": "Stop"},
        {"regarding": ObjectReference(api_version="v1", kind="Box", name="other")},
        {"related": BOX},
    ],
)
async def test_what_differs_in_more_than_its_note_is_another_event(
    different: dict[str, Any],
) -> None:
    async with recording() as world:
        await world.hears(occurrence(), occurrence(**different), occurrence(note="again"))

        assert 2 == len(world.server.events)
        assert ["it broke"] * 2 == [event["note"] for event in world.server.events]


async def test_an_object_has_a_burst_of_events_and_then_one_each_five_minutes() -> None:
    async with recording() as world:
        await world.hears(*[occurrence(f"R{number}") for number in range(BURST + 5)])

        assert BURST == len(world.server.events)
        assert 5 == world.fates.count(Fate.SPAM)

        other = ObjectReference(api_version="v1", kind="Box", namespace="team", name="other")
        await world.hears(occurrence(regarding=other))

        assert BURST + 1 == len(world.server.events)

        await world.clock.advance(5 * MINUTE)
        await world.hears(occurrence("Late"), occurrence("TooLate"))

        assert BURST + 2 == len(world.server.events)


async def test_w7_what_nobody_takes_away_is_bounded_and_the_rest_is_dropped() -> None:
    async with recording(started=False) as world:
        boxes = (
            ObjectReference(api_version="v1", kind="Box", namespace="team", name=f"box-{number}")
            for number in range(MOST_UNTOLD + 7)
        )
        await world.hears(*[occurrence(regarding=box) for box in boxes])

        assert 7 == world.fates.count(Fate.OVERFLOW)

        await world.start()

        assert MOST_UNTOLD == len(world.server.events)
        assert world.recorder.senders == world.server.most_at_once


@pytest.mark.parametrize("error", [ForbiddenError("no"), InvalidError("no"), ApiError("no")])
async def test_what_is_refused_is_dropped_and_may_be_told_again(error: ApiError) -> None:
    async with recording() as world:
        world.server.errors = [error]
        await world.hears(occurrence())

        assert [Fate.REFUSED] == world.fates.seen

        await world.hears(occurrence())

        assert [Fate.REFUSED, Fate.CREATED] == world.fates.seen


@pytest.mark.parametrize(
    "error", [UnreachableError("?"), ServerError("?"), ThrottledError("later")]
)
async def test_what_may_pass_is_tried_again_every_ten_seconds(error: ApiError) -> None:
    async with recording() as world:
        world.server.errors = [error] * (MOST_TRIES - 1)
        await world.hears(occurrence())
        await world.hears(occurrence())
        await world.clock.advance((MOST_TRIES - 1) * 10)
        [event] = world.server.events

        assert ["create Broken"] * MOST_TRIES == world.server.asked
        assert 2 == event["series"]["count"]


async def test_w7_after_twelve_tries_it_is_dropped() -> None:
    async with recording() as world:
        world.server.errors = [UnreachableError("?")] * MOST_TRIES
        await world.hears(occurrence())
        await world.clock.advance(10 * MOST_TRIES)

        assert [Fate.UNREACHABLE] == world.fates.seen
        assert MOST_TRIES == len(world.server.asked)
        assert 0 == len(world.recorder)


async def test_w7_a_lost_answer_makes_no_second_event() -> None:
    async with recording() as world:
        world.server.lost_answers = 1
        await world.hears(occurrence())

        assert [] == world.fates.seen

        await world.clock.advance(10)

        assert ["create Broken"] * 2 == world.server.asked
        assert [Fate.CREATED] == world.fates.seen
        assert 1 == len(world.server.events)


async def test_an_event_that_expired_meanwhile_is_made_anew_with_its_count() -> None:
    async with recording() as world:
        await world.hears(occurrence())
        world.server.held.clear()
        await world.hears(occurrence())
        [event] = world.server.events

        assert ["create Broken", "patch 2", "create Broken"] == world.server.asked
        assert 2 == event["series"]["count"]


async def test_an_error_nobody_foresaw_costs_one_event_and_no_more() -> None:
    async with recording() as world:
        world.server.errors = [RuntimeError("a fault of ours")]
        await world.hears(occurrence(), occurrence("Other"))

        assert [Fate.REFUSED, Fate.CREATED] == world.fates.seen


async def test_the_end_writes_what_is_left() -> None:
    async with recording() as world:
        await world.hears(*[occurrence()] * 3)
        await world.hears(*[occurrence()] * 4)
        world.recorder.record(occurrence("Last"))
        await world.stop()

        assert world.task is not None
        assert world.task.done()
        assert {"Broken": 7, "Last": None} == {
            event["reason"]: event.get("series", {}).get("count") for event in world.server.events
        }


async def test_the_end_does_not_wait_for_an_api_server_that_is_silent() -> None:
    async with recording() as world:
        world.server.deaf = True
        await world.hears(occurrence())
        await world.stop()

        assert world.task is not None
        assert not world.task.done()

        await world.clock.advance(FLUSH_SECONDS)

        assert world.task.done()
