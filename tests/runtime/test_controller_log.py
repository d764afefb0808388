"""The one line that each pass writes."""

import pytest
import structlog
from structlog.testing import capture_logs
from structlog.typing import EventDict

from gpustack_ctrl.api.errors import ConflictError, ForbiddenError
from gpustack_ctrl.runtime.reconcile import DONE, Request, Result, TerminalError
from tests.helpers.clock import settle
from tests.runtime.controller_world import A, B, controlled


async def line_of(way: Result | BaseException) -> EventDict:
    """The one line that a pass which ended in that way wrote."""
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logs:

        async def script(request: Request) -> Result:
            structlog.contextvars.bind_contextvars(actions=["create Pod"])
            await world.clock.sleep(0.25)
            if isinstance(way, BaseException):
                raise way
            return way

        async with controlled(script) as world:
            world.queue.add(A)
            await world.clock.advance(0.5)
    assert 1 == len(logs)
    return logs[0]


@pytest.mark.parametrize(
    ("way", "level", "outcome", "words"),
    [
        (DONE, "info", "success", {}),
        (Result(after=60), "info", "requeue_after", {}),
        (ConflictError("it changed"), "info", "requeue", {"why": "it changed"}),
        (TerminalError("no image"), "warning", "terminal", {"error": "no image"}),
        (ForbiddenError("quota"), "warning", "error", {"error": "quota"}),
        (
            ExceptionGroup("both", [ForbiddenError("quota"), ConflictError("it changed")]),
            "warning",
            "error",
            {"error": "quota; it changed"},
        ),
    ],
    ids=repr,
)
async def test_a_pass_writes_one_line_as_loud_as_its_outcome(
    way: Result | BaseException, level: str, outcome: str, words: dict[str, str]
) -> None:
    line = await line_of(way)

    assert len(line.pop("reconcile_id")) == 36
    assert {
        "event": "reconciled",
        "log_level": level,
        "controller": "demo",
        "namespace": "team",
        "name": "a",
        "outcome": outcome,
        "seconds": 0.25,
        "actions": ["create Pod"],
        **words,
    } == line


async def test_a_defect_is_logged_with_its_traceback() -> None:
    defect = KeyError("defect")

    line = await line_of(defect)

    assert ("error", defect) == (line["log_level"], line["exc_info"])


async def test_what_one_pass_bound_to_its_lines_is_not_on_the_next_ones() -> None:
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logs:

        async def script(request: Request) -> Result:
            if request == A:
                structlog.contextvars.bind_contextvars(actions=["create Pod"])
            return DONE

        async with controlled(script, workers=1) as world:
            world.queue.add(A)
            world.queue.add(B)
            await settle()

    assert [True, False] == ["actions" in line for line in logs]
    assert logs[0]["reconcile_id"] != logs[1]["reconcile_id"]
