"""Two replicas: one works, the other stands by and takes over."""

import asyncio
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from gpustack_ctrl.runtime.manager import Ending
from tests.cli.command import Process, operating
from tests.integration.world import Wire, World, until

PATIENCE = 60.0


@pytest.fixture
def replicas(
    cluster: Cluster, world: World, operator_namespace: str, tmp_path: Path
) -> Iterator[tuple[Process, Process]]:
    """Two operators; the first one leads, the second one is ready to."""
    flags = (f"--namespace={operator_namespace}", "--leader-elect")
    with (
        operating(cluster.kubeconfig, tmp_path / "first.log", *flags) as first,
        operating(cluster.kubeconfig, tmp_path / "second.log", *flags) as second,
    ):
        yield first, second


async def leads(process: Process) -> None:
    """Return once *process* leads."""

    async def read() -> bool:
        [sample] = await asyncio.to_thread(process.samples, "leader_election_master_status")
        return bool(sample.value == 1)

    await until(read, seconds=PATIENCE)


async def lease(world: World, namespace: str) -> Wire:
    """The lease of the replicas in *namespace*."""
    held = await World(world.rest, namespace).get(names.LEASE, names.PRODUCT)
    spec: Wire = held["spec"]
    return spec


def moment(text: str) -> datetime:
    """A time of the API server's."""
    return datetime.fromisoformat(text)


def methods(process: Process) -> set[str]:
    """How *process* asked anything of the API server."""
    return {sample.labels["method"] for sample in process.samples("rest_client_requests_total")}


async def test_only_the_leader_writes(
    world: World, replicas: tuple[Process, Process], operator_namespace: str
) -> None:
    first, second = replicas
    await leads(first)
    await world.instance(ports=[{"port": 8080}])
    await world.is_in_phase("Ready")
    await world.edit(stop=True)
    await world.is_in_phase("Stopped")

    assert {"GET"} == methods(second)
    assert {"GET", "POST", "PATCH", "DELETE"} <= methods(first)
    assert [] == second.logged("reconciled")
    assert [0.0] == [held.value for held in second.samples("leader_election_master_status")]


async def test_a_leader_that_is_told_to_end_hands_over_at_once(
    world: World, replicas: tuple[Process, Process], operator_namespace: str
) -> None:
    """The lease is given back, so nobody waits until it expires."""
    first, second = replicas
    await leads(first)
    before = await lease(world, operator_namespace)

    assert Ending.STOPPED == first.end()

    await leads(second)
    after = await lease(world, operator_namespace)
    expiry = moment(before["renewTime"]) + timedelta(seconds=before["leaseDurationSeconds"])

    assert before["holderIdentity"] != after["holderIdentity"]
    assert moment(after["acquireTime"]) < expiry
    await world.instance()
    await world.is_in_phase("Ready")


async def test_a_leader_that_is_killed_is_followed_when_its_lease_is_over(
    world: World, replicas: tuple[Process, Process], operator_namespace: str
) -> None:
    first, second = replicas
    await leads(first)
    first.process.kill()
    first.process.wait()
    before = await lease(world, operator_namespace)
    await world.instance()
    await leads(second)
    after = await lease(world, operator_namespace)
    expiry = moment(before["renewTime"]) + timedelta(seconds=before["leaseDurationSeconds"])

    assert moment(after["acquireTime"]) >= expiry
    assert before["leaseTransitions"] + 1 == after["leaseTransitions"]
    await world.is_in_phase("Ready")


async def test_a_leader_whose_lease_is_taken_ends_at_once(
    world: World, replicas: tuple[Process, Process], operator_namespace: str
) -> None:
    first, second = replicas
    await leads(first)
    held = await lease(world, operator_namespace)
    home = World(world.rest, operator_namespace)
    taken = {**held, "holderIdentity": "somebody else"}
    await home.patch(names.LEASE, names.PRODUCT, {"spec": taken})

    assert Ending.LEADERSHIP_LOST == await asyncio.to_thread(first.process.wait, PATIENCE)
    assert "somebody else holds it" in first.logged("ended")[0]["error"]
    assert None is second.process.poll()
