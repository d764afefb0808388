"""From the bytes of list pages and watch events to objects, with an error boundary.

Each object is decoded by itself straight from the bytes it arrived in. One that cannot
be decoded is reported and skipped; nothing else suffers from it.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeAlias, TypeVar

import attrs
import msgspec

from gpustack_ctrl.api.errors import ApiError, error_for
from gpustack_ctrl.api.meta import Object, ObjectKey
from gpustack_ctrl.runtime.operations import Bookmark, Change, Remove, Upsert

T = TypeVar("T", bound=Object)

Decode: TypeAlias = Callable[[bytes], T]
Report: TypeAlias = Callable[["Undecodable"], None]


@attrs.frozen(kw_only=True)
class Undecodable:
    """The object under *key* does not have the form that we know; *why* says how."""

    key: ObjectKey
    why: str


class _Metadata(msgspec.Struct, rename="camel", gc=False):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class _Identity(msgspec.Struct, gc=False):
    metadata: _Metadata


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _ListMetadata(msgspec.Struct, rename="camel", gc=False):
    resource_version: str = ""
    continue_: str = msgspec.field(name="continue", default="")


class ListEnvelope(msgspec.Struct):
    """A page of a list, its items still bytes of the body."""

    metadata: _ListMetadata
    items: list[msgspec.Raw] | None = None


_event = msgspec.json.Decoder(_Event)
_list = msgspec.json.Decoder(ListEnvelope)
_identity = msgspec.json.Decoder(_Identity)
_status = msgspec.json.Decoder(dict[str, Any])


class ObjectDecoder(Generic[T]):
    """Decodes the objects of one resource with *decode*, telling *report* of failures."""

    def __init__(self, decode: Decode[T], *, report: Report) -> None:
        self._decode = decode
        self._report = report

    def page(self, body: bytes) -> ListEnvelope:
        """The envelope of a list page; raise `ApiError` if *body* is none."""
        try:
            return _list.decode(body)
        except msgspec.MsgspecError as error:
            raise ApiError(f"the list is not readable: {error}") from error

    def item(self, raw: msgspec.Raw) -> T | Undecodable:
        """The object of a list item."""
        try:
            return self._decode(bytes(raw))
        except Exception as error:  # noqa: BLE001 -- whatever the decoder makes of bad input.
            return self._refused(_identity_of(raw), error)

    def event(self, line: bytes) -> Change[T]:
        """What a watch event does; raise `ApiError` for an ERROR event or a broken line."""
        try:
            event = _event.decode(line)
        except msgspec.MsgspecError as error:
            raise ApiError(f"a watch event is not readable: {error}") from error
        match event.type:
            case "ADDED" | "MODIFIED":
                return self._upsert(event.object)
            case "DELETED":
                return self._remove(event.object)
            case "BOOKMARK":
                return Bookmark(resource_version=_identity_of(event.object).resource_version)
            case "ERROR":
                raise _error_of(event.object)
            case unknown:
                raise ApiError(f"a watch event has the unknown type {unknown!r}")

    def _upsert(self, raw: msgspec.Raw) -> Change[T]:
        try:
            obj = self._decode(bytes(raw))
        except Exception as error:  # noqa: BLE001 -- whatever the decoder makes of bad input.
            identity = _identity_of(raw)
            self._refused(identity, error)
            return Bookmark(resource_version=identity.resource_version)
        return Upsert(object=obj, resource_version=obj.metadata.resourceVersion)

    def _remove(self, raw: msgspec.Raw) -> Change[T]:
        identity = _identity_of(raw)
        try:
            last = self._decode(bytes(raw))
        except Exception as error:  # noqa: BLE001 -- whatever the decoder makes of bad input.
            self._refused(identity, error)
            last = None
        return Remove(
            key=ObjectKey(identity.namespace, identity.name),
            last=last,
            resource_version=identity.resource_version,
        )

    def _refused(self, identity: _Metadata, error: Exception) -> Undecodable:
        finding = Undecodable(
            key=ObjectKey(identity.namespace, identity.name), why=str(error) or repr(error)
        )
        self._report(finding)
        return finding


def _identity_of(raw: msgspec.Raw) -> _Metadata:
    """Name, namespace and version of the object in *raw*; all empty if it hides them."""
    try:
        return _identity.decode(raw).metadata
    except msgspec.MsgspecError:
        return _Metadata()


def _error_of(raw: msgspec.Raw) -> ApiError:
    """The error that the `Status` in *raw* stands for."""
    try:
        status = _status.decode(raw)
    except msgspec.MsgspecError:
        status = {}
    details = status.get("details") or {}
    return error_for(
        int(status.get("code") or 0), status, retry_after=details.get("retryAfterSeconds")
    )
