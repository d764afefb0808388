"""Reviews on the wire."""

import pytest

from gpustack_ctrl.api.errors import ForbiddenError, ServerError
from gpustack_ctrl.api.review import Access, User
from gpustack_ctrl.runtime.guard import Reviews
from tests.client.conftest import Serving
from tests.client.rig import status
from tests.client.scripted import Answer, in_turn

TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESSES = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
GET_METRICS = Access(verb="get", path="/metrics")
USER = User(
    username="system:serviceaccount:monitoring:prometheus",
    uid="1",
    groups=("system:serviceaccounts",),
    extra={"authentication.kubernetes.io/credential-id": ("JTI=1",)},
)
KNOWN = {
    "spec": {"token": "abc"},
    "status": {
        "authenticated": True,
        "audiences": ["https://kubernetes.default.svc"],
        "user": {
            "username": USER.username,
            "uid": "1",
            "groups": ["system:serviceaccounts"],
            "extra": {"authentication.kubernetes.io/credential-id": ["JTI=1"]},
        },
    },
}


async def test_a_token_is_asked_about_and_its_user_read(serving: Serving) -> None:
    async with serving(in_turn(Answer.of(201, KNOWN))) as served:
        reviews: Reviews = served.client.reviews
        assert USER == await reviews.bearer("abc")

    [request] = served.server.received
    assert ("POST", TOKENS) == (request.method, request.path)
    assert {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenReview",
        "metadata": {},
        "spec": {"token": "abc"},
    } == request.json


@pytest.mark.parametrize("said", [{}, {"error": "expired"}, {"authenticated": False, "user": {}}])
async def test_a_token_that_is_not_authenticated_is_nobodys(
    serving: Serving, said: dict[str, object]
) -> None:
    async with serving(in_turn(Answer.of(201, {"status": said}))) as served:
        assert await served.client.reviews.bearer("abc") is None


async def test_an_access_is_asked_about_with_all_that_is_known_of_the_user(
    serving: Serving,
) -> None:
    async with serving(in_turn(Answer.of(201, {"status": {"allowed": True}}))) as served:
        assert await served.client.reviews.allowed(USER, GET_METRICS)

    [request] = served.server.received
    assert ("POST", ACCESSES) == (request.method, request.path)
    assert {
        "user": USER.username,
        "uid": "1",
        "groups": ["system:serviceaccounts"],
        "extra": {"authentication.kubernetes.io/credential-id": ["JTI=1"]},
        "nonResourceAttributes": {"verb": "get", "path": "/metrics"},
    } == request.json["spec"]


@pytest.mark.parametrize("said", [{}, {"allowed": False}, {"allowed": True, "denied": True}])
async def test_what_is_not_allowed_or_is_denied_is_not_granted(
    serving: Serving, said: dict[str, object]
) -> None:
    async with serving(in_turn(Answer.of(201, {"status": said}))) as served:
        assert not await served.client.reviews.allowed(USER, GET_METRICS)


@pytest.mark.parametrize("body", [b"abc", b'{"status": {"authenticated": "abc"}}', b"[]"])
async def test_an_answer_that_cannot_be_read_is_told_without_quoting_it(
    serving: Serving, body: bytes
) -> None:
    async with serving(in_turn(Answer(201, body))) as served:
        with pytest.raises(ServerError) as told:
            await served.client.reviews.bearer("abc")

    assert "the API server's answer to a review cannot be read" == str(told.value)


async def test_who_may_not_ask_is_told(serving: Serving) -> None:
    async with serving(in_turn(status(403, "Forbidden", "no"))) as served:
        with pytest.raises(ForbiddenError):
            await served.client.reviews.bearer("abc")
