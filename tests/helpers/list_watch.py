"""One resource of an API server: a history that can be listed, watched and disturbed."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeAlias

import attrs
import msgspec

from gpustack_ctrl.api.errors import ApiError, GoneError, ServerError
from gpustack_ctrl.api.meta import ObjectKey, ObjectMeta, OwnerReference, Resource
from gpustack_ctrl.runtime.clock import Clock
from gpustack_ctrl.runtime.watch import ListRequest, WatchRequest

Faults: TypeAlias = list[ApiError | None]
ListOrWatch: TypeAlias = ListRequest | WatchRequest

THINGS = Resource(group="example.com", version="v1", kind="Thing", plural="things")


@attrs.frozen(kw_only=True)
class Thing:
    """An object of the smallest kind there is."""

    metadata: ObjectMeta
    color: str = ""


decode_thing: Callable[[bytes], Thing] = msgspec.json.Decoder(Thing).decode


def thing(name: str, version: int | str = 1, **fields: Any) -> Thing:
    """A `Thing` in namespace `team`; *fields* are `color` or those of its metadata."""
    color = fields.pop("color", "")
    meta = {"namespace": "team", "uid": f"uid-{name}", "resourceVersion": str(version), **fields}
    return Thing(metadata=ObjectMeta(name=name, **meta), color=color)


def owned_by(uid: str, *, kind: str = "Thing", controller: bool = True) -> OwnerReference:
    """A reference to the owner *uid*, which is named like its UID."""
    return OwnerReference(
        apiVersion="example.com/v1", kind=kind, name=uid, uid=uid, controller=controller
    )


def encode_list(objects: Iterable[Any], version: int | str, token: str = "") -> bytes:
    """The body of a `List`."""
    meta = {"resourceVersion": str(version), "continue": token}
    return msgspec.json.encode({"kind": "ThingList", "metadata": meta, "items": list(objects)})


def encode_event(kind: str, obj: Any) -> bytes:
    """A line of a watch."""
    return msgspec.json.encode({"type": kind, "object": obj}) + b"\n"


def bookmark(version: int | str) -> bytes:
    """The line of a bookmark."""
    return encode_event("BOOKMARK", {"metadata": {"resourceVersion": str(version)}})


def status(code: int, reason: str, **details: Any) -> dict[str, Any]:
    """A `Status` object."""
    return {"kind": "Status", "code": code, "reason": reason, "details": details}


def too_large() -> ServerError:
    """The answer to a resource version that the server has not reached."""
    causes = [{"reason": "ResourceVersionTooLarge"}]
    return ServerError("too large", code=504, reason="Timeout", details={"causes": causes})


@attrs.define(eq=False)
class Connection:
    """An open watch: what it has yet to deliver."""

    chunks: asyncio.Queue[bytes | ApiError | None] = attrs.field(factory=asyncio.Queue)
    dead: bool = False

    def send(self, item: bytes | ApiError | None) -> None:
        if not self.dead:
            self.chunks.put_nowait(item)

    async def read(self) -> AsyncIterator[bytes]:
        while (item := await self.chunks.get()) is not None:
            if isinstance(item, ApiError):
                raise item
            yield item


@attrs.define(kw_only=True, eq=False)
class FakeListWatch:
    """A `ListWatch` over one resource of a server that a test changes and disturbs.

    *cut* decides in which chunks a line arrives. *refuse* and *obstruct* hold what the
    next lists and watches meet, in that order: an error, or None for no fault. Pages are
    never longer than *page_size*. *before* is called with each request. The bodies in
    *canned* are what the next lists get instead of an honest answer.
    """

    clock: Clock
    cut: Callable[[bytes], Iterable[bytes]] = lambda line: (line,)
    revision: int = 10
    compacted: int = 0
    page_size: int | None = None
    canned: list[bytes] = attrs.field(factory=list)
    before: Callable[[ListOrWatch], None] = lambda _: None
    objects: dict[ObjectKey, Thing] = attrs.field(factory=dict)
    history: list[tuple[int, str, Thing]] = attrs.field(factory=list)
    snapshots: dict[str, tuple[int, tuple[Thing, ...]]] = attrs.field(factory=dict)
    refuse: Faults = attrs.field(factory=list)
    obstruct: Faults = attrs.field(factory=list)
    requests: list[tuple[float, ListOrWatch]] = attrs.field(factory=list)
    connections: list[Connection] = attrs.field(factory=list)
    unreachable: ApiError | None = None

    def put(self, name: str, **fields: Any) -> Thing:
        """Create or change an object; a recreated one has a UID of its own."""
        self.revision += 1
        before = self.objects.get(ObjectKey("team", name))
        uid = before.metadata.uid if before else f"uid-{name}-{self.revision}"
        obj = thing(name, self.revision, **{"uid": uid, **fields})
        self.objects[obj.metadata.key] = obj
        self._record("MODIFIED" if before else "ADDED", obj)
        return obj

    def delete(self, name: str) -> None:
        """Delete an object; as on a real server, its last state gets a new version."""
        old = self.objects.pop(ObjectKey("team", name))
        self.revision += 1
        meta = attrs.evolve(old.metadata, resourceVersion=str(self.revision))
        self._record("DELETED", attrs.evolve(old, metadata=meta))

    def elsewhere(self, revisions: int = 1) -> None:
        """Let other resources of the cluster use up some *revisions*."""
        self.revision += revisions

    def compact(self) -> None:
        """Forget all history, so that only a watch from now on is possible."""
        self.compacted = self.revision
        self.snapshots.clear()

    def send(self, item: bytes | ApiError | None) -> None:
        """Deliver bytes, an error or (None) the end of the body to all open watches."""
        for connection in self.connections:
            connection.send(item)

    def bookmark(self) -> None:
        """Tell all open watches how far the server is."""
        self.send(bookmark(self.revision))

    def black_hole(self) -> None:
        """Let the open connections go dead without a sign."""
        for connection in self.connections:
            connection.dead = True

    def state_at(self, revision: int) -> dict[ObjectKey, Thing]:
        """The objects that there were at *revision*, told from the whole history."""
        objects = dict[ObjectKey, Thing]()
        for version, kind, obj in self.history:
            if version <= revision:
                objects[obj.metadata.key] = obj
                if kind == "DELETED":
                    del objects[obj.metadata.key]
        return objects

    @property
    def lists(self) -> list[ListRequest]:
        """The lists asked for so far."""
        return [request for _, request in self.requests if isinstance(request, ListRequest)]

    @property
    def watches(self) -> list[WatchRequest]:
        """The watches asked for so far."""
        return [request for _, request in self.requests if isinstance(request, WatchRequest)]

    async def list(self, request: ListRequest) -> bytes:
        self._receive(request, self.refuse)
        if self.canned:
            return self.canned.pop(0)
        if request.continue_:
            return self._page(request.continue_)
        objects = tuple(self.objects.values())
        limit = min(request.limit or len(objects), self.page_size or len(objects))
        self.snapshots[str(self.revision)] = (self.revision, objects)
        return self._page(f"{self.revision}/0/{limit}")

    @asynccontextmanager
    async def watch(self, request: WatchRequest) -> AsyncIterator[AsyncIterator[bytes]]:
        self._receive(request, self.obstruct)
        since = int(request.resource_version or 0)
        if since < self.compacted:
            raise GoneError("too old resource version", code=410, reason="Expired")
        with self._connected(request) as connection:
            for version, kind, obj in self.history:
                if version > since:
                    self._deliver(connection, encode_event(kind, obj))
            yield connection.read()

    @contextmanager
    def _connected(self, request: WatchRequest) -> Iterator[Connection]:
        connection = Connection()
        self.connections.append(connection)
        end = self.clock.call_later(request.timeout_seconds, lambda: connection.send(None))
        try:
            yield connection
        finally:
            end.cancel()
            self.connections.remove(connection)

    def _receive(self, request: ListOrWatch, errors: Faults) -> None:
        self.requests.append((self.clock.monotonic(), request))
        if self.unreachable:
            raise self.unreachable
        self.before(request)
        error = errors.pop(0) if errors else None
        if error is not None:
            raise error

    def _page(self, token: str) -> bytes:
        version, start, limit = token.split("/")
        if version not in self.snapshots:
            raise GoneError("the continue token is too old", code=410, reason="Expired")
        revision, objects = self.snapshots[version]
        end = int(start) + int(limit)
        following = f"{version}/{end}/{limit}" if end < len(objects) else ""
        return encode_list(objects[int(start) : end], revision, following)

    def _record(self, kind: str, obj: Thing) -> None:
        self.history.append((self.revision, kind, obj))
        for connection in self.connections:
            self._deliver(connection, encode_event(kind, obj))

    def _deliver(self, connection: Connection, line: bytes) -> None:
        for chunk in self.cut(line):
            connection.send(chunk)


def colors(objects: Mapping[ObjectKey, Thing] | Iterable[Thing]) -> dict[str, str]:
    """Name and color of *objects*, which is all that tells them apart."""
    things = objects.values() if isinstance(objects, Mapping) else objects
    return {obj.metadata.name: obj.color for obj in things}
