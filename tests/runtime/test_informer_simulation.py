"""An informer through any mixture of edits and faults, in virtual time."""

import asyncio
from collections.abc import Callable
from random import Random

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from gpustack_ctrl.api.errors import (
    ApiError,
    ForbiddenError,
    GoneError,
    ServerError,
    ThrottledError,
    UnreachableError,
)
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.runtime.informer import Event
from tests.helpers.informers import Scene, scene
from tests.helpers.list_watch import Thing, encode_event, status, too_large

QUIET_SECONDS = 600 + 10 + 60 + 60
"""After the last fault: the longest watch, its grace, and a back-off before watch and list."""


@attrs.define
class Trial:
    """One run: what is done to the server, and what the handler saw go wrong."""

    at: Scene
    random: Random
    wrong: list[str] = attrs.field(factory=list)
    history: dict[ObjectKey, list[int]] = attrs.field(factory=dict)

    def hear(self, event: Event[Thing]) -> None:
        """Check an event as it comes: S3, S4 and S5."""
        obj = event.new or event.old
        assert obj is not None
        held = self.at.informer.store.get(obj.metadata.key)
        if event.new is not held:
            self.wrong.append(f"S4: told {event.new}, the store has {held}")
        if event.initial and self.at.informer.synced:
            self.wrong.append("S5: an initial event after the sync")
        if event.new is not None:
            versions = self.history.setdefault(obj.metadata.key, [])
            versions.append(int(obj.metadata.resourceVersion))

    async def step(self) -> None:
        self.random.choice(STEPS)(self)
        if self.random.random() < 0.7:
            await self.at.clock.advance(self.random.choice([0, 0, 0.3, 5, 40, 200, 700]))

    def error(self) -> ApiError:
        return self.random.choice(
            [
                GoneError("too old", code=410, reason="Expired"),
                too_large(),
                ThrottledError("later", code=429, retry_after=3),
                UnreachableError("reset"),
                ServerError("oops", code=500),
                ForbiddenError("no", code=403),
            ]
        )


def edit(trial: Trial) -> None:
    trial.at.server.put(trial.random.choice("abcd"), color=trial.random.choice(["red", "blue"]))


def remove(trial: Trial) -> None:
    if trial.at.server.objects:
        trial.at.server.delete(trial.random.choice([k.name for k in trial.at.server.objects]))


def compact(trial: Trial) -> None:
    trial.at.server.elsewhere(trial.random.randrange(3))
    trial.at.server.compact()


def bookmark(trial: Trial) -> None:
    trial.at.server.bookmark()


def end(trial: Trial) -> None:
    trial.at.server.send(trial.random.choice([None, trial.error()]))


def garble(trial: Trial) -> None:
    expired = encode_event("ERROR", status(410, "Expired"))
    trial.at.server.send(trial.random.choice([b"{\n", b"half a line", b"\n\n", expired]))


def black_hole(trial: Trial) -> None:
    trial.at.server.black_hole()


def obstruct(trial: Trial) -> None:
    errors = [trial.error() for _ in range(trial.random.randrange(4))]
    trial.random.choice([trial.at.server.obstruct, trial.at.server.refuse]).extend(errors)


def partition(trial: Trial) -> None:
    trial.at.server.black_hole()
    trial.at.server.unreachable = trial.random.choice([None, UnreachableError("no route")])


def stall(trial: Trial) -> None:
    trial.at.clock.stall(trial.random.choice([1, 100, 1000]))


STEPS: tuple[Callable[[Trial], None], ...] = (
    *(edit, edit, edit, remove, remove),
    *(compact, bookmark, end, garble, black_hole, obstruct, partition, stall),
)


@given(random=st.randoms(use_true_random=False), size=st.sampled_from([None, 1, 2]))
@settings(deadline=None)
async def test_r1_the_store_equals_the_server_once_the_faults_stop(
    random: Random, size: int | None
) -> None:
    at = scene(random=random.random)
    at.server.page_size = size
    trial = Trial(at, random)
    at.informer.add_handler(trial.hear)
    async with at.running():
        for _ in range(25):
            await trial.step()
        at.server.unreachable = None
        at.server.refuse.clear()
        at.server.obstruct.clear()
        await at.clock.advance(QUIET_SECONDS)

        held = {obj.metadata.key: obj for obj in at.informer.store.list()}
        assert at.server.objects == held  # R1
    assert [] == trial.wrong
    for versions in trial.history.values():
        assert sorted(set(versions)) == versions  # R2, S3: in the order of the server's history.
    _told_leads_to_the_store(at)
    assert [] == at.server.connections  # R14
    assert 0 == at.clock.pending
    assert {asyncio.current_task()} == asyncio.all_tasks()


def _told_leads_to_the_store(at: Scene) -> None:
    """S2, S3: each event starts where the last of its key ended; the last ends in the store."""
    known = dict[ObjectKey, Thing | None]()
    for event in at.events:
        obj = event.new or event.old
        assert obj is not None
        key = obj.metadata.key
        before = known.get(key)
        assert (event.old is None) == (before is None)
        if event.old is not None and before is not None and event.new is not None:
            assert before == event.old
        known[key] = event.new
    held = {obj.metadata.key: obj for obj in at.informer.store.list()}
    assert held == {key: obj for key, obj in known.items() if obj is not None}
