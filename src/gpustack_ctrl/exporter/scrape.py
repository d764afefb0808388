"""Answers a scrape: the parts that are ready, piece by piece, then the process itself.

Nothing is rendered or compressed here, and other work gets its turn after each piece: a
page of many megabytes holds nobody up.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress

import attrs
from aiohttp import hdrs, web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from gpustack_ctrl.exporter.pages import Chunk, Gzip, Pages, chunk
from gpustack_ctrl.runtime.clock import Clock
from gpustack_ctrl.runtime.server import accepts_gzip

_OPEN_METRICS = "application/openmetrics-text"


@attrs.frozen(kw_only=True)
class Scrapes:
    """Answers with *pages*, and with what *registry* holds of this process."""

    pages: Pages
    registry: CollectorRegistry
    clock: Clock

    def app(self) -> web.Application:
        """`/metrics`, in the format and coding that the scraper asks for."""
        made = web.Application()
        made.router.add_get("/metrics", self._answer)
        return made

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        encode, content_type = choose_encoder(request.headers.get(hdrs.ACCEPT, ""))
        pieces = self.pages.pieces(
            self.clock.monotonic(), open_metrics=content_type.startswith(_OPEN_METRICS)
        )
        packed = accepts_gzip(request.headers.get(hdrs.ACCEPT_ENCODING, ""))
        response = web.StreamResponse(headers=_headers(content_type, packed=packed))
        await response.prepare(request)
        if request.method != hdrs.METH_HEAD:  # aiohttp would send a body all the same.
            told = (_packed if packed else _plain)(pieces, encode(self.registry))
            with suppress(ConnectionError):  # The scraper went away: nobody waits for the rest.
                await self._write(response, told)
        return response

    async def _write(self, response: web.StreamResponse, told: Iterator[bytes]) -> None:
        """Send what is *told*, and give others their turn after each piece."""
        for piece in told:
            await response.write(piece)
            await self.clock.sleep(0)
        await response.write_eof()


def _headers(content_type: str, *, packed: bool) -> Mapping[str, str]:
    told: dict[str, str] = {hdrs.CONTENT_TYPE: content_type, hdrs.VARY: "Accept, Accept-Encoding"}
    if packed:
        told[hdrs.CONTENT_ENCODING] = "gzip"
    return told


def _plain(pieces: Iterator[list[Chunk]], own: bytes) -> Iterator[bytes]:
    for chunks in pieces:
        yield b"".join([held.plain for held in chunks])
    yield own


def _packed(pieces: Iterator[list[Chunk]], own: bytes) -> Iterator[bytes]:
    stream = Gzip()
    yield stream.begin()
    for chunks in pieces:
        yield stream.add(chunks)
    yield stream.add([chunk(own)])
    yield stream.end()
