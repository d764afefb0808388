"""What every long-running command does: end on a signal, and say why it cannot start."""

import asyncio
import signal
import ssl
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from aiohttp import web

from gpustack_ctrl.api.errors import ForbiddenError, UnauthorizedError
from gpustack_ctrl.app.errors import StartError
from gpustack_ctrl.client.client import Client
from gpustack_ctrl.client.credentials import Connection
from gpustack_ctrl.options import CommonOptions
from gpustack_ctrl.runtime.certificate import server_tls
from gpustack_ctrl.runtime.guard import Guard, guarded
from gpustack_ctrl.runtime.manager import Ending
from gpustack_ctrl.runtime.server import HttpServer


async def until_signalled(life: Callable[[], Awaitable[Ending]]) -> Ending:
    """Live until SIGTERM or SIGINT, or until the work cannot be done any more."""
    scope = asyncio.timeout(None)
    on_signal(lambda: scope.reschedule(0))
    try:
        async with scope:
            return await life()
    except TimeoutError:
        if not scope.expired():
            raise
        return Ending.STOPPED  # Nothing was begun yet that would have to be finished.


def on_signal(end: Callable[[], object]) -> None:
    """Call *end*, and nothing that was to be called before, when somebody wants us to end."""
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end)


@contextmanager
def refusals_explained(connection: Connection) -> Iterator[None]:
    """Turn a refusal by the API server, before anything works, into what helps."""
    try:
        yield
    except UnauthorizedError as error:
        raise StartError(
            f"the API server at {connection.host} does not accept our credentials ({error}): "
            "renew them, or choose others by --kubeconfig or --context"
        ) from error
    except ForbiddenError as error:
        raise StartError(f"{error}: bind the roles in deploy/rbac to this user") from error


def server(app: web.Application, bind: str, tls: ssl.SSLContext | None = None) -> HttpServer:
    """A server of *app* at *bind*; raise `StartError` where that cannot be an address."""
    try:
        return HttpServer(app, bind=bind, tls=tls)
    except ValueError as error:
        raise StartError(str(error)) from error


def metrics_server(app: web.Application, options: CommonOptions, client: Client) -> HttpServer:
    """A server of the page of metrics *app*, protected where *options* ask for it."""
    if not options.metrics_protection:
        return server(app, options.metrics_bind_address)
    guard = Guard(reviews=client.reviews, clock=client.clock)
    tls = server_tls(
        certificate=options.tls_cert_file, key=options.tls_key_file, clock=client.clock
    )
    return server(guarded(app, guard), options.metrics_bind_address, tls)
