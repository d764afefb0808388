"""The verbs of the API: an object or patch goes in, the server's answer comes out as bytes.

All raise `ApiError`. What is written carries our name as its field manager.
"""

from collections.abc import Mapping
from enum import Enum

import attrs
import msgspec

from gpustack_ctrl.api.codec import Json, decode, encode
from gpustack_ctrl.api.errors import ServerError
from gpustack_ctrl.api.meta import ObjectKey, Resource
from gpustack_ctrl.api.names import FIELD_MANAGER
from gpustack_ctrl.client.exchange import WRITE_SECONDS, Call, Exchange

MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"


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

    async def read(self, path: str) -> Json:
        """What is at *path*, decoded."""
        return decoded(await self.get(path))

    async def create(self, resource: Resource, body: Json) -> bytes:
        """The new object, in the namespace that its metadata names."""
        namespace = body["metadata"].get("namespace", "")
        return await self._write("POST", resource.collection(namespace), body)

    async def update(
        self, resource: Resource, key: ObjectKey, body: Json, subresource: str = ""
    ) -> bytes:
        """The object after it became *body*, if that has its current resource version."""
        return await self._write("PUT", resource.path(key, subresource=subresource), body)

    async def merge_patch(
        self, resource: Resource, key: ObjectKey, patch: Json, subresource: str = ""
    ) -> bytes:
        """The object after *patch*: null removes a field, a list is replaced as a whole.

        With `metadata.resourceVersion` it is done to that version alone, and with
        `metadata.uid` to that object alone; but in the status of a custom resource the API
        server does not look at the UID.
        """
        path = resource.path(key, subresource=subresource)
        return await self._write("PATCH", path, patch, content_type=MERGE_PATCH)

    async def strategic_patch(self, resource: Resource, key: ObjectKey, patch: Json) -> bytes:
        """The object, of a built-in kind, after *patch*: lists are merged by their keys."""
        return await self._write("PATCH", resource.path(key), patch, content_type=STRATEGIC_PATCH)

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
        body: Json,
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


def decoded(body: bytes) -> Json:
    """The JSON object that *body* is; raise `ServerError` if it is none."""
    try:
        held = decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ServerError(f"the API server's answer is not JSON: {error}") from error
    if not isinstance(held, dict):
        raise ServerError("the API server's answer is not a JSON object")
    return held
