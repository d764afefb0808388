"""A scrape over a real socket: every format and coding, and scrapers that behave badly."""

import asyncio
import gzip
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import attrs
import pytest
from prometheus_client import CollectorRegistry, Counter
from prometheus_client.openmetrics.parser import text_string_to_metric_families as strict_families
from structlog.testing import capture_logs

from gpustack_ctrl.exporter.pages import Pages
from gpustack_ctrl.exporter.scrape import Scrapes
from gpustack_ctrl.metering import families as f
from gpustack_ctrl.metering.exposition import Sample
from gpustack_ctrl.metering.families import catalogue
from gpustack_ctrl.runtime.clock import SystemClock
from gpustack_ctrl.runtime.server import HttpServer
from tests.cli.command import families

OPEN = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
CURL = shutil.which("curl")
MANY = 20_000


@attrs.frozen
class Scraped:
    """A server of pages."""

    pages: Pages
    server: HttpServer

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}/metrics"


@asynccontextmanager
async def served() -> AsyncIterator[Scraped]:
    registry = CollectorRegistry()
    Counter("own", "Of the process itself.", registry=registry).inc()
    pages = Pages()
    scrapes = Scrapes(pages=pages, registry=registry, clock=SystemClock())
    server = HttpServer(scrapes.app(), bind="127.0.0.1:0")
    await server.start()
    try:
        yield Scraped(pages, server)
    finally:
        await server.stop()


def fill(pages: Pages, count: int = 3) -> None:
    """A page of so many Instances, in parts."""
    for begin in range(0, count, 100):
        numbers = range(begin, min(begin + 100, count))
        pages.put(
            f"part-{begin:06}",
            [Sample(f.READY, ("team", f"box-{it:06}", f"uid-{it}"), 1) for it in numbers],
        )


async def get(url: str, **headers: str) -> tuple[aiohttp.ClientResponse, bytes]:
    """The answer as it came, not unpacked."""
    async with (
        aiohttp.ClientSession(auto_decompress=False) as session,
        session.get(url, headers={"Accept-Encoding": "identity"} | headers) as response,
    ):
        return response, await response.read()


def boxes(page: bytes) -> list[str]:
    told = [it for held in families(page.decode()) for it in held.samples]
    return [it.labels["instance_name"] for it in told if it.name == f.READY.name]


async def test_the_page_is_the_parts_and_then_the_process() -> None:
    async with served() as held:
        fill(held.pages)
        response, page = await get(held.url)

    assert response.status == 200
    assert response.headers["Content-Type"].startswith("text/plain; version=")
    assert response.headers["Vary"] == "Accept, Accept-Encoding"
    assert "Content-Encoding" not in response.headers
    assert ["box-000000", "box-000001", "box-000002"] == boxes(page)
    assert page.index(b"box-000002") < page.index(b"own_total 1.0")


async def test_packed_and_plain_are_the_same_page() -> None:
    async with served() as held:
        fill(held.pages, 1000)
        _, page = await get(held.url)
        response, packed = await get(held.url, **{"Accept-Encoding": "deflate, gzip;q=0.5"})

    assert response.headers["Content-Encoding"] == "gzip"
    assert page == gzip.decompress(packed)
    assert len(packed) < len(page) / 5


@pytest.mark.parametrize("accepts", ["", "identity", "gzip;q=0", "deflate, gzip; q=0.0", "br"])
async def test_nobody_is_sent_gzip_who_does_not_take_it(accepts: str) -> None:
    async with served() as held:
        fill(held.pages)
        response, page = await get(held.url, **{"Accept-Encoding": accepts})

    assert "Content-Encoding" not in response.headers
    assert len(boxes(page)) == 3


