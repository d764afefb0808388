"""The actor: a status is written as a difference, and what was written is waited for."""

from typing import Any

import pytest

from gpustack_ctrl.api import names
from gpustack_ctrl.api.errors import ConflictError, NotFoundError
from gpustack_ctrl.plan.actions import Action, Apply, PatchType, create, delete
from tests.controllers.recording import Recorder, actor_over
from tests.helpers.builders import meta

SEEN = meta(uid="uid-1", resourceVersion="42")
CREATE = create(names.POD, SEEN, {"metadata": {"name": "box", "namespace": "team"}})
SECRET = create(names.SECRET, SEEN, {"metadata": {"name": "key", "namespace": "team"}})
DELETE = delete(names.POD, SEEN, because="stopped")


def changed(how: PatchType) -> Apply:
    """A change of the Pod that was seen."""
    return Apply(
        resource=names.POD, key=SEEN.key, uid="uid-1", resource_version="42", patch={}, how=how
    )


APPLY, STRATEGIC = changed(PatchType.MERGE), changed(PatchType.STRATEGIC)
STATUS = {"phase": "Ready", "ports": [{"port": 22}]}


async def report(recorder: Recorder, before: Any, after: Any) -> bool:
    """Report the status of the Instance that was seen."""
    return await actor_over(recorder).report(
        "owner", names.INSTANCE, SEEN, before=before, after=after
    )


async def test_t1_a_status_that_says_the_same_is_not_written() -> None:
    recorder = Recorder()

    assert not await report(recorder, STATUS, dict(STATUS))
    assert [] == recorder.sent


async def test_t1_a_status_is_written_as_the_difference_to_the_version_that_was_seen() -> None:
    recorder = Recorder()

    assert await report(recorder, STATUS | {"podUID": "old"}, STATUS | {"phase": "Stopped"})

    [(verb, resource, key, body)] = recorder.sent
    assert ("merge status", names.INSTANCE, SEEN.key) == (verb, resource, key)
    assert {
        "metadata": {"resourceVersion": "42"},
        "status": {"phase": "Stopped", "podUID": None},
    } == body


async def test_a_report_that_is_refused_is_not_swallowed() -> None:
    with pytest.raises(ConflictError):
        await report(Recorder(errors=[ConflictError("changed")]), {}, STATUS)


async def test_the_status_of_what_is_gone_is_not_told() -> None:
    assert not await report(Recorder(errors=[NotFoundError("gone")]), {}, STATUS)


@pytest.mark.parametrize("action", [CREATE, APPLY, STRATEGIC], ids=str)
async def test_an_owner_is_not_fresh_until_the_caches_show_what_was_written(
    action: Action,
) -> None:
    recorder = Recorder(revision=50)
    actor = actor_over(recorder)

    await actor.perform("owner", (action,))

    assert not actor.fresh("owner")
    assert actor.fresh("another owner")

    recorder.catch_up(action.resource, 49)

    assert not actor.fresh("owner")

    recorder.catch_up(action.resource, 50)

    assert actor.fresh("owner")


async def test_a_status_counts_as_written_too() -> None:
    recorder = Recorder(revision=50)
    actor = actor_over(recorder)

    await actor.report("owner", names.INSTANCE, SEEN, before={}, after=STATUS)

    assert not actor.fresh("owner")

    recorder.catch_up(names.INSTANCE, 50)

    assert actor.fresh("owner")


async def test_an_owner_is_not_fresh_while_the_cache_still_shows_what_was_deleted() -> None:
    recorder = Recorder()
    actor = actor_over(recorder)
    recorder.show_pod(SEEN)

    await actor.perform("owner", (DELETE,))

    assert not actor.fresh("owner")

    recorder.show_pod(None)

    assert actor.fresh("owner")


@pytest.mark.parametrize("action", [CREATE, APPLY], ids=str)
async def test_what_was_refused_is_not_waited_for(action: Action) -> None:
    actor = actor_over(Recorder(errors=[ConflictError("no")]))

    await actor.perform("owner", (action,))

    assert actor.fresh("owner")


async def test_waiting_for_the_caches_ends_after_a_while() -> None:
    recorder = Recorder(revision=50)
    actor = actor_over(recorder)
    await actor.perform("owner", (CREATE,))

    await recorder.clock.advance(5)

    assert actor.fresh("owner")


async def test_what_nobody_reads_back_is_not_waited_for() -> None:
    actor = actor_over(Recorder())

    await actor.perform("owner", (SECRET,))

    assert actor.fresh("owner")
