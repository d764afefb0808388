"""List and watch as a state machine: answers in, store operations and next request out.

    Unlisted --page--> Paging --last page--> Listed --opened--> Watching
        ^                                     |  ^                 |
        +------------ history is gone --------+  +--- it ended ----+

`Watcher` neither waits nor connects: a reflector asks it for `wait` and `request`, and
tells it what came of that. Times are seconds of a monotonic clock.
"""

from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

import attrs

from gpustack_ctrl.api.errors import (
    ApiError,
    GoneError,
    InvalidError,
    NotFoundError,
    ThrottledError,
    UnreachableError,
)
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.runtime.backoff import RelistBackoff
from gpustack_ctrl.runtime.operations import Replace

T = TypeVar("T")

PAGE_SIZE = 500
SHORTEST_WATCH_SECONDS = 300
SHORT_WATCH_SECONDS = 1.0
BARREN_WATCHES = 3
UNORDERED = frozenset({"", "0"})
BAD_REQUEST = 400


@attrs.frozen(kw_only=True)
class ListRequest:
    """Ask for the objects at *resource_version* or later; "" means the newest state.

    With a *limit* the server answers in pages, each naming the token to *continue_* with.
    """

    resource_version: str
    limit: int | None = None
    continue_: str = ""


@attrs.frozen(kw_only=True)
class WatchRequest:
    """Ask for all changes after *resource_version*, with bookmarks, for *timeout_seconds*."""

    resource_version: str
    timeout_seconds: int


@attrs.frozen(kw_only=True)
class Page(Generic[T]):
    """One answer to a `ListRequest`: the list is complete if *continue_* is empty."""

    objects: tuple[T, ...]
    resource_version: str
    continue_: str = ""
    unreadable: frozenset[ObjectKey] = frozenset()


@attrs.frozen(kw_only=True)
class Unlisted:
    """There is no list, or no watch can go on from the one we have.

    The next one is of *resource_version* or later. A watch from *refused* was refused: a
    cache that answers the list with it again must not be believed.
    """

    resource_version: str = "0"
    limit: int | None = None
    refused: str | None = None


@attrs.frozen(kw_only=True)
class Paging(Generic[T]):
    """A list that *request* will continue has given *pages* so far.

    *refused* is as in `Unlisted`.
    """

    request: ListRequest
    pages: tuple[Page[T], ...]
    refused: str | None = None


@attrs.frozen(kw_only=True)
class Listed:
    """The store is at *resource_version*; no watch is open.

    The last *barren* attempts to watch brought no event.
    """

    resource_version: str
    barren: int = 0


@attrs.define(kw_only=True)
class Watching:
    """A watch is open since *opened*; *resource_version* follows what it tells.

    A watch that began without an ordered version tells the present in no particular
    order, so that nothing may be resumed from its events: it stays where it began.
    """

    resource_version: str
    opened: float
    barren: int
    events: int = 0

    def advance(self, resource_version: str) -> None:
        """Note an event or bookmark of *resource_version*."""
        self.events += 1
        if resource_version and self.resource_version not in UNORDERED:
            self.resource_version = resource_version


State: TypeAlias = Unlisted | Paging[T] | Listed | Watching

ANEW = Unlisted(resource_version="", limit=PAGE_SIZE)
WHOLE = Unlisted(resource_version="")


