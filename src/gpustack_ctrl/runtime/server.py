"""The ports on which the process is probed and scraped."""

import gzip
import os
import ssl
from collections.abc import Mapping

import attrs
from aiohttp import hdrs, web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from gpustack_ctrl.runtime.health import Check, ask

OFF = {"", "0"}
HIGHEST_PORT = 65535


class ListenError(OSError):
    """An address cannot be listened on; the message names it."""


@attrs.frozen
class Address:
    """Where to listen: all addresses when *host* is None, any free port when *port* is 0."""

    host: str | None
    port: int


def address(bind: str) -> Address | None:
    """What *bind*, a `host:port`, means; None when it is empty or `0`: do not listen.

    Raises ValueError with a sentence for the user.
    """
    if bind in OFF:
        return None
    host, colon, port = bind.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > HIGHEST_PORT:
        raise ValueError(f"bind address {bind!r}: write host:port, :port, or 0 to switch it off")
    return Address(host=host.removeprefix("[").removesuffix("]") or None, port=int(port))


class HttpServer:
    """Serves *app* at *bind* from `start` to `stop`, over *tls* where that is given.

    It does nothing when *bind* is off.
    """

    def __init__(
        self, app: web.Application, *, bind: str, tls: ssl.SSLContext | None = None
    ) -> None:
        self._bind = bind
        self._tls = tls
        self._address = address(bind)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        self._port: int | None = None

    @property
    def port(self) -> int | None:
        """The port that is listened on; None while there is none."""
        return self._port

    async def start(self) -> None:
        """Return once connections are accepted.

        Raises ListenError when the address cannot be bound.
        """
        if self._address is None:
            return
        await self._runner.setup()
        where = (self._address.host, self._address.port)
        site = web.TCPSite(self._runner, *where, ssl_context=self._tls)
        try:
            await site.start()
        except OSError as error:
            await self._runner.cleanup()
            raise ListenError(f"cannot listen on {self._bind}: {_why(error)}") from error
        self._port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Return once the port is closed."""
        self._port = None
        await self._runner.cleanup()


def probes_app(*, liveness: Mapping[str, Check], readiness: Mapping[str, Check]) -> web.Application:
    """`/healthz` and `/readyz`, each with `/NAME` for one check, `?verbose` and `?exclude=`."""
    app = web.Application()
    _add_probe(app, "healthz", liveness)
    _add_probe(app, "readyz", readiness)
    return app


def metrics_app(registry: CollectorRegistry) -> web.Application:
    """`/metrics`: *registry* in the format that the scraper asks for."""

    async def scrape(request: web.Request) -> web.Response:
        encode, content_type = choose_encoder(request.headers.get(hdrs.ACCEPT, ""))
        body = encode(registry)
        headers = {hdrs.CONTENT_TYPE: content_type, hdrs.VARY: "Accept, Accept-Encoding"}
        if accepts_gzip(request.headers.get(hdrs.ACCEPT_ENCODING, "")):
            body = gzip.compress(body, compresslevel=1)
            headers[hdrs.CONTENT_ENCODING] = "gzip"
        return web.Response(body=body, headers=headers)

    app = web.Application()
    app.router.add_get("/metrics", scrape)
    return app


def _why(error: OSError) -> str:
    """The reason alone: asyncio wraps it into words of its own, with the address once more."""
    number = error.errno or 0
    return os.strerror(number).lower() if number > 0 else error.strerror or str(error)


def _add_probe(app: web.Application, title: str, checks: Mapping[str, Check]) -> None:
    async def all_checks(request: web.Request) -> web.Response:
        return _answer(request, title, checks)

    async def one_check(request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name not in checks:
            known = ", ".join(checks) or "none"
            return web.Response(status=404, text=f"no check {name!r}; there are: {known}\n")
        return _answer(request, title, {name: checks[name]})

    app.router.add_get(f"/{title}", all_checks)
    app.router.add_get(f"/{title}/{{name}}", one_check)


def _answer(request: web.Request, title: str, checks: Mapping[str, Check]) -> web.Response:
    report = ask(checks, exclude=request.query.getall("exclude", []))
    text = report.text(title, verbose="verbose" in request.query)
    return web.Response(status=200 if report.passed else 500, text=text)


def accepts_gzip(header: str) -> bool:
    """Whether *header*, an `Accept-Encoding`, allows gzip: `gzip;q=0` does not."""
    for coding in header.split(","):
        name, _, weight = coding.partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False
