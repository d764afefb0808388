"""The store against a model: a dict, and indexes computed afresh."""

from collections.abc import Iterable, Mapping

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.runtime.store import NAMESPACE, OWNER, Indexer, Store
from tests.helpers.list_watch import Thing, owned_by, thing


def by_letter(obj: Thing) -> Iterable[str]:
    """Several values for one object, some of them twice."""
    return obj.color


INDEXERS: Mapping[str, Indexer[Thing]] = {"letter": by_letter}
ALL_INDEXES: Mapping[str, Indexer[Thing]] = {
    NAMESPACE: lambda obj: [obj.metadata.namespace],
    OWNER: lambda obj: [owner.uid for owner in obj.metadata.ownerReferences],
    "letter": by_letter,
}

things = st.builds(
    thing,
    st.sampled_from("abcd"),
    st.integers(1, 99),
    namespace=st.sampled_from(["east", "west"]),
    color=st.text("rgb", max_size=3),
    ownerReferences=st.lists(st.sampled_from("xyz").map(owned_by), max_size=2).map(tuple),
)
writes = st.one_of(things, things.map(lambda obj: obj.metadata.key), st.lists(things, max_size=6))


def write(store: Store[Thing], model: dict[ObjectKey, Thing], what: object) -> None:
    """Do the same to *store* and *model*."""
    match what:
        case Thing() as obj:
            store.upsert(obj.metadata.key, obj)
            model[obj.metadata.key] = obj
        case ObjectKey() as key:
            assert model.pop(key, None) == store.remove(key, resource_version="100")
        case list() as objects:
            store.replace(objects, resource_version="100")
            model.clear()
            model.update({obj.metadata.key: obj for obj in objects})


def recomputed(index: str, objects: Iterable[Thing]) -> dict[str, set[ObjectKey]]:
    """What *index* holds for *objects*, by its definition."""
    buckets = dict[str, set[ObjectKey]]()
    for obj in objects:
        for value in ALL_INDEXES[index](obj):
            buckets.setdefault(value, set()).add(obj.metadata.key)
    return buckets


@given(script=st.lists(writes, max_size=20))
def test_s6_every_index_equals_its_recomputation_after_any_writes(script: list[object]) -> None:
    store, model = Store(INDEXERS), dict[ObjectKey, Thing]()
    for what in script:
        write(store, model, what)

        assert model == {obj.metadata.key: obj for obj in store.list()}
        assert len(model) == len(store)
        for index in ALL_INDEXES:
            want = recomputed(index, model.values())
            have = {
                value: {obj.metadata.key for obj in store.by_index(index, value)}
                for value in store.index_values(index)
            }
            assert want == have
            assert all(model[o.metadata.key] is o for v in have for o in store.by_index(index, v))


def test_s1_a_replace_is_seen_whole_or_not_at_all() -> None:
    store = Store[Thing]()
    store.replace([thing("a", 1), thing("b", 2)], resource_version="2")
    seen = list[tuple[int, int, int | None]]()

    def stream() -> Iterable[Thing]:
        for obj in (thing("c", 3), thing("d", 4), thing("e", 5)):
            seen.append((len(store.list()), len(store.by_index(NAMESPACE, "team")), store.revision))
            yield obj

    store.replace(stream(), resource_version="5")

    assert [(2, 2, 2)] * 3 == seen
    assert 3 == len(store) == len(store.by_index(NAMESPACE, "team"))


def test_s7_a_raising_indexer_leaves_out_its_object_and_is_reported() -> None:
    faults = list[tuple[str, str]]()

    def picky(obj: Thing) -> Iterable[str]:
        if not obj.color:
            raise ValueError(f"{obj.metadata.name} has no color")
        return [obj.color]

    store = Store({"color": picky}, fault=lambda where, why: faults.append((where, str(why))))
    store.upsert(ObjectKey("team", "a"), thing("a"))
    store.upsert(ObjectKey("team", "b"), thing("b", color="red"))

    assert ("b",) == tuple(obj.metadata.name for obj in store.by_index("color", "red"))
    assert 2 == len(store.by_index(NAMESPACE, "team"))
    assert [("index color", "a has no color")] == faults


def test_s8_what_the_store_returns_refuses_to_be_changed() -> None:
    store = Store[Thing]()
    store.upsert(ObjectKey("team", "a"), thing("a", color="red"))
    held = store.get(ObjectKey("team", "a"))
    assert held is not None

    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        held.color = "green"  # type: ignore[misc] # mypy refuses it too.
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        held.metadata.name = "b"  # type: ignore[misc] # mypy refuses it too.


def test_a_missing_index_is_named_beside_those_that_exist() -> None:
    store = Store(INDEXERS)

    with pytest.raises(KeyError, match="no index 'node'; the store has letter, namespace, owner"):
        store.by_index("node", "n1")


@pytest.mark.parametrize(
    ("version", "revision"),
    [("7", 7), ("123456789012345678901234567890", 123456789012345678901234567890)],
)
def test_the_revision_is_the_version_of_the_last_news(version: str, revision: int) -> None:
    store = Store[Thing]()

    assert store.revision is None
    store.advance(version)
    assert revision == store.revision


@pytest.mark.parametrize("version", ["07", "-7", "7a", "v7", "\N{SUPERSCRIPT TWO}", "1_0"])
def test_a_version_that_is_no_plain_number_cannot_be_compared(version: str) -> None:
    store = Store[Thing]()
    store.advance("5")

    store.advance(version)

    assert store.revision is None