class Watcher(Generic[T]):
    """Follows one resource: what to ask next, and what the answers mean.

    Guarantees: a watch resumes only from a version the server handed out as that of a
    list, an event or a bookmark; never twice in a row from one that it called gone,
    unless the newest state has it again; failures are spaced by a back-off.

    The first list may be as old as the cache of the server that answers; with *current*
    it is not older than the request.
    """

    def __init__(self, *, random: Callable[[], float], current: bool = False) -> None:
        self.state: State[T] = ANEW if current else Unlisted()
        self.wait = 0.0
        self._random = random
        self._backoff = RelistBackoff(random=random)

    def request(self) -> ListRequest | WatchRequest:
        """What to ask the API server, `wait` seconds from the last answer."""
        match self.state:
            case Unlisted(resource_version=version, limit=limit):
                return ListRequest(resource_version=version, limit=limit)
            case Paging(request=request):
                return request
            case Listed(resource_version=version) | Watching(resource_version=version):
                spread = int(SHORTEST_WATCH_SECONDS * self._random())
                timeout = SHORTEST_WATCH_SECONDS + spread
                return WatchRequest(resource_version=version, timeout_seconds=timeout)

    def listed(self, page: Page[T]) -> Replace[T] | None:
        """A page came; return what the store holds once it was the last."""
        before = self.state.pages if isinstance(self.state, Paging) else ()
        refused = self.state.refused if isinstance(self.state, Unlisted | Paging) else None
        pages, self.wait = (*before, page), 0.0
        if page.continue_:
            following = ListRequest(resource_version="", limit=PAGE_SIZE, continue_=page.continue_)
            self.state = Paging(request=following, pages=pages, refused=refused)
            return None
        again = refused is not None and refused == page.resource_version
        self.state = ANEW if again else Listed(resource_version=page.resource_version)
        return _joined(pages)

    def opened(self, now: float) -> None:
        """The server accepted the watch."""
        if isinstance(self.state, Listed):
            self.state = Watching(
                resource_version=self.state.resource_version,
                opened=now,
                barren=self.state.barren,
            )

    def advanced(self, resource_version: str) -> None:
        """An event or bookmark of *resource_version* was applied."""
        if isinstance(self.state, Watching):
            self.state.advance(resource_version)

    def ended(self, now: float) -> None:
        """The server ended the watch in good order."""
        if not isinstance(self.state, Watching):
            return
        hasty = now - self.state.opened < SHORT_WATCH_SECONDS
        self.wait = self._backoff.next(now) if hasty else 0.0
        self.state = _after_watch(self.state, hasty=hasty)

    def failed(self, error: ApiError, now: float) -> None:
        """The list or the watch failed with *error*."""
        self.wait = max(self._backoff.next(now), error.retry_after or 0.0)
        match self.state:
            case Listed() | Watching():
                self.state = _after_watch_failure(self.state, error)
            case Paging() if isinstance(error, GoneError):
                self.state = WHOLE
            case Unlisted() if isinstance(error, GoneError) or _ahead_of_server(error):
                self.state = ANEW
            case _:
                pass  # The same list again, after the wait.


def _joined(pages: tuple[Page[T], ...]) -> Replace[T]:
    """The list that *pages* are the pages of."""
    return Replace(
        objects=tuple(obj for page in pages for obj in page.objects),
        resource_version=pages[-1].resource_version,
        unreadable=frozenset().union(*(page.unreadable for page in pages)),
    )


def _after_watch_failure(state: Listed | Watching, error: ApiError) -> Unlisted | Listed:
    """Where a watch that failed with *error* leaves us."""
    version = state.resource_version
    if version in UNORDERED:
        return ANEW
    if isinstance(error, GoneError):
        return Unlisted(resource_version=version, refused=version)
    if _ahead_of_server(error) or isinstance(error, InvalidError) or error.code == BAD_REQUEST:
        return ANEW
    if isinstance(error, NotFoundError):
        return Unlisted(resource_version=version)
    if isinstance(error, ThrottledError | UnreachableError):
        return Listed(resource_version=version)
    return _resumed(state)


def _after_watch(state: Watching, *, hasty: bool) -> Unlisted | Listed:
    """Where a watch that ended in good order leaves us."""
    if state.resource_version in UNORDERED:
        return ANEW
    return _resumed(state) if hasty else Listed(resource_version=state.resource_version)


def _resumed(state: Listed | Watching) -> Unlisted | Listed:
    """Ready to resume; or to list, if resuming from here keeps bringing nothing."""
    brought = isinstance(state, Watching) and state.events > 0
    barren = 0 if brought else state.barren + 1
    if barren >= BARREN_WATCHES:
        return Unlisted(resource_version=state.resource_version)
    return Listed(resource_version=state.resource_version, barren=barren)


def _ahead_of_server(error: ApiError) -> bool:
    """Whether the server has not yet reached the resource version that we asked for."""
    return "ResourceVersionTooLarge" in error.causes
