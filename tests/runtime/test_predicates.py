"""Predicates: what they drop, and what none of them ever drops."""

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.runtime.informer import Event
from gpustack_ctrl.runtime.predicates import (
    Predicate,
    all_of,
    annotations_changed,
    any_of,
    changed,
    generation_changed,
    labels_changed,
    negate,
    resource_version_changed,
)
from tests.helpers.list_watch import Thing, thing


def never(_: Event[Thing]) -> bool:
    return False


def always(_: Event[Thing]) -> bool:
    return True


def color(obj: Thing) -> str:
    return obj.color


leaves: st.SearchStrategy[Predicate[Thing]] = st.sampled_from(
    [
        generation_changed,
        resource_version_changed,
        labels_changed,
        annotations_changed,
        changed(color),
        changed(lambda _: 0),
    ]
)


def combined(inner: st.SearchStrategy[Predicate[Thing]]) -> st.SearchStrategy[Predicate[Thing]]:
    several = st.lists(inner, max_size=3)
    return st.one_of(
        several.map(lambda predicates: all_of(*predicates)),
        several.map(lambda predicates: any_of(*predicates)),
        inner.map(negate),
    )


predicates: st.SearchStrategy[Predicate[Thing]] = st.recursive(leaves, combined, max_leaves=5)
states = st.builds(
    thing,
    st.just("a"),
    st.integers(1, 2),
    uid=st.sampled_from("xy"),
    generation=st.integers(1, 2),
    color=st.sampled_from(["red", "blue"]),
    deletionTimestamp=st.sampled_from([None, "2026-01-01T00:00:00Z"]),
)


@given(predicate=predicates, state=states, initial=st.booleans())
def test_c8_no_predicate_drops_a_creation_or_a_deletion(
    predicate: Predicate[Thing], state: Thing, *, initial: bool
) -> None:
    assert predicate(Event(old=None, new=state, initial=initial))
    assert predicate(Event(old=state, new=None))


@given(predicate=predicates, old=states, new=states)
def test_c8_no_predicate_drops_the_beginning_of_a_deletion_or_another_object(
    predicate: Predicate[Thing], old: Thing, new: Thing
) -> None:
    begins = new.metadata.deleting and not old.metadata.deleting
    other = old.metadata.uid != new.metadata.uid

    assert not (begins or other) or predicate(Event(old=old, new=new))


BEFORE = thing("a", 1, generation=1, labels={"l": "1"}, annotations={"a": "1"}, color="red")


def updated(**fields: Any) -> Event[Thing]:
    color = fields.pop("color", BEFORE.color)
    meta = attrs.evolve(BEFORE.metadata, **fields)
    return Event(old=BEFORE, new=Thing(metadata=meta, color=color))


@pytest.mark.parametrize(
    ("predicate", "noticed", "ignored"),
    [
        (generation_changed, {"generation": 2}, {"resourceVersion": "2", "labels": {}}),
        (resource_version_changed, {"resourceVersion": "2"}, {}),
        (labels_changed, {"labels": {"l": "2"}}, {"generation": 2, "annotations": {}}),
        (annotations_changed, {"annotations": {}}, {"generation": 2, "labels": {}}),
        (changed(color), {"color": "blue"}, {"generation": 2, "labels": {}}),
    ],
)
def test_a_predicate_notices_its_own_field_and_no_other(
    predicate: Predicate[Thing], noticed: dict[str, object], ignored: dict[str, object]
) -> None:
    assert predicate(updated(**noticed))
    assert not predicate(updated(**ignored))
    assert not negate(predicate)(updated(**noticed))
    assert negate(predicate)(updated(**ignored))


def test_all_and_any_combine_as_their_names_say() -> None:
    update = updated(color="blue")

    assert all_of(always, always)(update)
    assert not all_of(always, never)(update)
    assert any_of(never, always)(update)
    assert not any_of(never, never)(update)
