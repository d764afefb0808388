"""The recorder over the real API server: what it takes of Events, and what it refuses."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import attrs
import pytest_asyncio

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from gpustack_ctrl.client.rest import Rest
from gpustack_ctrl.runtime.event_series import ObjectReference, Occurrence
from gpustack_ctrl.runtime.recorder import Fate, Recorder
from tests.integration.conftest import Log
from tests.integration.world import CLOCK, Wire, World, client_of, until


@attrs.frozen
class Fates:
    """A `RecorderMetrics` that remembers."""

    seen: list[Fate] = attrs.field(factory=list)

    def came_to(self, fate: Fate) -> None:
        self.seen.append(fate)


@attrs.frozen
class Recording:
    """A recorder that runs, what became of its work, and the object it tells of."""

    recorder: Recorder
    fates: Sequence[Fate]
    regarding: ObjectReference

    def happens(self, reason: str, note: str = "it happened") -> None:
        self.recorder.record(
            Occurrence(
                regarding=self.regarding,
                type="Warning",
                reason=reason,
                action="Test",
                note=note,
            )
        )

    async def came_to(self, *fates: Fate) -> None:
        async def read() -> bool:
            return len(self.fates) >= len(fates)

        await until(read)

        assert list(fates) == list(self.fates)


@asynccontextmanager
async def recording(rest: Rest, namespace: str) -> AsyncIterator[Recording]:
    """A recorder over *rest* runs within the block; at its end it writes what is left."""
    fates = Fates()
    recorder = Recorder(
        writer=rest, clock=CLOCK, controller="gpustack-ctrl", instance="test", metrics=fates
    )
    regarding = ObjectReference(
        api_version=names.INSTANCE.api_version,
        kind=names.INSTANCE.kind,
        namespace=namespace,
        name="box",
        uid="some-uid",
    )
    task = asyncio.create_task(recorder.run())
    try:
        yield Recording(recorder, fates.seen, regarding)
    finally:
        task.cancel()
        await asyncio.wait({task})


@pytest_asyncio.fixture
async def held(world: World) -> AsyncIterator[Recording]:
    """A recorder with all rights."""
    async with recording(world.rest, world.namespace) as made:
        yield made


async def events(world: World) -> list[Wire]:
    """The Events about the object that a `Recording` tells of."""
    found = await world.list(names.EVENT)
    return [event for event in found if event["regarding"].get("uid") == "some-uid"]


async def test_w7_repetitions_are_a_count_that_is_written_at_the_end(world: World) -> None:
    async with recording(world.rest, world.namespace) as held:
        held.happens("Repeated")
        await held.came_to(Fate.CREATED)
        for _ in range(100):
            held.happens("Repeated")
    [event] = await events(world)

    assert 101 == event["series"]["count"]
    assert [Fate.CREATED, *[Fate.COUNTED] * 99, Fate.UPDATED] == list(held.fates)


async def test_whatever_a_note_holds_the_api_server_takes_it(world: World, held: Recording) -> None:
    held.happens("Odd", "\x1b[31mred\x00\n\u202e" + "ü" * 5000)
    held.happens("OutOf" + "nvidia.com/gpu" * 20)
    await held.came_to(Fate.CREATED, Fate.CREATED)
    notes = {event["note"][:7] for event in await events(world)}

    assert {"[31mred", "it happ"} == notes


async def test_of_a_cluster_scoped_object_events_live_in_default(
    world: World, held: Recording
) -> None:
    type_of = attrs.evolve(held.regarding, namespace="", kind="InstanceType", uid=world.namespace)
    occurrence = Occurrence(regarding=type_of, type="Normal", reason="Seen", action="Test")
    held.recorder.record(occurrence)
    await held.came_to(Fate.CREATED)
    there = await World(world.rest, "default").list(names.EVENT)

    assert world.namespace in {event["regarding"].get("uid") for event in there}


async def test_an_event_that_expired_meanwhile_is_made_anew_with_its_count(
    world: World, held: Recording
) -> None:
    held.happens("Repeated")
    await held.came_to(Fate.CREATED)
    [first] = await events(world)
    await world.delete(names.EVENT, first["metadata"]["name"])
    held.happens("Repeated")
    await held.came_to(Fate.CREATED, Fate.CREATED)
    [second] = await events(world)

    assert 2 == second["series"]["count"]
    assert first["metadata"]["name"] != second["metadata"]["name"]


async def test_without_a_namespace_they_are_dropped_without_noise(
    world: World, logs: list[Log]
) -> None:
    async with recording(world.rest, f"{world.namespace}-missing") as held:
        held.happens("Lost")
        await held.came_to(Fate.REFUSED)

    assert {"debug"} == {line["log_level"] for line in logs}


async def test_in_a_namespace_that_goes_away_they_are_dropped(
    cluster: Cluster, world: World, held: Recording
) -> None:
    finalized = {"metadata": {"name": "holds", "finalizers": ["example.com/test"]}}
    await world.create(names.CONFIG_MAP, finalized)
    cluster.api().delete(f"/api/v1/namespaces/{world.namespace}")
    held.happens("Lost")
    await held.came_to(Fate.REFUSED)
    await world.patch(names.CONFIG_MAP, "holds", {"metadata": {"finalizers": None}})


async def test_without_the_right_they_are_dropped(
    cluster: Cluster, world: World, namespace: str
) -> None:
    async with (
        client_of(str(cluster.kubeconfig_for("tenant-b"))) as client,
        recording(client.rest, namespace) as held,
    ):
        held.happens("Lost")
        await held.came_to(Fate.REFUSED)
