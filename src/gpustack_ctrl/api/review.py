"""Who bears a token and what they may do, as the API server is asked and answers."""

from collections.abc import Mapping

import attrs

from gpustack_ctrl.api.codec import Json, to_wire
from gpustack_ctrl.api.meta import Resource
from gpustack_ctrl.api.names import SUBJECT_ACCESS_REVIEW, TOKEN_REVIEW


@attrs.frozen(kw_only=True)
class User:
    """Somebody whom the API server knows; RBAC may look at each of the fields."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Access:
    """A verb on a path that is no object of the API, such as `get` on `/metrics`."""

    verb: str
    path: str


GET_METRICS = Access(verb="get", path="/metrics")


@attrs.frozen(kw_only=True)
class TokenReviewStatus:
    """Whose a token is; of nobody, unless *authenticated*."""

    authenticated: bool = False
    user: User = User()


@attrs.frozen(kw_only=True)
class TokenReview:
    """The answer about a token."""

    status: TokenReviewStatus = TokenReviewStatus()


@attrs.frozen(kw_only=True)
class AccessReviewStatus:
    """Whether an access is granted: only where it is *allowed* and nobody *denied* it."""

    allowed: bool = False
    denied: bool = False


@attrs.frozen(kw_only=True)
class AccessReview:
    """The answer about an access."""

    status: AccessReviewStatus = AccessReviewStatus()


def token_review(token: str) -> Json:
    """The question whose *token* is, for whatever audience the API server itself has."""
    return {**_head(TOKEN_REVIEW), "spec": {"token": token}}


def access_review(user: User, access: Access) -> Json:
    """The question whether *user* has *access*."""
    who = to_wire(user)
    who["user"] = who.pop("username", "")  # It has another name here than where it came from.
    return {
        **_head(SUBJECT_ACCESS_REVIEW),
        "spec": {**who, "nonResourceAttributes": to_wire(access)},
    }


def _head(resource: Resource) -> Json:
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {}}
