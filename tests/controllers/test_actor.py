"""The actor: what it sends, what it makes of each answer, and what it remembers."""

import re

import pytest

from gpustack_ctrl.api import errors, names
from gpustack_ctrl.api.errors import AlreadyExistsError, ApiError, ConflictError, NotFoundError
from gpustack_ctrl.plan.actions import Action, Apply, Delete, PatchType, create, delete
from tests.controllers.recording import Recorder, actor_over
from tests.helpers.builders import meta

SEEN = meta(uid="uid-1", resourceVersion="42")
CREATE = create(names.POD, SEEN, {"metadata": {"name": "box", "namespace": "team"}})
VITAL = create(names.SECRET, SEEN, {"metadata": {"name": "key", "namespace": "team"}}, vital=True)
APPLY = Apply(
    resource=names.SERVICE,
    key=SEEN.key,
    uid="uid-1",
    resource_version="42",
    patch={"metadata": {"labels": {"x": "1"}}, "spec": {"type": "NodePort"}},
)
STRATEGIC = Apply(
    resource=names.POD,
    key=SEEN.key,
    uid="uid-1",
    resource_version="42",
    patch={"spec": {}},
    how=PatchType.STRATEGIC,
)
DELETE = delete(names.POD, SEEN, because="stopped")
KINDS = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ApiError)
]
AS_GOOD_AS_DONE = {
    (Delete, NotFoundError),
    (Delete, ConflictError),
    (Delete, AlreadyExistsError),
}


async def test_each_action_becomes_one_request() -> None:
    recorder = Recorder()

    refused = await actor_over(recorder).perform("owner", (CREATE, APPLY, STRATEGIC, DELETE))

    assert () == refused
    assert ["create", "merge", "strategic", "delete"] == [verb for verb, *_ in recorder.sent]


async def test_an_apply_names_the_object_and_the_version_that_was_seen() -> None:
    recorder = Recorder()

    await actor_over(recorder).perform("owner", (APPLY, STRATEGIC))

    guard = {"uid": "uid-1", "resourceVersion": "42"}
    assert [
        {"metadata": {"labels": {"x": "1"}, **guard}, "spec": {"type": "NodePort"}},
        {"metadata": guard, "spec": {}},
    ] == [body for *_, body in recorder.sent]


async def test_an_apply_leaves_the_plan_as_it_was() -> None:
    await actor_over(Recorder()).perform("owner", (APPLY,))

    assert {"labels": {"x": "1"}} == APPLY.patch["metadata"]


async def test_a_delete_names_the_uid_that_was_seen() -> None:
    recorder = Recorder()

    await actor_over(recorder).perform("owner", (DELETE,))

    assert [("delete", names.POD, SEEN.key, "uid-1")] == recorder.sent


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("action", [CREATE, APPLY, STRATEGIC, DELETE], ids=str)
async def test_every_refusal_is_returned_with_its_action(
    action: Action, kind: type[ApiError]
) -> None:
    error = kind("no")

    refused = await actor_over(Recorder(errors=[error])).perform("owner", (action,))

    done = (type(action), kind) in AS_GOOD_AS_DONE
    assert ([] if done else [(action, error)]) == [(held.action, held.error) for held in refused]


async def test_a_refusal_does_not_stop_the_siblings() -> None:
    recorder = Recorder(errors=[ConflictError("first")])

    refused = await actor_over(recorder).perform("owner", (CREATE, APPLY))

    assert [CREATE] == [held.action for held in refused]
    assert ["create", "merge"] == [verb for verb, *_ in recorder.sent]


async def test_what_waits_for_a_vital_object_is_not_done_when_that_is_refused() -> None:
    recorder = Recorder(errors=[ApiError("no")])

    refused = await actor_over(recorder).perform("owner", (VITAL, CREATE))

    assert [VITAL] == [held.action for held in refused]
    assert 1 == len(recorder.sent)


async def test_a_vital_object_that_is_there_already_is_as_good_as_made() -> None:
    recorder = Recorder(errors=[AlreadyExistsError("there")])

    refused = await actor_over(recorder).perform("owner", (VITAL, CREATE))

    assert () == refused
    assert 2 == len(recorder.sent)


async def test_in_a_namespace_that_is_going_nothing_needs_to_be_made() -> None:
    details = {"causes": [{"reason": "NamespaceTerminating"}]}
    error = errors.ForbiddenError("going", details=details)

    assert () == await actor_over(Recorder(errors=[error])).perform("owner", (CREATE,))


@pytest.mark.parametrize("raised", [RuntimeError("a bug"), KeyError("x")])
async def test_what_is_no_answer_of_the_server_is_not_swallowed(raised: Exception) -> None:
    with pytest.raises(type(raised), match=re.escape(str(raised))):
        await actor_over(Recorder(errors=[raised])).perform("owner", (CREATE,))
