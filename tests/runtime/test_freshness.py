"""The gate that keeps a pass from believing a cache older than its own writes."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.runtime.freshness import LONGEST_WAIT_SECONDS, Freshness
from gpustack_ctrl.runtime.store import Store
from tests.helpers.informers import scene
from tests.helpers.list_watch import Thing, thing

KEY = ObjectKey("team", "a")


def store_at(version: str, *objects: Thing) -> Store[Thing]:
    store = Store[Thing]()
    store.replace(objects, resource_version=version)
    return store


def test_f1_an_owner_is_stale_until_the_cache_has_its_write() -> None:
    store, freshness = store_at("7"), Freshness()

    freshness.wrote("owner", store, "9", now=0)
    assert not freshness.fresh("owner", 0)

    store.advance("8")
    assert not freshness.fresh("owner", 1)

    store.upsert(KEY, thing("a", 9))
    assert freshness.fresh("owner", 2)


def test_f1_every_write_in_every_cache_counts() -> None:
    first, second, freshness = store_at("7"), store_at("7"), Freshness()
    freshness.wrote("owner", first, "8", now=0)
    freshness.wrote("owner", second, "9", now=0)

    first.advance("20")
    assert not freshness.fresh("owner", 1)

    second.advance("9")
    assert freshness.fresh("owner", 1)


def test_f1_owners_do_not_wait_for_one_another() -> None:
    freshness = Freshness()
    freshness.wrote("owner", store_at("7"), "9", now=0)

    assert freshness.fresh("other", 0)


@pytest.mark.parametrize("version", ["x9", "", "09"])
def test_f2_a_write_whose_version_cannot_be_compared_is_not_waited_for(version: str) -> None:
    freshness = Freshness()
    freshness.wrote("owner", store_at("7"), version, now=0)

    assert freshness.fresh("owner", 0)


@pytest.mark.parametrize("version", ["x7", ""])
def test_f2_a_cache_whose_version_cannot_be_compared_is_not_waited_for(version: str) -> None:
    freshness = Freshness()
    freshness.wrote("owner", store_at(version), "9", now=0)

    assert freshness.fresh("owner", 0)


def test_f2_the_gate_opens_in_the_end_even_if_the_server_went_back() -> None:
    store, freshness = store_at("7"), Freshness()
    freshness.wrote("owner", store, "9", now=100)
    store.replace((), resource_version="3")

    assert not freshness.fresh("owner", 100 + LONGEST_WAIT_SECONDS - 0.1)
    assert freshness.fresh("owner", 100 + LONGEST_WAIT_SECONDS)


@pytest.mark.parametrize(
    "after",
    [
        None,
        thing("a", 9, uid="another"),
        thing("a", 9, uid="uid-a", deletionTimestamp="2026-01-01T00:00:00Z"),
    ],
)
def test_f1_a_deletion_is_seen_when_the_object_goes_or_begins_to(after: Thing | None) -> None:
    store, freshness = store_at("7", thing("a", 5)), Freshness()
    freshness.deleted("owner", store, KEY, "uid-a", now=0)
    assert not freshness.fresh("owner", 1)

    store.replace(() if after is None else (after,), resource_version="9")

    assert freshness.fresh("owner", 1)


def test_f5_an_owner_of_the_same_name_inherits_nothing() -> None:
    freshness = Freshness()
    freshness.wrote("uid-of-the-first", store_at("7"), "9", now=0)

    assert freshness.fresh("uid-of-the-second", 0)


def test_f3_owners_that_nobody_asks_for_again_do_not_pile_up() -> None:
    store, freshness = store_at("7"), Freshness()

    for moment in range(1000):
        freshness.wrote(f"owner-{moment}", store, "9", now=moment)

    assert len(freshness) <= LONGEST_WAIT_SECONDS + 1


async def test_f6_a_bookmark_is_enough_to_open_the_gate() -> None:
    at, freshness = scene(), Freshness()
    async with at.running():
        freshness.wrote("owner", at.informer.store, "60", now=0)
        at.server.elsewhere(90)
        assert not freshness.fresh("owner", 0)

        at.server.bookmark()
        await at.clock.advance(0)

        assert freshness.fresh("owner", 0)
    assert [] == at.events


@given(random=st.randoms(use_true_random=False))
def test_f3_only_live_owners_with_writes_to_wait_for_are_remembered(random: Random) -> None:
    store, freshness, now, revision = store_at("1"), Freshness(), 0.0, 1
    waiting = dict[str, list[tuple[int, float]]]()
    for _ in range(40):
        owner = random.choice("abc")
        match random.choice(["write", "see", "ask", "pass", "forget"]):
            case "write":
                revision += random.randrange(3)
                freshness.wrote(owner, store, str(revision), now=now)
                waiting.setdefault(owner, []).append((revision, now + LONGEST_WAIT_SECONDS))
            case "see":
                store.advance(str(random.randint(store.revision or 0, revision)))
            case "pass":
                now += random.choice([0.5, 3.0])
            case "forget":
                freshness.forget(owner)
                waiting.pop(owner, None)
            case _:
                left = _unseen(waiting.pop(owner, []), store.revision or 0, now)
                waiting |= {owner: left} if left else {}
                assert (not left) == freshness.fresh(owner, now)
        open_still = [held for held in waiting.values() if any(end > now for _, end in held)]
        assert len(open_still) <= len(freshness) <= len(waiting)


def _unseen(writes: list[tuple[int, float]], revision: int, now: float) -> list[tuple[int, float]]:
    return [(written, end) for written, end in writes if written > revision and now < end]
