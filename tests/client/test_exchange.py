"""Requests and their answers, the faulty ones too, against a scripted server."""

import pytest

from gpustack_ctrl.api.errors import (
    ApiError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    ServerError,
    ThrottledError,
)
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.api.names import POD
from gpustack_ctrl.client.exchange import Call
from tests.client.rig import GET, POST, Rigged, status
from tests.client.scripted import Answer, Cut, in_turn


async def test_a_request_says_who_we_are_and_asks_for_plain_json(rigged: Rigged) -> None:
    async with rigged(in_turn(Answer(body=b'{"kind":"PodList"}'))) as rig:
        assert b'{"kind":"PodList"}' == await rig.exchange.send(GET)

    headers = rig.server.received[0].headers
    assert "Bearer first" == headers["authorization"]
    assert "gpustack-ctrl" == headers["user-agent"]
    assert "application/json" == headers["accept"]
    assert "identity" == headers["accept-encoding"]


async def test_an_error_status_is_raised_although_the_answer_was_read(rigged: Rigged) -> None:
    """The library returns a 404 like any answer when it is asked not to decode it."""
    answer = status(404, "NotFound", 'pods "a" not found')
    async with rigged(in_turn(answer)) as rig:
        with pytest.raises(NotFoundError, match='pods "a" not found'):
            await rig.exchange.send(GET)


async def test_what_is_forbidden_is_told_in_the_servers_sentence(rigged: Rigged) -> None:
    sentence = 'pods is forbidden: User "u" cannot list resource "pods" in API group ""'
    async with rigged(in_turn(status(403, "Forbidden", sentence))) as rig:
        with pytest.raises(ForbiddenError) as caught:
            await rig.exchange.send(GET)

    assert sentence == str(caught.value)


async def test_a_conflict_carries_its_details(rigged: Rigged) -> None:
    answer = status(409, "Conflict", "changed", causes=[{"reason": "UID"}])
    async with rigged(in_turn(answer)) as rig:
        with pytest.raises(ConflictError) as caught:
            await rig.exchange.send(GET)

    assert ("UID",) == caught.value.causes


async def test_a_patch_of_another_uid_is_a_conflict(rigged: Rigged) -> None:
    """The API server calls the UID an immutable field, and the patch invalid for good."""
    sentence = 'metadata.uid: Invalid value: "another": field is immutable'
    answer = status(422, "Invalid", sentence, causes=[{"field": "metadata.uid"}])
    async with rigged(in_turn(answer)) as rig:
        with pytest.raises(ConflictError, match=r"metadata\.uid"):
            await rig.exchange.send(POST)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>\n bad gateway</html>", "<html> bad gateway</html>"),
        (b"", "the API server answered 502"),
        (b'"text"', '"text"'),
        (b"\xff\xfe", "\ufffd\ufffd"),
    ],
)
async def test_an_error_with_a_garbage_body_is_still_an_api_error(
    rigged: Rigged, body: bytes, said: str
) -> None:
    async with rigged(in_turn(Answer(502, body))) as rig:
        with pytest.raises(ServerError) as caught:
            await rig.exchange.send(POST)

    assert said == str(caught.value)


async def test_a_429_says_for_how_long_and_which_level_was_full(rigged: Rigged) -> None:
    answer = Answer.of(
        429,
        {"kind": "Status", "message": "too many requests"},
        Retry_After="7",
        X_Kubernetes_PF_FlowSchema_UID="flow",
        X_Kubernetes_PF_PriorityLevel_UID="level",
    )
    async with rigged(in_turn(answer)) as rig:
        with pytest.raises(ThrottledError) as caught:
            await rig.exchange.send(POST)

    assert 7.0 == caught.value.retry_after
    assert {"flowSchemaUID": "flow", "priorityLevelUID": "level"} == caught.value.details


async def test_a_redirect_is_not_followed(rigged: Rigged) -> None:
    """The token must not travel to another host."""
    async with rigged(in_turn(Answer(302, b"", {"Location": "/elsewhere"}))) as rig:
        with pytest.raises(ApiError, match="302"):
            await rig.exchange.send(GET)

    assert ["/api/v1/pods"] == [request.path for request in rig.server.received]


async def test_warnings_are_passed_on(rigged: Rigged) -> None:
    warning = r'299 - "unknown field \"spec.foo\"", 299 - "deprecated"'
    async with rigged(in_turn(Answer(headers={"Warning": warning}))) as rig:
        await rig.exchange.send(POST)

    assert ['unknown field "spec.foo"', "deprecated"] == rig.recorded.warnings


async def test_each_attempt_is_measured(rigged: Rigged) -> None:
    answers = in_turn(Answer(201), status(404, "NotFound", "no"), Cut())
    async with rigged(answers) as rig:
        await rig.exchange.send(POST)
        for _ in range(2):
            with pytest.raises(ApiError):
                await rig.exchange.send(POST)

    host = f"127.0.0.1:{rig.server.port}"
    expected = [("POST", host, "201"), ("POST", host, "404"), ("POST", host, "<error>")]
    assert expected == rig.recorded.requests


async def test_a_connection_is_used_again(rigged: Rigged) -> None:
    async with rigged(lambda _: Answer()) as rig:
        for _ in range(3):
            await rig.exchange.send(POST)

    assert {1} == {request.connection for request in rig.server.received}


async def test_a_name_cannot_leave_its_place_in_the_path(rigged: Rigged) -> None:
    path = POD.path(ObjectKey("team", "a?watch=true#x y"))
    async with rigged(in_turn(Answer())) as rig:
        await rig.exchange.send(Call(method="GET", path=path))

    expected = "/api/v1/namespaces/team/pods/a%3Fwatch=true%23x%20y"
    assert expected == rig.server.received[0].target
