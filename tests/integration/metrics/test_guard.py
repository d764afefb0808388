"""A protected page before a real API server: real tokens, real roles, real TLS."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import attrs
import pytest
import pytest_asyncio
from prometheus_client import CollectorRegistry, Gauge

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from gpustack_ctrl.client.client import Client
from gpustack_ctrl.gen import rbac
from gpustack_ctrl.runtime.certificate import server_tls
from gpustack_ctrl.runtime.guard import ADMITTED_SECONDS, REFUSED_SECONDS, Guard, guarded
from gpustack_ctrl.runtime.server import HttpServer, metrics_app, probes_app
from tests.cli.command import free_addresses
from tests.helpers.clock import FakeClock
from tests.integration.metrics.accounts import acting, add_account, home_with, token
from tests.integration.world import CLOCK, until

SCRAPER = "prometheus"


@attrs.frozen(kw_only=True)
class Page:
    """A protected page, on whose clock only the test lets time pass."""

    session: aiohttp.ClientSession
    clock: FakeClock

    async def scrape(self, bearer: str | None = None) -> tuple[int, str]:
        """What a scraper with that token is answered."""
        headers = {} if bearer is None else {"Authorization": f"Bearer {bearer}"}
        async with self.session.get("/metrics", headers=headers, ssl=False) as answer:
            return answer.status, await answer.text()

    async def comes_to(self, status: int, bearer: str, *, within: float) -> None:
        """Return once that is the answer; what is remembered is forgotten *within* seconds."""

        async def is_so() -> bool:
            await self.clock.advance(within)
            return status == (await self.scrape(bearer))[0]

        await until(is_so)


@asynccontextmanager
async def protected(client: Client) -> AsyncIterator[Page]:
    """A page over TLS, which asks by way of *client*."""
    registry = CollectorRegistry()
    Gauge("held", "Something to tell.", registry=registry).set(1)
    clock = FakeClock()
    app = guarded(metrics_app(registry), Guard(reviews=client.reviews, clock=clock))
    tls = server_tls(certificate="", key="", clock=CLOCK)
    server = HttpServer(app, bind="127.0.0.1:0", tls=tls)
    await server.start()
    try:
        async with aiohttp.ClientSession(f"https://127.0.0.1:{server.port}") as session:
            yield Page(session=session, clock=clock)
    finally:
        await server.stop()


@pytest.fixture(scope="module")
def home(cluster: Cluster) -> Iterator[str]:
    """The namespace of a server that is bound to the guard's role."""
    with home_with(cluster, lambda at: (*rbac.metrics_guard(at), *rbac.metrics_reader())) as made:
        yield made


@pytest.fixture(scope="module")
def account(cluster: Cluster, home: str) -> Path:
    """The kubeconfig of that server."""
    return add_account(cluster, home, names.EXPORTER)


@pytest_asyncio.fixture
async def page(account: Path) -> AsyncIterator[Page]:
    """Its page."""
    async with acting(account) as client, protected(client) as held:
        yield held


@pytest.fixture
def scraper(cluster: Cluster, namespace: str) -> Iterator[str]:
    """The token of a ServiceAccount that nobody granted anything."""
    add_account(cluster, namespace, SCRAPER)
    yield token(cluster, namespace, SCRAPER)
    cluster.kubectl("delete", "clusterrolebinding", namespace, "--ignore-not-found")


def bind(cluster: Cluster, namespace: str) -> None:
    """Bind the scraper as an administrator does: this is the line of the how-to."""
    cluster.kubectl(
        "create", "clusterrolebinding", namespace,
        "--clusterrole=gpustack-metrics-reader", f"--serviceaccount={namespace}:{SCRAPER}",
    )  # fmt: skip


async def test_r20_without_a_token_or_with_any_other_it_is_refused(page: Page) -> None:
    assert 401 == (await page.scrape())[0]
    status, why = await page.scrape("garbage")

    assert (401, "the API server does not know the bearer token: is it expired?\n") == (status, why)


async def test_who_is_known_but_not_bound_is_told_what_is_missing(
    page: Page, namespace: str, scraper: str
) -> None:
    status, why = await page.scrape(scraper)

    assert 403 == status
    assert f"'system:serviceaccount:{namespace}:prometheus' may not get /metrics" in why
    assert why.endswith("bind it to the ClusterRole gpustack-metrics-reader\n")


async def test_r20_who_is_bound_reads_until_that_is_taken_back(
    cluster: Cluster, page: Page, namespace: str, scraper: str
) -> None:
    assert 403 == (await page.scrape(scraper))[0]
    bind(cluster, namespace)
    await page.comes_to(200, scraper, within=REFUSED_SECONDS)
    assert "held 1.0" in (await page.scrape(scraper))[1]

    cluster.kubectl("delete", "clusterrolebinding", namespace)
    assert 200 == (await page.scrape(scraper))[0]  # Known for a minute.

    await page.comes_to(403, scraper, within=ADMITTED_SECONDS)


async def test_the_token_of_a_deleted_account_is_worth_nothing(
    cluster: Cluster, page: Page, namespace: str, scraper: str
) -> None:
    bind(cluster, namespace)
    await page.comes_to(200, scraper, within=REFUSED_SECONDS)

    cluster.kubectl("delete", "serviceaccount", SCRAPER, f"--namespace={namespace}")

    await page.comes_to(401, scraper, within=ADMITTED_SECONDS)


async def test_an_administrator_needs_no_binding(cluster: Cluster, page: Page) -> None:
    assert 200 == (await page.scrape(cluster.token()))[0]


async def test_a_server_that_may_not_ask_lets_nobody_in(cluster: Cluster, home: str) -> None:
    unbound = add_account(cluster, home, "unbound")
    async with acting(unbound) as client, protected(client) as page:
        status, why = await page.scrape(cluster.token())

    assert 503 == status
    assert "bind this server's ServiceAccount to the ClusterRole gpustack-metrics-guard" in why


async def test_without_an_api_server_nobody_new_is_let_in(
    cluster: Cluster, account: Path, tmp_path: Path
) -> None:
    away = elsewhere(cluster, account, tmp_path / "kubeconfig")
    async with acting(away) as client, protected(client) as page:
        answer = await page.scrape(cluster.token())

    assert (503, "the bearer token cannot be reviewed: the API server does not answer\n") == answer


def elsewhere(cluster: Cluster, kubeconfig: Path, path: Path) -> Path:
    """*kubeconfig* for an API server where nobody listens, written to *path*."""
    [nowhere] = free_addresses(1)
    path.write_text(kubeconfig.read_text().replace(cluster.server, f"https://{nowhere}"))
    return path


async def test_probes_ask_for_no_token() -> None:
    server = HttpServer(probes_app(liveness={}, readiness={}), bind="127.0.0.1:0")
    await server.start()
    async with (
        aiohttp.ClientSession(f"http://127.0.0.1:{server.port}") as session,
        session.get("/healthz") as alive,
        session.get("/readyz") as ready,
    ):
        assert (200, 200) == (alive.status, ready.status)
    await server.stop()
