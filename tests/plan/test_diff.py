"""A difference becomes one action on the very object that was seen, or none."""

from gpustack_ctrl.api import names
from gpustack_ctrl.api.errors import ConflictError
from gpustack_ctrl.plan.actions import Apply, Create, Delete, PatchType, Refused, create, delete
from gpustack_ctrl.plan.diff import diff, patched
from tests.helpers.builders import meta

SEEN = meta(uid="uid-1", resourceVersion="42")


def test_nothing_to_change_is_an_empty_plan() -> None:
    assert () == diff(names.POD, {"a": 1}, {"a": 1, "b": 2}, seen=SEEN)


def test_a_change_names_the_object_that_was_seen_and_why() -> None:
    want = {"metadata": {"labels": {"x": "1"}}, "spec": {"ports": []}}

    assert (
        Apply(
            resource=names.SERVICE,
            key=SEEN.key,
            uid="uid-1",
            resource_version="42",
            patch={"metadata": {"labels": {"x": "1"}}, "spec": {"ports": []}},
            how=PatchType.MERGE,
            because=("metadata.labels.x", "spec.ports"),
        ),
    ) == diff(names.SERVICE, want, {}, seen=SEEN)


def test_a_removed_field_is_told_as_a_reason() -> None:
    [action] = diff(names.POD, {"a": {}}, {"a": {"b": 1}}, seen=SEEN, whole=frozenset({"a"}))

    assert isinstance(action, Apply)
    assert {"a": {"b": None}} == action.patch
    assert ("a.b",) == action.because


def test_an_emptied_object_is_told_as_a_reason() -> None:
    [action] = patched(names.POD, {"spec": {}}, seen=SEEN, how=PatchType.STRATEGIC)

    assert isinstance(action, Apply)
    assert ("spec",) == action.because
    assert PatchType.STRATEGIC is action.how


def test_a_creation_fills_in_the_kind() -> None:
    made = create(names.NETWORK_POLICY, SEEN, {"spec": {"x": 1}})

    assert made == Create(
        resource=names.NETWORK_POLICY,
        key=SEEN.key,
        body={"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "spec": {"x": 1}},
    )


def test_a_deletion_names_the_uid_that_was_seen() -> None:
    assert Delete(
        resource=names.POD, key=SEEN.key, uid="uid-1", because="stopped"
    ) == delete(names.POD, SEEN, because="stopped")  # fmt: skip


def test_actions_tell_what_they_do_in_the_log_line() -> None:
    [change] = diff(names.SERVICE, {"spec": {"type": "NodePort"}}, {}, seen=SEEN)

    assert "create Pod" == str(create(names.POD, SEEN, {}))
    assert "apply Service (spec.type)" == str(change)
    assert "delete Pod (stopped)" == str(delete(names.POD, SEEN, because="stopped"))


def test_a_refusal_keeps_the_action_and_the_answer() -> None:
    action, error = create(names.POD, SEEN, {}), ConflictError("no")

    refused = Refused(action, error)

    assert (action, error) == (refused.action, refused.error)
