"""The list-watch machine by itself: what it asks next, given what came."""

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.api.errors import (
    ApiError,
    ForbiddenError,
    GoneError,
    InvalidError,
    NotFoundError,
    ServerError,
    ThrottledError,
    UnreachableError,
)
from gpustack_ctrl.runtime.watch import (
    BARREN_WATCHES,
    PAGE_SIZE,
    ListRequest,
    Page,
    Watcher,
    WatchRequest,
)
from tests.helpers.list_watch import too_large

GONE = GoneError("too old", code=410, reason="Expired")
NEWEST = ListRequest(resource_version="", limit=PAGE_SIZE)


def page(version: str, *objects: str, continue_: str = "") -> Page[str]:
    return Page(objects=objects, resource_version=version, continue_=continue_)


def watcher() -> Watcher[str]:
    return Watcher(random=lambda: 0.5)


def listed(version: str) -> Watcher[str]:
    machine = watcher()
    machine.listed(page(version))
    return machine


def watching(version: str) -> Watcher[str]:
    machine = listed(version)
    machine.opened(0)
    return machine


def resumes_from(machine: Watcher[str]) -> str:
    request = machine.request()
    assert isinstance(request, WatchRequest)
    return request.resource_version


def test_the_first_list_is_any_and_whole() -> None:
    assert ListRequest(resource_version="0") == watcher().request()
    assert 0 == watcher().wait


def test_a_list_replaces_the_store_and_a_watch_follows_on_it() -> None:
    machine = watcher()

    replace = machine.listed(page("7", "a", "b"))

    assert replace is not None
    assert (("a", "b"), "7") == (replace.objects, replace.resource_version)
    assert WatchRequest(resource_version="7", timeout_seconds=450) == machine.request()


@given(random=st.randoms(use_true_random=False))
def test_the_length_of_a_watch_is_spread_over_five_to_ten_minutes(random: Random) -> None:
    machine: Watcher[str] = Watcher(random=random.random)
    machine.listed(page("7"))

    request = machine.request()

    assert isinstance(request, WatchRequest)
    assert 300 <= request.timeout_seconds < 600


def test_r3_a_watch_resumes_from_the_last_event_or_bookmark() -> None:
    machine = watching("7")

    machine.advanced("9")
    machine.advanced("12")
    machine.ended(400)

    assert "12" == resumes_from(machine)


@pytest.mark.parametrize("start", ["", "0"])
def test_r4_a_watch_from_no_version_is_never_resumed(start: str) -> None:
    endings: tuple[Callable[[Watcher[str]], None], ...] = (
        lambda machine: machine.ended(400),
        lambda machine: machine.failed(UnreachableError("reset"), 400),
        lambda machine: machine.failed(GONE, 400),
        lambda machine: machine.failed(ServerError("oops", code=500), 400),
    )
    for end in endings:
        machine = watching(start)
        machine.advanced("12")

        end(machine)

        assert NEWEST == machine.request()


@pytest.mark.parametrize("opened", [False, True])
def test_r5_a_version_that_is_gone_is_listed_not_older_than_that(opened: bool) -> None:  # noqa: FBT001 -- a parametrized case.
    machine = watching("7") if opened else listed("7")

    machine.failed(GONE, 10)

    assert ListRequest(resource_version="7") == machine.request()


def test_r5_a_cache_that_lists_the_gone_version_again_is_not_believed() -> None:
    machine = listed("7")
    machine.failed(GONE, 10)

    machine.listed(page("7"))

    assert NEWEST == machine.request()


def test_r5_a_list_that_is_gone_itself_is_asked_anew() -> None:
    machine = listed("7")
    machine.failed(GONE, 10)

    machine.failed(GONE, 20)

    assert NEWEST == machine.request()


def test_a_version_that_the_server_has_not_reached_is_given_up() -> None:
    for machine in (watcher(), listed("7"), watching("7")):
        machine.failed(too_large(), 10)

        assert NEWEST == machine.request()


@pytest.mark.parametrize(
    "error", [InvalidError("bad version", code=422), ApiError("bad version", code=400)]
)
def test_a_version_that_the_server_cannot_read_is_given_up(error: ApiError) -> None:
    machine = listed("seven")

    machine.failed(error, 10)

    assert NEWEST == machine.request()


def test_a_kind_that_is_not_there_is_listed_again() -> None:
    machine = listed("7")

    machine.failed(NotFoundError("no such kind", code=404), 10)

    assert ListRequest(resource_version="7") == machine.request()


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize(
    "error",
    [ThrottledError("later", code=429), UnreachableError("connection refused")],
)
def test_r9_a_busy_or_unreachable_server_causes_another_watch_and_no_list(
    opened: bool,  # noqa: FBT001 -- a parametrized case.
    error: ApiError,
) -> None:
    machine = listed("7")

    for attempt in range(20):
        if opened:
            machine.opened(attempt)
        machine.failed(error, attempt)

        assert "7" == resumes_from(machine)
        assert machine.wait > 0


def test_r9_a_watch_that_times_out_is_followed_by_another_at_once() -> None:
    machine = watching("7")

    machine.ended(400)

    assert "7" == resumes_from(machine)
    assert 0 == machine.wait


def test_a_watch_that_keeps_ending_at_once_is_backed_off_then_listed() -> None:
    machine = listed("7")

    for _ in range(BARREN_WATCHES - 1):
        machine.opened(10)
        machine.ended(10.5)
        assert "7" == resumes_from(machine)
        assert machine.wait > 0

    machine.opened(20)
    machine.ended(20.5)
    assert ListRequest(resource_version="7") == machine.request()


@pytest.mark.parametrize(
    "error",
    [ServerError("oops", code=500), ForbiddenError("no", code=403), ApiError("broken line")],
)
def test_a_watch_that_keeps_failing_without_an_event_is_listed(error: ApiError) -> None:
    machine = listed("7")

    for _ in range(BARREN_WATCHES - 1):
        machine.failed(error, 10)
        assert "7" == resumes_from(machine)

    machine.failed(error, 10)
    assert ListRequest(resource_version="7") == machine.request()


def test_an_event_shows_that_resuming_gets_on() -> None:
    machine = listed("7")

    for version in range(8, 20):
        machine.opened(10)
        machine.advanced(str(version))
        machine.failed(ServerError("oops", code=500), 10)

        assert str(version) == resumes_from(machine)


def test_r8_the_server_may_ask_for_more_patience() -> None:
    machine = watcher()

    machine.failed(ThrottledError("later", code=429, retry_after=60), 0)

    assert 60 == machine.wait
