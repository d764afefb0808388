"""Who is let in to a page, by what a scripted API server says of tokens."""

import asyncio
from collections import Counter
from http import HTTPStatus

import aiohttp
import attrs
import pytest
from aiohttp import web
from structlog.testing import capture_logs

from gpustack_ctrl.api.errors import ApiError, ForbiddenError, ServerError, UnreachableError
from gpustack_ctrl.api.review import Access, User
from gpustack_ctrl.runtime.guard import (
    ADMITTED,
    ADMITTED_SECONDS,
    CROWDED,
    MOST_AT_ONCE,
    NO_TOKEN,
    REFUSED_SECONDS,
    STRANGER,
    Guard,
    Memory,
    Verdict,
    bearer_token,
    guarded,
)
from gpustack_ctrl.runtime.server import HttpServer
from tests.helpers.clock import FakeClock, settle

PROMETHEUS = User(username="prometheus", groups=("scrapers",))
KNOWN = "prometheus-token"
SENT = f"Bearer {KNOWN}"


@attrs.define
class Api:
    """Knows *bearers*, lets *readers* read, and is away while there is a *fault*."""

    bearers: dict[str, User] = attrs.field(factory=lambda: {KNOWN: PROMETHEUS})
    readers: set[str] = attrs.field(factory=lambda: {"prometheus"})
    fault: ApiError | None = None
    held: asyncio.Event | None = None
    asked: list[str] = attrs.field(factory=list)
    accesses: list[tuple[User, Access]] = attrs.field(factory=list)

    async def bearer(self, token: str) -> User | None:
        self.asked.append(token)
        if self.held is not None:
            await self.held.wait()
        if self.fault is not None:
            raise self.fault
        return self.bearers.get(token)

    async def allowed(self, user: User, access: Access) -> bool:
        self.accesses.append((user, access))
        if self.fault is not None:
            raise self.fault
        return user.username in self.readers


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def guard(api: Api, clock: FakeClock) -> Guard:
    return Guard(reviews=api, clock=clock)


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer abc", "abc"),
        ("bearer abc", "abc"),
        ("  Bearer   abc ", "abc"),
        ("Bearer", None),
        ("Bearer ", None),
        ("Basic abc", None),
        ("abc", None),
        ("", None),
    ],
)
def test_the_token_is_what_follows_its_scheme(header: str, token: str | None) -> None:
    assert token == bearer_token(header)


async def test_without_a_token_nobody_is_asked(guard: Guard, api: Api) -> None:
    assert NO_TOKEN == await guard.verdict("Basic dTpw")
    assert [] == api.asked


async def test_an_unknown_token_is_refused_without_asking_what_it_may(
    guard: Guard, api: Api
) -> None:
    assert STRANGER == await guard.verdict("Bearer garbage")
    assert [] == api.accesses


async def test_who_may_is_let_in_as_the_whole_user_that_the_api_server_knows(
    guard: Guard, api: Api
) -> None:
    assert ADMITTED == await guard.verdict(SENT)
    assert [(PROMETHEUS, Access(verb="get", path="/metrics"))] == api.accesses


async def test_who_may_not_is_told_which_role_is_missing(guard: Guard, api: Api) -> None:
    api.readers.clear()

    verdict = await guard.verdict(SENT)

    assert HTTPStatus.FORBIDDEN is verdict.status
    assert (
        "'prometheus' may not get /metrics: bind it to the ClusterRole gpustack-metrics-reader"
        == verdict.why
    )


async def test_a_right_that_is_taken_away_ends_within_a_minute(
    guard: Guard, api: Api, clock: FakeClock
) -> None:
    await guard.verdict(SENT)
    api.readers.clear()
    await clock.advance(ADMITTED_SECONDS - 0.1)
    assert ADMITTED == await guard.verdict(SENT)

    await clock.advance(0.1)

    assert HTTPStatus.FORBIDDEN is (await guard.verdict(SENT)).status
    assert [KNOWN] * 2 == api.asked


async def test_a_right_that_is_given_is_seen_within_ten_seconds(
    guard: Guard, api: Api, clock: FakeClock
) -> None:
    api.readers.clear()
    refused = await guard.verdict(SENT)
    api.readers.add("prometheus")
    assert refused == await guard.verdict(SENT)

    await clock.advance(REFUSED_SECONDS)

    assert ADMITTED == await guard.verdict(SENT)


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (UnreachableError("refused"), "the API server does not answer"),
        (
            ForbiddenError("no", code=403),
            "bind this server's ServiceAccount to the ClusterRole gpustack-metrics-guard",
        ),
        (ServerError("oops", code=500), "the API server answers 500"),
    ],
)
async def test_without_an_answer_nobody_new_is_let_in_and_the_known_stay(
    guard: Guard, api: Api, clock: FakeClock, *, fault: ApiError, why: str
) -> None:
    await guard.verdict(SENT)
    api.fault = fault

    known, new = await guard.verdict(SENT), await guard.verdict("Bearer other")
    await clock.advance(ADMITTED_SECONDS)
    later = await guard.verdict(SENT)

    assert ADMITTED == known
    assert (
        Verdict(HTTPStatus.SERVICE_UNAVAILABLE, f"the bearer token cannot be reviewed: {why}")
        == new
        == later
    )


