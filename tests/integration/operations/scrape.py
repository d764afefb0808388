"""One operator for all tests of metrics in a file, and what its page says of an Instance."""

import asyncio
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.samples import Sample

from e2e.cluster import Cluster
from tests.cli.command import Process, families, operating
from tests.integration.world import Wire, until

IDENTITY = frozenset({"namespace", "instance_name", "instance_uid"})
Told = tuple[dict[str, str], float]


@pytest.fixture(scope="module")
def operator(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """The operator by its own command, leading."""
    home = f"operator-{secrets.token_hex(4)}"
    cluster.add_namespace(home)
    log: Path = tmp_path_factory.mktemp("operator") / "log"
    flags = (f"--namespace={home}", "--install-crds", "--leader-elect")
    with operating(cluster.kubeconfig, log, *flags) as running:
        yield running
    cluster.api().delete(f"/api/v1/namespaces/{home}")


def about(page: str, instance: Wire) -> dict[str, list[Told]]:
    """Each series of *instance*: the labels that do not name it, and its value."""
    metadata = instance["metadata"]
    who = {
        "namespace": metadata["namespace"],
        "instance_name": metadata["name"],
        "instance_uid": metadata["uid"],
    }
    told: dict[str, list[Told]] = {}
    for sample in samples(page):
        if who.items() <= sample.labels.items():
            told.setdefault(sample.name, []).append((_rest(sample), sample.value))
    return told


def samples(page: str) -> list[Sample]:
    """All samples of *page*."""
    return [sample for family in families(page) for sample in family.samples]


def _rest(sample: Sample) -> dict[str, str]:
    return {name: held for name, held in sample.labels.items() if name not in IDENTITY}


async def shows(operator: Process, instance: Wire, phase: str) -> dict[str, list[Told]]:
    """What the page says of *instance*, once it says that it is in *phase*."""

    async def read() -> dict[str, list[Told]] | None:
        told = about(await asyncio.to_thread(operator.page), instance)
        return told if [({"phase": phase}, 1.0)] == told.get("gpustack_instance_phase") else None

    return await until(read)
