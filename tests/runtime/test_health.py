"""Probes and scrapes over real sockets of the loopback interface."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web
from prometheus_client import CollectorRegistry, Gauge

from gpustack_ctrl.runtime.health import LoopLag, ask
from gpustack_ctrl.runtime.server import Address, HttpServer, address, metrics_app, probes_app
from tests.helpers.clock import FakeClock, settle


@asynccontextmanager
async def listening(app: web.Application) -> AsyncIterator[aiohttp.ClientSession]:
    """A client of *app*, which listens on some free port."""
    server = HttpServer(app, bind="127.0.0.1:0")
    await server.start()
    assert server.port
    try:
        async with aiohttp.ClientSession(
            f"http://127.0.0.1:{server.port}", auto_decompress=False
        ) as session:
            yield session
    finally:
        await server.stop()


def fine() -> str | None:
    return None


def broken() -> str | None:
    return "out of order"


def raising() -> str | None:
    raise KeyError("bug")


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        ("/healthz", 200, "ok"),
        ("/healthz?verbose", 200, "[+]ping ok\n[+]loop ok\nhealthz check passed\n"),
        ("/healthz/ping", 200, "ok"),
        ("/healthz/pong", 404, "no check 'pong'; there are: ping, loop\n"),
        ("/readyz", 500, "[+]ping ok\n[-]caches failed: out of order\nreadyz check failed\n"),
        ("/readyz/caches", 500, "[-]caches failed: out of order\nreadyz check failed\n"),
        ("/readyz/ping", 200, "ok"),
        ("/readyz?exclude=caches", 200, "ok"),
    ],
)
async def test_g4_probes_answer_with_their_checks(path: str, status: int, text: str) -> None:
    app = probes_app(
        liveness={"ping": fine, "loop": fine}, readiness={"ping": fine, "caches": broken}
    )
    async with listening(app) as client, client.get(path) as answer:
        assert (status, text) == (answer.status, await answer.text())


def test_a_check_that_raises_has_failed_and_hides_no_other() -> None:
    report = ask({"bug": raising, "ping": fine})

    assert not report.passed
    assert (
        "[-]bug failed: the check itself failed: KeyError('bug')\n[+]ping ok\nreadyz check failed\n"
    ) == report.text("readyz", verbose=False)


async def test_g4_the_loop_check_fails_after_a_stall_and_recovers() -> None:
    clock = FakeClock()
    lag = LoopLag(clock=clock, limit=10)
    task = asyncio.create_task(lag.run())
    await settle()
    clock.stall(13)
    await clock.advance(0)
    assert "the event loop was 12.0 s late; at most 10 s is healthy" == lag.check()

    await clock.advance(1)
    task.cancel()

    assert None is lag.check()


def registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    Gauge("demo", "A number.", registry=registry).inc()
    return registry


@pytest.mark.parametrize(
    ("accept", "content_type", "ends_with"),
    [
        ("", "text/plain; version=0.0.4; charset=utf-8", b"demo 1.0\n"),
        (
            "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5",
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
            b"# EOF\n",
        ),
    ],
)
async def test_metrics_come_in_the_format_the_scraper_asks_for(
    accept: str, content_type: str, ends_with: bytes
) -> None:
    headers = {"Accept": accept, "Accept-Encoding": "identity"}
    async with (
        listening(metrics_app(registry())) as client,
        client.get("/metrics", headers=headers) as answer,
    ):
        body = await answer.read()

    assert answer.headers["Content-Type"].startswith(content_type)
    assert b"demo 1.0\n" in body
    assert body.endswith(ends_with)


@pytest.mark.parametrize(
    ("accepted", "zipped"),
    [("gzip", True), ("deflate, gzip;q=0.5", True), ("gzip;q=0", False), ("identity", False)],
)
async def test_metrics_are_compressed_when_the_scraper_asks(accepted: str, *, zipped: bool) -> None:
    async with (
        listening(metrics_app(registry())) as client,
        client.get("/metrics", headers={"Accept-Encoding": accepted}) as answer,
    ):
        body = await answer.read()

    assert zipped == (answer.headers.get("Content-Encoding") == "gzip")
    assert b"demo 1.0" in (gzip.decompress(body) if zipped else body)


@pytest.mark.parametrize(
    ("bind", "expected"),
    [
        ("", None),
        ("0", None),
        (":8080", Address(None, 8080)),
        ("127.0.0.1:0", Address("127.0.0.1", 0)),
        ("localhost:81", Address("localhost", 81)),
        ("[::1]:82", Address("::1", 82)),
    ],
)
def test_a_bind_address_is_host_and_port_or_off(bind: str, expected: Address | None) -> None:
    assert expected == address(bind)


@pytest.mark.parametrize("bind", ["8080", "host", "host:", "host:http", ":65536", ":-1", ":²"])
def test_a_bad_bind_address_is_refused_with_the_remedy(bind: str) -> None:
    with pytest.raises(ValueError, match=r"^bind address '.*': write host:port, :port, or 0"):
        HttpServer(web.Application(), bind=bind)


async def test_a_server_that_is_off_listens_nowhere() -> None:
    server = HttpServer(web.Application(), bind="0")
    await server.start()

    assert None is server.port

    await server.stop()


async def test_a_taken_port_is_named_in_the_error() -> None:
    first = HttpServer(web.Application(), bind="127.0.0.1:0")
    await first.start()
    second = HttpServer(web.Application(), bind=f"127.0.0.1:{first.port}")
    try:
        with pytest.raises(OSError, match=f"^cannot listen on 127.0.0.1:{first.port}: "):
            await second.start()
    finally:
        await first.stop()


async def test_g3_a_stopped_server_leaves_no_port_and_no_task() -> None:
    server = HttpServer(probes_app(liveness={}, readiness={}), bind="127.0.0.1:0")
    await server.start()
    url = f"http://127.0.0.1:{server.port}/healthz"
    async with aiohttp.ClientSession() as session:
        async with session.get(url) as answer:
            assert 200 == answer.status
        await server.stop()
        with pytest.raises(aiohttp.ClientConnectorError):
            await session.get(url)
    assert {asyncio.current_task()} == asyncio.all_tasks()
