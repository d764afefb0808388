"""N4 N5: what becomes of each sort of policy, under each state of the Setting."""

from typing import Any

import attrs
import pytest

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.core import NetworkPolicy
from gpustack_ctrl.plan.actions import Apply, Create, Delete, Plan
from gpustack_ctrl.reconcilers.isolation import network_policy
from gpustack_ctrl.reconcilers.isolation.cidrs import OFF, PodCIDRs, parse_cidrs, render
from gpustack_ctrl.reconcilers.snapshot import NamespaceSnapshot
from tests.helpers.builders import ON, ending, policy, remade

OTHER = parse_cidrs("172.16.0.0/12")
MARK = {names.MANAGED_BY: names.PRODUCT}
TENANTS_SPEC = {"podSelector": {}, "policyTypes": ["Ingress"]}

OWN = policy(ON)
EDITED = attrs.evolve(OWN, spec=OWN.spec | {"ingress": [{}]})  # type: ignore[operator]
STRIPPED: NetworkPolicy = remade(OWN, labels={"team": "x"})
HAND_WRITTEN = attrs.evolve(STRIPPED, spec=TENANTS_SPEC)
TAKEN_OVER: NetworkPolicy = remade(
    OWN,
    labels=MARK | {"team": "x"},
    annotations={names.REPLACED_SPEC: codec.encode(TENANTS_SPEC).decode(), "note": "mine"},
)
TAKEN_AND_STRIPPED: NetworkPolicy = remade(TAKEN_OVER, labels={"team": "x"})
SORTS: dict[str, NetworkPolicy | None] = {
    "absent": None,
    "own": OWN,
    "edited": EDITED,
    "stripped": STRIPPED,
    "hand-written": HAND_WRITTEN,
    "taken over": TAKEN_OVER,
    "taken over, stripped": TAKEN_AND_STRIPPED,
}
CIDRS: dict[str, PodCIDRs | None] = {"on": ON, "changed": OTHER, "off": OFF, "unknown": None}

# What is done about each sort: when occupied and when not, under each state of the Setting.
NOTHING = "nothing"
TABLE = {
    ("absent", "on"): ("make", NOTHING),
    ("absent", "changed"): ("make", NOTHING),
    ("absent", "off"): (NOTHING, NOTHING),
    ("own", "on"): (NOTHING, NOTHING),
    ("own", "changed"): ("spec", "spec"),
    ("own", "off"): ("delete", "delete"),
    ("edited", "on"): ("spec", "spec"),
    ("edited", "changed"): ("spec", "spec"),
    ("edited", "off"): ("delete", "delete"),
    ("stripped", "on"): ("mark", NOTHING),
    ("stripped", "changed"): ("mark, keep, spec", NOTHING),
    ("stripped", "off"): (NOTHING, NOTHING),
    ("hand-written", "on"): ("mark, keep, spec", NOTHING),
    ("hand-written", "changed"): ("mark, keep, spec", NOTHING),
    ("hand-written", "off"): (NOTHING, NOTHING),
    ("taken over", "on"): (NOTHING, NOTHING),
    ("taken over", "changed"): ("spec", "spec"),
    ("taken over", "off"): ("give back", "give back"),
    ("taken over, stripped", "on"): ("mark", NOTHING),
    ("taken over, stripped", "changed"): ("mark, spec", NOTHING),
    ("taken over, stripped", "off"): (NOTHING, NOTHING),
    **{(sort, "unknown"): (NOTHING, NOTHING) for sort in SORTS},
}


def planned(have: NetworkPolicy | None, cidrs: PodCIDRs | None, *, occupied: bool = True) -> Plan:
    """What a pass does about *have*."""
    return network_policy.plan(
        NamespaceSnapshot(namespace="team", cidrs=cidrs, occupied=occupied, policy=have)
    )


def told(plan: Plan) -> str:
    """*plan* in the words of the table."""
    if not plan:
        return NOTHING
    [action] = plan
    if isinstance(action, Create):
        return "make"
    if isinstance(action, Delete):
        return "delete"
    return _told(action.patch)


