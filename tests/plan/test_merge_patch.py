"""The difference of two objects is a merge patch, as small as it can be."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.plan.diff import EVERYTHING, merge_patch
from tests.helpers.rfc7386 import merged

Wire = dict[str, Any]

names = st.sampled_from(("a", "b", "c"))
leaves = st.sampled_from((0, 1, "x", "y", "")) | st.lists(st.integers(0, 2), max_size=2)
objects: st.SearchStrategy[Wire] = st.recursive(
    st.dictionaries(names, leaves, max_size=3),
    lambda inner: st.dictionaries(names, leaves | inner, max_size=3),
    max_leaves=8,
)


def holds(have: Any, want: Any) -> bool:
    """Whether *have* says all that *want* says."""
    if not (isinstance(want, dict) and isinstance(have, dict)):
        return bool(have == want)
    return all(name in have and holds(have[name], value) for name, value in want.items())


def leaves_of(patch: Wire, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The paths of the single changes of *patch*."""
    found: list[tuple[str, ...]] = []
    for name, value in patch.items():
        inner = isinstance(value, dict) and value
        found += leaves_of(value, (*path, name)) if inner else [(*path, name)]
    return found


def without(patch: Wire, path: tuple[str, ...]) -> Wire:
    """*patch* less the change at *path*."""
    first, *rest = path
    if not rest:
        return {name: value for name, value in patch.items() if name != first}
    return patch | {first: without(patch[first], tuple(rest))}


@given(want=objects, have=objects)
def test_the_patch_makes_the_object_hold_what_is_wanted(want: Wire, have: Wire) -> None:
    assert holds(merged(have, merge_patch(want, have)), want)


@given(want=objects, have=objects)
def test_the_whole_patch_makes_the_object_equal_to_what_is_wanted(want: Wire, have: Wire) -> None:
    assert want == merged(have, merge_patch(want, have, whole=EVERYTHING))


@given(want=objects, have=objects)
def test_a_patched_object_needs_no_second_patch(want: Wire, have: Wire) -> None:
    partly = merged(have, merge_patch(want, have))
    wholly = merged(have, merge_patch(want, have, whole=EVERYTHING))

    assert {} == merge_patch(want, partly)
    assert {} == merge_patch(want, wholly, whole=EVERYTHING)


@given(want=objects, have=objects)
def test_no_change_of_the_patch_could_be_left_out(want: Wire, have: Wire) -> None:
    patch = merge_patch(want, have, whole=EVERYTHING)

    needless = [
        path for path in leaves_of(patch) if want == merged(have, without(patch, path))
    ]  # fmt: skip

    assert [] == needless


@given(want=objects, have=objects)
def test_without_a_scope_what_only_the_object_has_is_left_alone(want: Wire, have: Wire) -> None:
    patched = merged(have, merge_patch(want, have))

    assert {name: have[name] for name in have if name not in want} == {
        name: patched[name] for name in patched if name not in want
    }


@given(want=objects, have=objects)
def test_the_objects_themselves_are_not_changed(want: Wire, have: Wire) -> None:
    copies = merged(want, {}), merged(have, {})

    merge_patch(want, have, whole=EVERYTHING)

    assert copies == (want, have)


def test_below_a_whole_path_a_field_that_is_not_wanted_is_removed() -> None:
    have = {"spec": {"selector": {"ours": "1", "theirs": "2"}, "other": 3}, "metadata": {"x": 1}}
    want = {"spec": {"selector": {"ours": "1"}}}

    assert {"spec": {"selector": {"theirs": None}}} == merge_patch(
        want, have, whole=frozenset({"spec.selector"})
    )


def test_a_whole_path_reaches_all_the_way_down() -> None:
    have = {"spec": {"deep": {"er": {"ours": 1, "theirs": 2}}}}
    want = {"spec": {"deep": {"er": {"ours": 1}}}}

    assert {"spec": {"deep": {"er": {"theirs": None}}}} == merge_patch(
        want, have, whole=frozenset({"spec"})
    )


def test_a_path_that_only_begins_like_a_whole_one_is_not_owned() -> None:
    have = {"spec": {}, "specification": {"theirs": 1}}
    want: Wire = {"spec": {}, "specification": {}}

    assert {} == merge_patch(want, have, whole=frozenset({"spec"}))


def test_a_list_is_replaced_as_a_whole() -> None:
    assert {"ports": [1, 3]} == merge_patch({"ports": [1, 3]}, {"ports": [1, 2, 3]})
    assert {"ports": [2, 1]} == merge_patch({"ports": [2, 1]}, {"ports": [1, 2]})


def test_a_value_takes_the_place_of_an_object_and_an_object_that_of_a_value() -> None:
    assert {"a": 1} == merge_patch({"a": 1}, {"a": {"b": 2}})
    assert {"a": {"b": 2}} == merge_patch({"a": {"b": 2}}, {"a": 1})
