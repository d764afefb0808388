"""The verbs of the API: an object or patch goes in, the server's answer comes out as bytes.

All raise `ApiError`. What is written carries our name as its field manager.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any

import attrs

from gpustack_ctrl.api.codec import encode
from gpustack_ctrl.api.meta import ObjectKey, Resource
from gpustack_ctrl.api.names import FIELD_MANAGER
from gpustack_ctrl.client.exchange import WRITE_SECONDS, Call, Exchange

MERGE_PATCH = "application/merge-patch+json"


class FieldValidation(Enum):
    """What the API server does with fields that it does not know."""

    IGNORE = "Ignore"
    WARN = "Warn"
    STRICT = "Strict"


@attrs.frozen(kw_only=True)
class Rest:
    """Reads and writes single objects over *exchange*; each attempt has *seconds*."""

    exchange: Exchange
    field_validation: FieldValidation = FieldValidation.WARN
    seconds: float = WRITE_SECONDS

    async def get(self, path: str) -> bytes:
        """What is at *path*."""
        return await self.exchange.send(Call(method="GET", path=path, seconds=self.seconds))

    async def create(self, resource: Resource, body: Mapping[str, Any]) -> bytes:
        """The new object, in the namespace that its metadata names."""
        namespace = body["metadata"].get("namespace", "")
        return await self._write("POST", resource.collection(namespace), body)

    async def update(
        self, resource: Resource, key: ObjectKey, body: Mapping[str, Any], subresource: str = ""
    ) -> bytes:
        """The object after it became *body*, if that has its current resource version."""
        return await self._write("PUT", resource.path(key, subresource=subresource), body)

    async def merge_patch(
        self, resource: Resource, key: ObjectKey, patch: Mapping[str, Any], subresource: str = ""
    ) -> bytes:
        """The object after *patch*: null removes a field, a list is replaced as a whole.

        With `metadata.uid` or `metadata.resourceVersion` it is done to that one alone.
        """
        path = resource.path(key, subresource=subresource)
        return await self._write("PATCH", path, patch, content_type=MERGE_PATCH)

    async def delete(
        self,
        resource: Resource,
        key: ObjectKey,
        *,
        uid: str,
        resource_version: str | None = None,
        propagation: str = "Background",
    ) -> bytes:
        """Delete the object of that *uid*, and only in that version if one is given."""
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": propagation,
            "preconditions": _preconditions(uid, resource_version),
        }
        path = resource.path(key)
        call = Call(method="DELETE", path=path, body=encode(options), seconds=self.seconds)
        return await self.exchange.send(call)

    async def _write(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any],
        *,
        content_type: str = "application/json",
    ) -> bytes:
        call = Call(
            method=method,
            path=path,
            query=f"fieldManager={FIELD_MANAGER}&fieldValidation={self.field_validation.value}",
            body=encode(body),
            content_type=content_type,
            seconds=self.seconds,
        )
        return await self.exchange.send(call)


def _preconditions(uid: str, resource_version: str | None) -> Mapping[str, str]:
    if resource_version is None:
        return {"uid": uid}
    return {"uid": uid, "resourceVersion": resource_version}