async def test_a_fault_is_not_remembered(guard: Guard, api: Api) -> None:
    api.fault = UnreachableError("refused")
    await guard.verdict(SENT)
    api.fault = None

    assert ADMITTED == await guard.verdict(SENT)


async def test_one_token_is_asked_about_once_at_a_time(guard: Guard, api: Api) -> None:
    api.held = asyncio.Event()
    waiting = [asyncio.create_task(guard.verdict(SENT)) for _ in range(20)]
    await settle()
    waiting[0].cancel()  # That one leaves; the others still get their answer.
    await settle()
    api.held.set()

    assert [ADMITTED] * 19 == await asyncio.gather(*waiting[1:])
    assert [KNOWN] == api.asked


async def test_a_crowd_of_strangers_does_not_keep_out_who_was_let_in(
    guard: Guard, api: Api, clock: FakeClock
) -> None:
    await guard.verdict(SENT)
    await clock.advance(ADMITTED_SECONDS)
    api.held = asyncio.Event()
    crowd = [asyncio.create_task(guard.verdict(f"Bearer {n}")) for n in range(MOST_AT_ONCE)]
    await settle()

    one_more = await guard.verdict("Bearer more")
    known = asyncio.create_task(guard.verdict(SENT))
    await settle()
    api.held.set()

    assert CROWDED == one_more
    assert ADMITTED == await known
    assert [STRANGER] * MOST_AT_ONCE == await asyncio.gather(*crowd)


async def test_thousands_of_tokens_push_nobody_out_who_was_let_in(guard: Guard, api: Api) -> None:
    await guard.verdict(SENT)
    for number in range(3000):
        await guard.verdict(f"Bearer {number}")

    assert ADMITTED == await guard.verdict(SENT)
    assert 1 == Counter(api.asked)[KNOWN]


def test_memory_is_bounded_and_lets_the_least_asked_for_go(clock: FakeClock) -> None:
    memory = Memory(clock, 60.0, most=2)
    memory.keep(b"one", ADMITTED)
    memory.keep(b"two", ADMITTED)
    memory.get(b"one")
    memory.keep(b"three", ADMITTED)

    assert [True, False, True] == [key in memory for key in (b"one", b"two", b"three")]


async def test_a_token_is_neither_kept_nor_logged_nor_answered(guard: Guard, api: Api) -> None:
    api.fault = ServerError(f"cannot decode {KNOWN}", code=500)
    with capture_logs() as lines:
        first, second = await guard.verdict(SENT), await guard.verdict(SENT)
    api.fault = None
    await guard.verdict(SENT)

    assert ["cannot decode (token)"] == [line["error"] for line in lines]  # Told once.
    assert first == second
    held = {name: held for name, held in vars(guard).items() if name != "_reviews"}
    assert KNOWN not in f"{lines}{first}{held}"


async def test_a_guarded_page_answers_in_one_line(api: Api, clock: FakeClock) -> None:
    async def page(_: web.Request) -> web.Response:
        return web.Response(text="the page")

    app = web.Application()
    app.router.add_get("/metrics", page)
    server = HttpServer(guarded(app, Guard(reviews=api, clock=clock)), bind="127.0.0.1:0")
    await server.start()
    try:
        async with aiohttp.ClientSession(f"http://127.0.0.1:{server.port}") as session:
            anonymous = await answered(session, "/metrics")
            elsewhere = await answered(session, "/other")
            reader = await answered(session, "/metrics", SENT)
            lost = await answered(session, "/other", SENT)
    finally:
        await server.stop()

    assert (401, f"{NO_TOKEN.why}\n", "Bearer") == anonymous == elsewhere
    assert (200, "the page", None) == reader
    assert 404 == lost[0]


async def answered(
    session: aiohttp.ClientSession, path: str, authorization: str = ""
) -> tuple[int, str, str | None]:
    headers = {"Authorization": authorization} if authorization else {}
    async with session.get(path, headers=headers) as answer:
        return answer.status, await answer.text(), answer.headers.get("WWW-Authenticate")
