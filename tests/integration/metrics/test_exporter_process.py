"""The exporter as it is installed: its roles are enough, its page is for those who may read it."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from gpustack_ctrl.gen import rbac
from gpustack_ctrl.gen.permissions import EXPORTER, EXPORTER_AT_HOME, METRICS_GUARD
from tests.cli.command import CHECKOUT, families
from tests.integration.metrics.accounts import add_account, grant, revoke, token
from tests.integration.metrics.process import Server, installed
from tests.integration.operations.prometheus import PROMETHEUS, Prometheus, scraping
from tests.integration.operations.verbs import Use, allowed, used
from tests.integration.proxy import Proxy
from tests.integration.world import World, until

HOW_TO = CHECKOUT / "docs" / "how-to" / "protect-metrics.md"
ASKED_BY_KUBELETS = {Use("get", "", "nodes/metrics"), Use("get", "", "nodes/stats")}
"""Never asked of the API server by the exporter: kubelets ask it about the exporter."""


@pytest.fixture
def granted(cluster: Cluster, operator_namespace: str) -> Iterator[Path]:
    """The kubeconfig of the exporter's account, with all its roles."""
    home = operator_namespace
    documents = (*rbac.exporter(home), *rbac.metrics_guard(home), *rbac.metrics_reader())
    grant(cluster, home, documents)
    yield add_account(cluster, home, names.EXPORTER)
    revoke(cluster, home, documents)


@pytest_asyncio.fixture
async def exporter(
    world: World, proxy: Proxy, granted: Path, operator_namespace: str, tmp_path: Path
) -> AsyncIterator[Server]:
    """The exporter, on a way to the API server that is watched."""
    kubeconfig = by_way_of(proxy, granted, tmp_path / "kubeconfig")
    with installed("exporter.yaml", kubeconfig, operator_namespace, tmp_path / "log") as held:

        async def is_ready() -> bool:
            return await asyncio.to_thread(held.is_ready)

        await until(is_ready)
        yield held


def by_way_of(proxy: Proxy, direct: Path, path: Path) -> Path:
    """The kubeconfig *direct*, but through *proxy*, written to *path*."""
    held = json.loads(direct.read_text())
    held["clusters"] = yaml.safe_load(proxy.kubeconfig.read_text())["clusters"]
    path.touch(mode=0o600)
    path.write_text(json.dumps(held))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where Prometheus keeps what is its own."""
    made = tmp_path / "prometheus"
    made.mkdir()
    return made


@pytest.fixture
def scraper(cluster: Cluster, namespace: str) -> Iterator[str]:
    """The token of a Prometheus that is bound as the how-to says."""
    add_account(cluster, namespace, "prometheus")
    cluster.kubectl(
        "create", "clusterrolebinding", namespace,
        "--clusterrole=gpustack-metrics-reader", f"--serviceaccount={namespace}:prometheus",
    )  # fmt: skip
    yield token(cluster, namespace, "prometheus")
    cluster.kubectl("delete", "clusterrolebinding", namespace)


async def scraped(server: Server, bearer: str, *, showing: str) -> str:
    """The page, once it shows that."""

    async def read() -> str | None:
        if not await asyncio.to_thread(server.is_ready):
            return None
        status, page = await asyncio.to_thread(server.scrape, bearer)
        return page if (200, True) == (status, showing in page) else None

    return await until(read)


async def test_the_roles_are_enough_and_not_more_than_that(
    world: World, proxy: Proxy, exporter: Server, scraper: str
) -> None:
    instance = await world.instance(stop=True)
    page = await scraped(exporter, scraper, showing=instance["metadata"]["uid"])
    codes = {
        sample.labels["code"]
        for family in families(page)
        for sample in family.samples
        if sample.name == "rest_client_requests_total"
    }
    needed = allowed((*EXPORTER, *EXPORTER_AT_HOME, *METRICS_GUARD)) - ASKED_BY_KUBELETS

    assert codes == {"200", "201"}
    assert needed == used(proxy.calls)


async def test_r20_nobody_reads_the_page_of_an_installed_exporter_without_a_right(
    cluster: Cluster, exporter: Server, namespace: str
) -> None:
    add_account(cluster, namespace, "tenant")
    unbound = token(cluster, namespace, "tenant")
    answers = [
        (await asyncio.to_thread(exporter.scrape, bearer))[0] for bearer in ("", "garbage", unbound)
    ]

    assert [401, 401, 403] == answers
    assert unbound not in exporter.log.read_text()
    assert exporter.is_ready()


async def test_r20_the_operators_own_page_is_protected_alike(
    cluster: Cluster, world: World, operator_namespace: str, scraper: str, tmp_path: Path
) -> None:
    documents = (*rbac.operator(operator_namespace), *rbac.metrics_guard(operator_namespace))
    grant(cluster, operator_namespace, documents)
    account = add_account(cluster, operator_namespace, names.PRODUCT)
    log = tmp_path / "log"
    with installed("deployment.yaml", account, operator_namespace, log) as operator:
        await scraped(operator, scraper, showing="workqueue_depth")
        status, _ = await asyncio.to_thread(operator.scrape)
    revoke(cluster, operator_namespace, documents)

    assert 401 == status


@pytest.mark.skipif(PROMETHEUS is None, reason="needs prometheus: see e2e/packages.txt")
async def test_prometheus_scrapes_with_the_configuration_of_the_how_to(
    world: World, exporter: Server, scraper: str, folder: Path
) -> None:
    """But for the addresses, which here are found by no API server."""
    instance = await world.instance(stop=True)
    uid = instance["metadata"]["uid"]
    await scraped(exporter, scraper, showing=uid)
    with scraping(exporter.address, folder, **job(scraper, folder / "token")) as prometheus:
        query = f'gpustack_instance_info{{instance_uid="{uid}"}}'
        [(labels, _)] = await answered(prometheus, query)

    assert world.namespace == labels["namespace"]
    assert "exported_namespace" not in labels


async def answered(prometheus: Prometheus, query: str) -> list[tuple[dict[str, str], float]]:
    """The series that *query* gives, once there are any."""

    async def read() -> list[tuple[dict[str, str], float]]:
        return await asyncio.to_thread(prometheus.query, query)

    return await until(read)


def job(bearer: str, keep: Path) -> dict[str, Any]:
    """How the how-to says to scrape, with a token in the file *keep*; not how it finds targets."""
    keep.write_text(bearer)
    [block] = re.findall(r"```yaml\n(scrape_configs:.*?)```", HOW_TO.read_text(), re.DOTALL)
    [told] = yaml.safe_load(block)["scrape_configs"]
    finds = {"job_name", "kubernetes_sd_configs", "relabel_configs"}
    how = {name: held for name, held in told.items() if name not in finds}
    return {**how, "authorization": {"credentials_file": str(keep)}}
