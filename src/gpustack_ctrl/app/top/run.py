"""Runs `top`: by an exporter where one is named, else by asking the kubelets."""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import attrs

from gpustack_ctrl.app.errors import StartError
from gpustack_ctrl.app.process import refusals_explained
from gpustack_ctrl.app.top.cluster import ClusterReader, Told
from gpustack_ctrl.app.top.page import series_of_page
from gpustack_ctrl.app.top.show import Show, Wish
from gpustack_ctrl.client.client import Client
from gpustack_ctrl.client.connection import connect
from gpustack_ctrl.client.endpoints import Endpoints
from gpustack_ctrl.client.kubelets import Kubelets
from gpustack_ctrl.client.location import ConnectionOptions
from gpustack_ctrl.runtime.clock import SystemClock

SECONDS = 10.0
CLOCK = SystemClock()


@attrs.frozen(kw_only=True)
class Exporter:
    """Where the page of an exporter is, and how it may be read."""

    url: str = ""
    token_file: str = ""
    insecure_tls: bool = False


async def top(
    where: ConnectionOptions, exporter: Exporter, wish: Wish, *, kubelet_insecure_tls: bool
) -> None:
    """Show what *wish* says; without an exporter's URL, ask the cluster that is *where*."""
    if exporter.url:
        await _by_exporter(exporter, wish)
    else:
        await _by_kubelets(where, wish, insecure=kubelet_insecure_tls)


async def _by_exporter(exporter: Exporter, wish: Wish) -> None:
    headers = {"Authorization": f"Bearer {_token(exporter)}"} if exporter.token_file else {}
    async with Endpoints(
        seconds=SECONDS, headers=headers, insecure=exporter.insecure_tls
    ) as endpoints:

        async def read() -> Told:
            return Told(await series_of_page(endpoints, exporter.url))

        await _shown(read, wish)


async def _by_kubelets(where: ConnectionOptions, wish: Wish, *, insecure: bool) -> None:
    async with (
        await connect(where, clock=CLOCK) as connection,
        Kubelets(connection, seconds=SECONDS, insecure=insecure) as kubelets,
    ):
        rest = Client(connection=connection, clock=CLOCK).rest
        reader = ClusterReader(rest=rest, kubelets=kubelets, clock=CLOCK, namespace=wish.namespace)
        with refusals_explained(connection):
            await _shown(reader.read, wish)


async def _shown(read: Callable[[], Awaitable[Told]], wish: Wish) -> None:
    shows = Show(read=read, wish=wish, clock=CLOCK, out=sys.stdout, complain=sys.stderr)
    await shows.run()


def _token(exporter: Exporter) -> str:
    try:
        return Path(exporter.token_file).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StartError(f"--exporter-token-file: {error}") from error
