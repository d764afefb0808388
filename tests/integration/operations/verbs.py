"""Requests as RBAC sees them: a verb on a resource of a group."""

import re
from collections.abc import Iterable
from http import HTTPMethod

import attrs

from gpustack_ctrl.gen.permissions import Permission
from tests.integration.proxy import Call

_PATH = re.compile(
    r"/(?:api|apis/(?P<group>[^/]+))/v1(?:/namespaces/[^/]+)?"
    r"/(?P<resource>[a-z]+)(?:/(?P<name>[^/]+))?(?:/(?P<subresource>[a-z]+))?"
)
_WRITES = {
    HTTPMethod.POST: "create",
    HTTPMethod.PUT: "update",
    HTTPMethod.PATCH: "patch",
    HTTPMethod.DELETE: "delete",
}


@attrs.frozen
class Use:
    """One verb on one resource, or `resource/subresource`; "" is the core group."""

    verb: str
    group: str
    resource: str


def used(calls: Iterable[Call]) -> set[Use]:
    """What *calls* needed. Asking what there is needs nothing."""
    return {use for call in calls if (use := _use(call)) is not None}


def allowed(permissions: Iterable[Permission]) -> set[Use]:
    """What *permissions* grant."""
    return {
        Use(verb, held.resource.group, held.target) for held in permissions for verb in held.verbs
    }


def _use(call: Call) -> Use | None:
    found = _PATH.fullmatch(call.path)
    if found is None:
        return None
    subresource = f"/{found['subresource']}" if found["subresource"] else ""
    verb = _WRITES.get(HTTPMethod(call.method)) or _reading(call, single=bool(found["name"]))
    return Use(verb, found["group"] or "", f"{found['resource']}{subresource}")


def _reading(call: Call, *, single: bool) -> str:
    if call.watches:
        return "watch"
    return "get" if single else "list"