def _told(patch: Any) -> str:
    metadata = patch.get("metadata", {})
    mark = metadata.get("labels", {}).get(names.MANAGED_BY, "")
    if mark is None:
        return "give back"
    parts = {
        "mark": mark == names.PRODUCT,
        "keep": names.REPLACED_SPEC in metadata.get("annotations", {}),
        "spec": "spec" in patch,
    }
    return ", ".join(part for part, done in parts.items() if done)


@pytest.mark.parametrize("occupied", [True, False], ids=["occupied", "empty"])
@pytest.mark.parametrize(("sort", "setting"), TABLE, ids=map(", ".join, TABLE))
def test_n5_each_policy_is_treated_as_the_table_says(
    sort: str, setting: str, *, occupied: bool
) -> None:
    expected = TABLE[sort, setting][0 if occupied else 1]

    assert expected == told(planned(SORTS[sort], CIDRS[setting], occupied=occupied))


def test_the_table_is_complete() -> None:
    assert {(sort, setting) for sort in SORTS for setting in CIDRS} == set(TABLE)


def test_n2_the_first_instance_brings_the_policy() -> None:
    [action] = planned(None, ON)

    assert isinstance(action, Create)
    assert {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {
            "name": "gpustack-instance-isolation",
            "namespace": "team",
            "labels": MARK,
        },
        "spec": render(ON),
    } == action.body


def test_n4_the_policy_belongs_to_the_namespace_and_has_no_owner() -> None:
    [action] = planned(None, ON)

    assert isinstance(action, Create)
    assert "ownerReferences" not in action.body["metadata"]


def test_n4_a_manual_edit_is_undone_down_to_fields_that_were_added() -> None:
    added = attrs.evolve(OWN, spec=OWN.spec | {"priority": 5})  # type: ignore[operator]

    [action] = planned(added, ON)

    assert isinstance(action, Apply)
    assert {"spec": {"priority": None}} == action.patch
    assert (OWN.metadata.uid, OWN.metadata.resourceVersion) == (action.uid, action.resource_version)


def test_n4_labels_and_annotations_of_others_are_left_alone() -> None:
    theirs = remade(OWN, labels=MARK | {"team": "x"}, annotations={"note": "mine"})

    assert () == planned(theirs, ON)


def test_n5_what_is_collected_is_the_very_object_that_was_seen() -> None:
    assert (
        Delete(
            resource=names.NETWORK_POLICY,
            key=OWN.metadata.key,
            uid=OWN.metadata.uid,
            because="isolation is off",
        ),
    ) == planned(OWN, OFF)


def test_n5_a_policy_taken_over_is_given_back_with_what_was_noted_removed() -> None:
    [action] = planned(TAKEN_OVER, OFF)

    assert isinstance(action, Apply)
    assert {names.MANAGED_BY: None} == action.patch["metadata"]["labels"]
    assert action.patch["metadata"]["annotations"][names.REPLACED_SPEC] is None
    assert {"policyTypes": ["Ingress"], "podSelector": {"matchLabels": None},
            "ingress": None, "egress": None} == action.patch["spec"]  # fmt: skip


@pytest.mark.parametrize("note", ["", "{", "[]", "null", "5", "no json"])
def test_n5_a_spoiled_note_does_not_stop_the_pass(note: str) -> None:
    spoiled = remade(TAKEN_OVER, annotations={names.REPLACED_SPEC: note})

    [action] = planned(spoiled, OFF)

    assert isinstance(action, Apply)
    assert {names.MANAGED_BY: None} == action.patch["metadata"]["labels"]
    assert "spec" not in action.patch


def test_n5_a_policy_that_is_going_is_not_collected_twice() -> None:
    assert () == planned(ending(OWN), OFF)
    assert () == planned(ending(TAKEN_OVER), OFF)


def test_n4_a_policy_that_a_finalizer_holds_is_kept_in_shape_until_it_is_gone() -> None:
    assert "spec" == told(planned(ending(EDITED), ON))
    assert () == planned(ending(OWN), ON)
