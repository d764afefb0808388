"""A reflector and lists that come in pages, or hold what it cannot read."""

import asyncio

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.api.errors import ApiError, GoneError, UnreachableError
from gpustack_ctrl.runtime.operations import Change, Replace
from gpustack_ctrl.runtime.reflector import Reflector
from tests.helpers.clock import settle
from tests.helpers.informers import Scene, scene
from tests.helpers.list_watch import (
    THINGS,
    Thing,
    colors,
    decode_thing,
    encode_event,
    too_large,
)

GONE = GoneError("too old", code=410, reason="Expired")


@attrs.define
class Recorder:
    """A sink that keeps the lists."""

    replaced: list[Replace[Thing]] = attrs.field(factory=list)

    async def replace(self, operation: Replace[Thing]) -> None:
        self.replaced.append(operation)

    def apply(self, operation: Change[Thing]) -> None:
        pass


def reflector_into(recorder: Recorder, at: Scene) -> Reflector[Thing]:
    return Reflector(
        resource=THINGS,
        list_watch=at.server,
        decode=decode_thing,
        sink=recorder,
        clock=at.clock,
        random=lambda: 0.5,
    )


@given(
    size=st.integers(1, 7),
    faults=st.lists(st.sampled_from([None, GONE, UnreachableError("reset")]), max_size=6),
    busy=st.booleans(),
)
async def test_r10_pages_give_the_list_of_some_single_version(
    size: int, faults: list[ApiError | None], *, busy: bool
) -> None:
    at = scene()
    for number in range(6):
        at.server.put(f"thing-{number}", color="red")
    at.server.page_size = size
    at.server.refuse = [too_large(), *faults]
    if busy:
        at.server.before = lambda _: _stir(at)
    recorder = Recorder()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(reflector_into(recorder, at).run())
        await at.clock.advance(600)
        task.cancel()

    assert recorder.replaced
    for operation in recorder.replaced:
        state = at.server.state_at(int(operation.resource_version))
        assert state == {obj.metadata.key: obj for obj in operation.objects}
        assert len(state) == len(operation.objects)


def _stir(at: Scene) -> None:
    """Change something between any two requests."""
    at.server.delete(min(key.name for key in at.server.objects))
    at.server.put(f"extra-{at.server.revision}")


def _unreadable(name: str, version: int) -> dict[str, object]:
    meta = {"name": name, "namespace": "team", "resourceVersion": str(version)}
    return {"metadata": meta, "color": {"not": "a string"}}


@pytest.mark.parametrize("kind", ["ADDED", "MODIFIED"])
async def test_r11_an_unreadable_event_is_counted_and_stops_nothing(kind: str) -> None:
    at = scene()
    at.server.put("a", color="red")
    async with at.running():
        at.server.send(encode_event(kind, _unreadable("a", 12)))
        await settle()
        assert 12 == at.informer.store.revision

        at.server.revision = 12
        at.server.put("b", color="blue")
        await settle()

        assert {"a": "red", "b": "blue"} == colors(at.informer.store.list())
        assert (1, 1, 1) == (
            at.metrics.undecodables,
            at.metrics.lists,
            at.metrics.watches,
        )
        at.server.send(None)
        await at.clock.advance(5)
    assert "13" == at.server.watches[-1].resource_version


async def test_r11_the_deletion_of_an_unreadable_object_is_seen() -> None:
    at = scene()
    at.server.put("a", color="red")
    async with at.running():
        at.server.send(encode_event("DELETED", _unreadable("a", 12)))
        await settle()

        assert 0 == len(at.informer.store)
    assert [("created", "a"), ("deleted", "a")] == at.told()


async def test_r11_an_unreadable_item_of_a_list_keeps_what_was_known() -> None:
    at = scene()
    at.server.put("a", color="red")
    at.server.put("b", color="red")
    async with at.running():
        item = at.server.put("a", color="green")
        await settle()
        at.server.objects[item.metadata.key] = _broken(item)
        at.server.delete("b")
        at.server.elsewhere()
        at.server.compact()
        at.server.send(GONE)
        await at.clock.advance(5)

        assert {"a": "green"} == colors(at.informer.store.list())
        assert 1 == at.metrics.undecodables


def _broken(obj: Thing) -> Thing:
    return Thing(metadata=obj.metadata, color=7)  # type: ignore[arg-type] # It is unreadable on purpose.


async def test_a_list_that_is_not_json_is_asked_for_again() -> None:
    at = scene()
    at.server.canned = [b"<html>", b'{"items":[]}']
    async with at.running():
        assert "the list is not readable" in at.informer.trouble

        await at.clock.advance(10)
        assert at.informer.synced
    assert 3 == len(at.server.lists)