@pytest.mark.parametrize("coding", ["identity", "gzip"])
async def test_a_page_of_open_metrics_is_one_to_its_strict_reader(coding: str) -> None:
    async with served() as held:
        every = [Sample(it, tuple("x" * len(it.labels)), 1.5) for it in catalogue()]
        held.pages.put("part", every)
        response, body = await get(held.url, Accept=OPEN, **{"Accept-Encoding": coding})
    page = (gzip.decompress(body) if coding == "gzip" else body).decode()
    read = [it.name for told in strict_families(page) for it in told.samples]  # type: ignore[no-untyped-call]

    assert response.headers["Content-Type"].startswith("application/openmetrics-text; version=1")
    assert {it.name for it in catalogue()} <= set(read)
    assert "own_total" in read
    assert page.endswith("# EOF\n")
    assert page.count("# EOF") == 1


async def test_a_head_has_no_body_and_spoils_nothing_that_follows() -> None:
    async with served() as held, aiohttp.ClientSession() as session:
        fill(held.pages)
        async with session.head(held.url) as response:
            assert (200, b"") == (response.status, await response.read())
        async with session.get(held.url) as response:
            assert 3 == len(boxes(await response.read()))


@pytest.mark.parametrize(("path", "method", "status"), [("", "POST", 405), ("/more", "GET", 404)])
async def test_nothing_else_is_served(path: str, method: str, status: int) -> None:
    async with (
        served() as held,
        aiohttp.ClientSession() as session,
        session.request(method, held.url + path) as response,
    ):
        assert status == response.status


async def test_a_connection_takes_one_scrape_after_another() -> None:
    async with served() as held, aiohttp.ClientSession() as session:
        for count in (3, 0, 200):
            fill(held.pages, count)
            async with session.get(held.url) as response:
                assert max(3, count) == len(boxes(await response.read()))


async def test_scrapers_that_go_away_in_the_middle_hurt_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served() as held:
        fill(held.pages, MANY)
        with capture_logs() as logs:
            for coding in ("identity", "gzip"):
                for _ in range(5):
                    await leave_early(held, coding)
                _, page = await get(held.url)
                assert MANY == len(boxes(page))

    assert [] == logs
    assert [] == [it for it in caplog.records if it.levelname in {"WARNING", "ERROR", "CRITICAL"}]


async def leave_early(held: Scraped, coding: str) -> None:
    """Begin to read a page, and cut the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", held.server.port)
    writer.write(f"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept-Encoding: {coding}\r\n\r\n".encode())
    await reader.readexactly(1000)
    writer.transport.abort()


async def test_scrapers_that_do_not_read_keep_nobody_waiting() -> None:
    async with served() as held:
        fill(held.pages, MANY)
        stuck = [await asyncio.open_connection("127.0.0.1", held.server.port) for _ in range(5)]
        for _, writer in stuck:
            writer.write(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        pages = await asyncio.gather(*(get(held.url) for _ in range(5)))
        for _, writer in stuck:
            writer.transport.abort()

    assert {MANY} == {len(boxes(page)) for _, page in pages}


async def test_others_get_their_turn_between_two_pieces() -> None:
    """A page is written in many turns of the loop, however fast its scraper reads."""
    async with served() as held:
        fill(held.pages, 300 * 100)
        turns = 0

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await SystemClock().sleep(0)

        task = asyncio.create_task(others())
        await get(held.url)
        task.cancel()
    assert turns > 3


async def test_a_scrape_that_began_tells_what_was_true_when_it_did() -> None:
    async with served() as held:
        fill(held.pages, MANY)
        reader, writer = await asyncio.open_connection("127.0.0.1", held.server.port)
        writer.write(b"GET /metrics HTTP/1.0\r\nHost: x\r\n\r\n")
        begun = await reader.readexactly(100)
        for begin in range(0, MANY, 100):
            held.pages.drop(f"part-{begin:06}")
        page = begun + await reader.read(-1)
        writer.close()
        assert MANY == len(boxes(page.partition(b"\r\n\r\n")[2]))
        _, after = await get(held.url)
        assert [] == boxes(after)


@pytest.mark.skipif(CURL is None, reason="needs curl")
async def test_curl_unpacks_the_page() -> None:
    async with served() as held:
        fill(held.pages, 1000)
        done = await asyncio.to_thread(
            subprocess.run,
            ["curl", "--silent", "--show-error", "--fail", "--compressed", held.url],
            capture_output=True,
            check=True,
        )
    assert 1000 == len(boxes(done.stdout))
