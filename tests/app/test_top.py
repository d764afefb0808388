"""`top`: what is shown of a page, of a cluster, and of what cannot be had."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from gpustack_ctrl.app.errors import StartError
from gpustack_ctrl.app.top.cluster import Told
from gpustack_ctrl.app.top.page import series_of_page
from gpustack_ctrl.app.top.run import Exporter, top
from gpustack_ctrl.app.top.show import CLEAR, JSON, Show, Wish
from gpustack_ctrl.client.endpoints import Endpoints
from gpustack_ctrl.client.location import ConnectionOptions
from gpustack_ctrl.metering.rows import Series
from gpustack_ctrl.runtime.server import HttpServer
from tests.helpers.clock import FakeClock

LABELS = 'namespace="team",instance_name="box",instance_uid="u"'
PAGE = f"""
# TYPE gpustack_instance_phase gauge
gpustack_instance_phase{{{LABELS},phase="Ready"}} 1
gpustack_instance_memory_working_set_bytes{{{LABELS},node="n1"}} 1048576
"""
READY = Series(
    "gpustack_instance_phase",
    {"namespace": "team", "instance_name": "box", "instance_uid": "u", "phase": "Ready"},
    1,
)


@asynccontextmanager
async def serving(page: str, *, token: str = "") -> AsyncIterator[str]:
    """A page on loopback, to those who bring *token*."""

    async def answer(request: web.Request) -> web.Response:
        if token and request.headers.get("Authorization") != f"Bearer {token}":
            return web.Response(status=401)
        return web.Response(text=page)

    app = web.Application()
    app.router.add_get("/metrics", answer)
    server = HttpServer(app, bind="127.0.0.1:0")
    await server.start()
    try:
        yield f"http://127.0.0.1:{server.port}/metrics"
    finally:
        await server.stop()


async def shown(told: Told, wish: Wish) -> tuple[str, str]:
    """What is written of *told*, and what is complained of."""

    async def read() -> Told:
        return told

    out, complain = io.StringIO(), io.StringIO()
    await Show(read=read, wish=wish, clock=FakeClock(), out=out, complain=complain).run()
    return out.getvalue(), complain.getvalue()


async def test_the_page_of_an_exporter_becomes_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    async with serving(PAGE) as url:
        await top(ConnectionOptions(), Exporter(url=url), Wish(), kubelet_insecure_tls=False)

    assert capsys.readouterr().out.splitlines()[1].split() == [
        "team", "box", "Ready", "-", "-", "-", "-", "1Mi/-", "-", "-", "-",
    ]  # fmt: skip


async def test_a_token_is_sent_where_one_is_named(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("secret\n")
    async with serving(PAGE, token="secret") as url:  # noqa: S106 -- it is the test's own.
        exporter = Exporter(url=url, token_file=str(file))
        await top(ConnectionOptions(), exporter, Wish(), kubelet_insecure_tls=False)
        with pytest.raises(StartError, match="--exporter-token-file"):
            await top(ConnectionOptions(), Exporter(url=url), Wish(), kubelet_insecure_tls=False)


async def test_a_token_that_is_not_there_is_named(tmp_path: Path) -> None:
    exporter = Exporter(url="http://127.0.0.1:1/metrics", token_file=str(tmp_path / "none"))

    with pytest.raises(StartError, match=r"--exporter-token-file: .*none"):
        await top(ConnectionOptions(), exporter, Wish(), kubelet_insecure_tls=False)


@pytest.mark.parametrize(
    ("page", "path", "said"),
    [("<html>{", "", "is no page of metrics"), (PAGE, "/more", "name the whole URL")],
)
async def test_a_page_that_is_none_is_told(page: str, path: str, said: str) -> None:
    async with serving(page) as url, Endpoints(seconds=5) as endpoints:
        with pytest.raises(StartError, match=said):
            await series_of_page(endpoints, url + path)


async def test_an_exporter_that_is_not_there_is_told() -> None:
    async with Endpoints(seconds=5) as endpoints:
        with pytest.raises(StartError, match=r"--exporter: http://127\.0\.0\.1:1/metrics"):
            await series_of_page(endpoints, "http://127.0.0.1:1/metrics")


async def test_json_is_one_line_with_null_for_what_nobody_knows() -> None:
    out, _ = await shown(Told((READY,)), Wish(output=JSON))
    [row] = json.loads(out)

    assert out.count("\n") == 1
    assert (row["name"], row["phase"], row["cpu_used"]) == ("box", "Ready", None)


async def test_only_the_namespace_that_is_wished_for_is_shown() -> None:
    out, _ = await shown(Told((READY,)), Wish(namespace="other"))

    assert out == "No Instances.\n"


async def test_what_is_missing_is_told_apart_from_the_table() -> None:
    out, complaints = await shown(Told((READY,), ("node n1: forbidden",)), Wish())

    assert "forbidden" not in out
    assert complaints == "node n1: forbidden\n"


class Terminal(io.StringIO):
    """Says that somebody looks."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("out", "clears"), [(Terminal(), True), (io.StringIO(), False)])
async def test_watching_shows_it_again_and_again(out: io.StringIO, *, clears: bool) -> None:
    clock, reads = FakeClock(), 0

    async def read() -> Told:
        nonlocal reads
        reads += 1
        return Told((READY,))

    wish = Wish(watch=True, seconds=5)
    show = Show(read=read, wish=wish, clock=clock, out=out, complain=io.StringIO())
    watching = asyncio.create_task(show.run())
    await clock.advance(12)
    watching.cancel()

    assert reads == 3
    assert out.getvalue().count("NAMESPACE") == 3
    assert (CLEAR in out.getvalue()) is clears
