"""Keeps a sink equal to what the API server holds of one resource, by list and watch.

The decisions are those of `watch.Watcher`; here are the waiting, the reading and the
decoding. A reflector starts no task: cancelling the one that runs it closes the
connection and leaves nothing behind.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Generic, Protocol, TypeVar

import attrs
import structlog

from gpustack_ctrl.api.errors import ApiError, UnreachableError
from gpustack_ctrl.api.meta import Object, ObjectKey, Resource
from gpustack_ctrl.runtime.clock import Clock
from gpustack_ctrl.runtime.decoding import Decode, ObjectDecoder, Undecodable
from gpustack_ctrl.runtime.informer_metrics import InformerMetrics, Unmetered
from gpustack_ctrl.runtime.lines import LineSplitter
from gpustack_ctrl.runtime.operations import Bookmark, Change, Replace
from gpustack_ctrl.runtime.silence import Silence, silence_limit
from gpustack_ctrl.runtime.watch import ListRequest, Page, Watcher, WatchRequest

T = TypeVar("T", bound=Object)
T_contra = TypeVar("T_contra", bound=Object, contravariant=True)

SILENCE_BEYOND_TIMEOUT_SECONDS = 10.0
SILENCE_WITH_BOOKMARKS_SECONDS = 150.0
ITEMS_PER_TURN = 250

log = structlog.get_logger()


class ListWatch(Protocol):
    """What a reflector needs of a client: one resource, scope and selector."""

    async def list(self, request: ListRequest) -> bytes:
        """The body of the `List`; raise `ApiError`."""
        ...

    def watch(self, request: WatchRequest) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """The body as it arrives, in chunks of any size; raise `ApiError`.

        Leaving the context closes the connection, unless the body was read to its end.
        """
        ...


class Sink(Protocol[T_contra]):
    """Who is kept equal to the API server."""

    async def replace(self, operation: Replace[T_contra]) -> None:
        """Hold what a list said; other tasks may get a turn meanwhile."""
        ...

    def apply(self, operation: Change[T_contra]) -> None:
        """Hold what a watch event said; must neither block nor raise."""
        ...


@attrs.define(kw_only=True, eq=False)
class Reflector(Generic[T]):
    """Lists and watches *resource*, and tells *sink* of it, until it is cancelled."""

    resource: Resource
    list_watch: ListWatch
    decode: Decode[T]
    sink: Sink[T]
    clock: Clock
    random: Callable[[], float]
    current: bool = False
    metrics: InformerMetrics = attrs.field(factory=Unmetered)
    trouble: str = attrs.field(default="", init=False)
    """Why the last list or watch failed; empty when all is well."""
    heard_at: float | None = attrs.field(default=None, init=False)
    """When the server last said anything, on the clock's monotonic scale."""
    _watcher: Watcher[T] = attrs.field(init=False)
    _decoder: ObjectDecoder[T] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._watcher = Watcher(random=self.random, current=self.current)
        self._decoder = ObjectDecoder(self.decode, report=self._report)

    async def run(self) -> None:
        """Follow the resource for ever."""
        while True:
            if self._watcher.wait:
                await self.clock.sleep(self._watcher.wait)
            try:
                await self._ask(self._watcher.request())
            except ApiError as error:
                self._failed(error)

    async def _ask(self, request: ListRequest | WatchRequest) -> None:
        match request:
            case ListRequest():
                await self._list(request)
            case WatchRequest():
                await self._watch(request)

    async def _list(self, request: ListRequest) -> None:
        self.metrics.listed()
        page = await self._page(await self.list_watch.list(request))
        self._well()
        replace = self._watcher.listed(page)
        if replace is not None:
            await self.sink.replace(replace)

    async def _page(self, body: bytes) -> Page[T]:
        """The page that *body* is; other tasks get turns while it is decoded."""
        envelope = self._decoder.page(body)
        objects: list[T] = []
        unreadable: set[ObjectKey] = set()
        for number, raw in enumerate(envelope.items or [], start=1):
            item = self._decoder.item(raw)
            if isinstance(item, Undecodable):
                unreadable.add(item.key)
            else:
                objects.append(item)
            if number % ITEMS_PER_TURN == 0:
                await self.clock.sleep(0)
        return Page(
            objects=tuple(objects),
            resource_version=envelope.metadata.resource_version,
            continue_=envelope.metadata.continue_,
            unreadable=frozenset(unreadable),
        )

    async def _watch(self, request: WatchRequest) -> None:
        self.metrics.watched()
        allowed = request.timeout_seconds + SILENCE_BEYOND_TIMEOUT_SECONDS
        try:
            async with (
                silence_limit(self.clock, allowed=allowed) as silence,
                self.list_watch.watch(request) as chunks,
            ):
                self._watcher.opened(self._well())
                await self._follow(chunks, silence)
        except TimeoutError:
            raise UnreachableError("the watch fell silent: the connection is dead") from None
        self._watcher.ended(self.clock.monotonic())

    async def _follow(self, chunks: AsyncIterator[bytes], silence: Silence) -> None:
        """Apply each event as soon as its line is complete."""
        splitter, bookmarked = LineSplitter(), False
        async for chunk in chunks:
            self.heard_at = silence.heard()
            lines = splitter.feed(chunk)
            self.metrics.received(len(lines))
            for line in lines:
                change = self._decoder.event(line)
                self._watcher.advanced(change.resource_version)
                self.sink.apply(change)
                if not bookmarked and isinstance(change, Bookmark):
                    bookmarked = True
                    silence.allow(SILENCE_WITH_BOOKMARKS_SECONDS)

    def _well(self) -> float:
        """Note that the server answered as it should; return the time."""
        self.trouble = ""
        self.heard_at = self.clock.monotonic()
        return self.heard_at

    def _failed(self, error: ApiError) -> None:
        self.trouble = str(error)
        self._watcher.failed(error, self.clock.monotonic())
        log.warning(
            "list or watch failed",
            resource=self.resource.full_name,
            error=self.trouble,
            again_in_seconds=round(self._watcher.wait, 1),
        )

    def _report(self, finding: Undecodable) -> None:
        self.metrics.undecodable()
        log.warning(
            "object is not readable and was skipped",
            resource=self.resource.full_name,
            object=str(finding.key),
            why=finding.why,
        )
