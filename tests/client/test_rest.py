"""What each verb puts on the wire."""

from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import pytest

from gpustack_ctrl.api.errors import ServerError
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.api.names import INSTANCE, INSTANCE_TYPE, SERVICE
from gpustack_ctrl.client.rest import FieldValidation, Rest
from tests.client.conftest import Serving
from tests.client.scripted import Answer, in_turn

KEY = ObjectKey("team", "a")
WRITES = "fieldManager=gpustack-ctrl&fieldValidation=Strict"
SERVICE_PATH = "/api/v1/namespaces/team/services/a"
INSTANCES = "/apis/worker.gpustack.ai/v1/namespaces/team/instances"

Write = Callable[[Rest], Awaitable[bytes]]


@pytest.mark.parametrize(
    ("write", "method", "path", "content_type", "body"),
    [
        (
            lambda rest: rest.create(INSTANCE, {"metadata": {"namespace": "team"}}),
            "POST", INSTANCES, "application/json", {"metadata": {"namespace": "team"}},
        ),
        (
            lambda rest: rest.create(INSTANCE_TYPE, {"metadata": {"name": "t"}}),
            "POST", "/apis/worker.gpustack.ai/v1/instancetypes", "application/json",
            {"metadata": {"name": "t"}},
        ),
        (
            lambda rest: rest.update(SERVICE, KEY, {"spec": 1}),
            "PUT", SERVICE_PATH, "application/json", {"spec": 1},
        ),
        (
            lambda rest: rest.merge_patch(INSTANCE, KEY, {"status": 1}, "status"),
            "PATCH", f"{INSTANCES}/a/status", "application/merge-patch+json", {"status": 1},
        ),
        (
            lambda rest: rest.strategic_patch(SERVICE, KEY, {"spec": 1}),
            "PATCH", SERVICE_PATH, "application/strategic-merge-patch+json", {"spec": 1},
        ),
    ],
)  # fmt: skip
async def test_a_write_names_its_manager_and_is_validated(
    serving: Serving, write: Write, method: str, path: str, content_type: str, body: Any
) -> None:
    async with serving(in_turn(Answer(body=b'{"kind":"Answer"}'))) as served:
        rest = attrs.evolve(served.client.rest, field_validation=FieldValidation.STRICT)
        assert b'{"kind":"Answer"}' == await write(rest)

    request = served.server.received[0]
    seen = (request.method, request.path, request.query, request.headers["content-type"])
    assert (method, path, WRITES, content_type) == seen
    assert body == request.json


@pytest.mark.parametrize(
    ("version", "preconditions"),
    [(None, {"uid": "u"}), ("7", {"uid": "u", "resourceVersion": "7"})],
)
async def test_a_delete_is_of_one_object_and_no_namesake(
    serving: Serving, version: str | None, preconditions: dict[str, str]
) -> None:
    async with serving(in_turn(Answer())) as served:
        await served.client.rest.delete(SERVICE, KEY, uid="u", resource_version=version)

    request = served.server.received[0]
    assert ("DELETE", SERVICE_PATH) == (request.method, request.target)
    assert preconditions == request.json["preconditions"]
    assert "Background" == request.json["propagationPolicy"]


@pytest.mark.parametrize("body", [b"<html>", b"", b"[]", b"\xff"])
async def test_an_answer_that_is_no_object_is_the_servers_fault(
    serving: Serving, body: bytes
) -> None:
    async with serving(in_turn(Answer(body=body))) as served:
        with pytest.raises(ServerError, match="the API server's answer is not"):
            await served.client.rest.read("/version")
