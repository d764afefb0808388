"""What the handlers of an informer are told, and when."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.api.errors import UnreachableError
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.runtime.informer import Event
from gpustack_ctrl.runtime.operations import Remove, Replace, Upsert
from tests.helpers.clock import settle
from tests.helpers.informers import scene
from tests.helpers.list_watch import Thing, colors, decode_thing, encode_event, thing

Identity: TypeAlias = tuple[str, int]
"""UID and resource version: two states with the same are the same state."""

states = st.dictionaries(
    st.sampled_from("abcdef"), st.tuples(st.sampled_from("xy"), st.integers(1, 3))
)


def replace(state: Iterable[Thing], version: int = 9) -> Replace[Thing]:
    return Replace(objects=tuple(state), resource_version=str(version))


def things(state: Mapping[str, Identity]) -> list[Thing]:
    return [thing(name, version, uid=uid) for name, (uid, version) in state.items()]


def identity(obj: Thing | None) -> Identity | None:
    return None if obj is None else (obj.metadata.uid, int(obj.metadata.resourceVersion))


@given(old=states, new=states)
async def test_s2_and_s10_a_replace_tells_exactly_the_difference(
    old: Mapping[str, Identity], new: Mapping[str, Identity]
) -> None:
    at = scene()
    await at.informer.replace(replace(things(old)))
    at.events.clear()

    await at.informer.replace(replace(things(new)))

    told = {_key_of(e).name: (identity(e.old), identity(e.new)) for e in at.events}
    pairs = {name: (old.get(name), new.get(name)) for name in {*old, *new}}
    assert {name: pair for name, pair in pairs.items() if pair[0] != pair[1]} == told
    assert len(told) == len(at.events)
    deletions = [event.new is None for event in at.events]
    assert sorted(deletions, reverse=True) == deletions


@given(versions=st.lists(st.integers(1, 9), min_size=1))
def test_r2_and_s10_versions_only_go_up_and_a_repeated_one_is_no_event(versions: list[int]) -> None:
    at = scene()

    for version in versions:
        at.informer.apply(Upsert(object=thing("a", version), resource_version=str(version)))

    told = [int(event.new.metadata.resourceVersion) for event in at.events if event.new]
    assert sorted(set(told)) == told
    assert max(versions) == told[-1]


def test_r2_versions_that_cannot_be_compared_are_all_news() -> None:
    at = scene()

    for version in ("x7", "x3", "x3"):
        at.informer.apply(Upsert(object=thing("a", version), resource_version=version))

    assert ["x7", "x3"] == [e.new.metadata.resourceVersion for e in at.events if e.new]


async def test_s2_an_object_that_vanished_unseen_is_told_deleted_with_its_last_state() -> None:
    at = scene()
    at.server.put("a", color="red")
    async with at.running():
        at.server.black_hole()
        at.server.delete("a")
        at.server.elsewhere()
        at.server.compact()
        await at.clock.advance(600)

    assert [("created", "a"), ("deleted", "a")] == at.told()
    last = at.events[-1].old
    assert last is not None
    assert "red" == last.color


async def test_s2_a_name_that_was_taken_over_unseen_is_one_event_with_both_objects() -> None:
    at = scene()
    at.server.put("a", color="red")
    async with at.running():
        at.server.black_hole()
        at.server.delete("a")
        at.server.put("a", color="blue")
        at.server.elsewhere()
        at.server.compact()
        await at.clock.advance(600)

    assert [("created", "a"), ("recreated", "a")] == at.told()


def test_s2_the_deletion_of_what_was_never_seen_is_no_event() -> None:
    at = scene()

    at.informer.apply(Remove(key=ObjectKey("team", "a"), last=thing("a"), resource_version="9"))

    assert [] == at.events


async def test_a_deletion_tells_the_final_state_of_the_object() -> None:
    at = scene()
    at.server.put("a")
    async with at.running():
        at.server.send(encode_event("DELETED", at.server.put("a", color="last")))
        await settle()

    assert [("created", "a"), ("updated", "a"), ("deleted", "a")] == at.told()
    assert at.events[-1].old == thing("a", 12, color="last", uid="uid-a-11")


async def test_s4_a_handler_reads_from_the_store_what_it_is_told() -> None:
    at = scene()
    read = list[tuple[Thing | None, Thing | None]]()
    at.informer.add_handler(
        lambda event: read.append((event.new, at.informer.store.get(_key_of(event))))
    )
    for name in "ab":
        at.server.put(name)
    async with at.running():
        at.server.put("a", color="red")
        at.server.delete("b")
        await settle()

    assert 4 == len(read)
    assert all(new == held for new, held in read)


def _key_of(event: Event[Thing]) -> ObjectKey:
    obj = event.new or event.old
    assert obj is not None
    return obj.metadata.key


async def test_s5_it_is_synced_once_every_handler_got_the_whole_first_list() -> None:
    at = scene()
    synced = list[bool]()
    at.informer.add_handler(lambda _: synced.append(at.informer.synced))
    at.server.refuse = [UnreachableError("refused")]
    for number in range(600):
        at.server.put(f"thing-{number}")

    async with at.running():
        assert not at.informer.synced
        assert at.informer.silence is None
        await at.clock.advance(5)
        await at.informer.wait_synced()
        at.server.put("late")
        await settle()

    assert [False] * 600 + [True] == synced
    assert [True] * 600 + [False] == [event.initial for event in at.events]


async def test_s5_it_stays_synced_when_a_later_list_fails() -> None:
    at = scene()
    async with at.running():
        at.server.unreachable = UnreachableError("refused")
        at.server.send(UnreachableError("reset"))
        await at.clock.advance(100)

        assert at.informer.synced
        assert "refused" == at.informer.trouble
        assert at.informer.silence == 100


async def test_s7_a_raising_handler_is_counted_and_stops_nothing() -> None:
    at = scene()

    def fails(event: Event[Thing]) -> None:
        raise ValueError(f"no idea what to do with {event}")

    after = list[Event[Thing]]()
    at.informer.add_handler(fails)
    at.informer.add_handler(after.append)
    at.server.put("a")
    async with at.running():
        at.server.put("b")
        await settle()

        assert at.informer.synced
        assert 2 == len(at.informer.store)
    assert 2 == at.metrics.faults
    assert at.events == after


async def test_s7_a_raising_indexer_is_counted_and_stops_nothing() -> None:
    at = scene()

    def fails(obj: Thing) -> Iterable[str]:
        raise ValueError(f"no idea how to index {obj}")

    informer = attrs.evolve(at.informer, indexers={"bad": fails})
    await informer.replace(replace([thing("a")]))

    assert ("a",) == tuple(colors(informer.store.list()))
    assert 1 == at.metrics.faults


async def test_a_handler_that_comes_too_late_is_refused() -> None:
    at = scene()
    async with at.running():
        with pytest.raises(RuntimeError, match=r"things\.example\.com runs: add handlers before"):
            at.informer.add_handler(at.events.append)


def test_an_informer_decodes_only_what_its_type_declares() -> None:
    body = (
        b'{"metadata":{"name":"a","managedFields":[{"manager":"kubectl"}]},"status":{"phase":"x"}}'
    )

    assert {"metadata", "color"} == set(attrs.asdict(decode_thing(body), recurse=False))
