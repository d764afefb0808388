"""Who may read a page: the API server is asked, as it is for its own pages.

The token that comes with a request is reviewed, then whether its bearer may `get` the path
`/metrics`: what kube-rbac-proxy and the servers of controller-runtime do. Where there is no
answer, nobody new is let in.
"""

import asyncio
import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Protocol

import attrs
import structlog
from aiohttp import hdrs, web

from gpustack_ctrl.api.errors import ApiError, ForbiddenError, UnreachableError
from gpustack_ctrl.api.names import METRICS_GUARD_ROLE, METRICS_READER_ROLE
from gpustack_ctrl.api.review import GET_METRICS, Access, User
from gpustack_ctrl.runtime.clock import Clock

ADMITTED_SECONDS = 60.0
"""How long a right that was taken away may still be used."""
REFUSED_SECONDS = 10.0
"""How long a right that was just given may have to wait."""
MOST_REMEMBERED = 1024
MOST_AT_ONCE = 8
"""Questions in flight; strangers with ever new tokens must not hold up our other requests."""

log = structlog.get_logger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Reviews(Protocol):
    """What the API server can be asked; both raise `ApiError` where there is no answer."""

    async def bearer(self, token: str) -> User | None:
        """Whose *token* is; None when it is nobody's."""
        ...

    async def allowed(self, user: User, access: Access) -> bool:
        """Whether *user* has *access*."""
        ...


@attrs.frozen
class Verdict:
    """What a request is answered before it is looked at; *why* it is not let in."""

    status: HTTPStatus
    why: str = ""

    @property
    def admits(self) -> bool:
        """Whether the request goes on."""
        return self.status is HTTPStatus.OK


ADMITTED = Verdict(HTTPStatus.OK)
NO_TOKEN = Verdict(
    HTTPStatus.UNAUTHORIZED, "there is no bearer token: send that of a ServiceAccount"
)
STRANGER = Verdict(
    HTTPStatus.UNAUTHORIZED, "the API server does not know the bearer token: is it expired?"
)
CROWDED = Verdict(
    HTTPStatus.SERVICE_UNAVAILABLE, "too many unknown bearer tokens at once: come back later"
)


def bearer_token(authorization: str) -> str | None:
    """The token in an `Authorization` header."""
    scheme, _, token = authorization.strip().partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def not_granted(user: User, access: Access) -> Verdict:
    """The verdict on *user*, whom the API server knows, but does not give *access*."""
    why = f"{user.username!r} may not {access.verb} {access.path}"
    return Verdict(HTTPStatus.FORBIDDEN, f"{why}: bind it to the ClusterRole {METRICS_READER_ROLE}")


def unanswered(error: ApiError) -> Verdict:
    """The verdict on a token about which the API server could not be asked."""
    match error:
        case UnreachableError():
            why = "the API server does not answer"
        case ForbiddenError():
            why = f"bind this server's ServiceAccount to the ClusterRole {METRICS_GUARD_ROLE}"
        case _:
            why = f"the API server answers {error.code}"
    return Verdict(HTTPStatus.SERVICE_UNAVAILABLE, f"the bearer token cannot be reviewed: {why}")


@attrs.define
class Memory:
    """The verdicts of the last *seconds*, and the keys of some older ones.

    When there are too many, those go that were not asked for the longest.
    """

    clock: Clock
    seconds: float
    most: int = MOST_REMEMBERED
    _held: "OrderedDict[bytes, tuple[float, Verdict]]" = attrs.field(
        factory=OrderedDict, init=False
    )

    def __contains__(self, key: bytes) -> bool:
        return key in self._held

    def get(self, key: bytes) -> Verdict | None:
        """The verdict of *key*, unless it is too old."""
        until, verdict = self._held.get(key, (0.0, None))
        if verdict is None or self.clock.monotonic() >= until:
            return None
        self._held.move_to_end(key)
        return verdict

    def keep(self, key: bytes, verdict: Verdict) -> None:
        """Remember *verdict* from now on."""
        self._held[key] = (self.clock.monotonic() + self.seconds, verdict)
        self._held.move_to_end(key)
        if len(self._held) > self.most:
            self._held.popitem(last=False)

    def forget(self, key: bytes) -> None:
        """Forget *key*, if it is known."""
        self._held.pop(key, None)


class Guard:
    """Says who may read what *access* stands for, as *reviews* say.

    Guarantees: a token is never kept, logged or answered, only a keyed hash of it is held. It
    is asked about once at a time, however many requests bring it. Refused ones push nobody
    out of memory who was let in.
    """

    def __init__(self, *, reviews: Reviews, clock: Clock, access: Access = GET_METRICS) -> None:
        self._reviews = reviews
        self._access = access
        self._admitted = Memory(clock, ADMITTED_SECONDS)
        self._refused = Memory(clock, REFUSED_SECONDS)
        self._asking: dict[bytes, asyncio.Task[Verdict]] = {}
        self._key = secrets.token_bytes(32)
        self._fault = ""

    async def verdict(self, authorization: str) -> Verdict:
        """The verdict on a request with that `Authorization` header."""
        token = bearer_token(authorization)
        if token is None:
            return NO_TOKEN
        key = hashlib.blake2b(token.encode(errors="surrogateescape"), key=self._key).digest()
        known = self._admitted.get(key) or self._refused.get(key)
        return known or await self._asked(key, token)

    async def _asked(self, key: bytes, token: str) -> Verdict:
        task = self._asking.get(key)
        if task is None:
            if len(self._asking) >= MOST_AT_ONCE and key not in self._admitted:
                return CROWDED
            task = self._asking[key] = asyncio.create_task(self._review(key, token))
        return await asyncio.shield(task)  # One who leaves must not end it for the others.

    async def _review(self, key: bytes, token: str) -> Verdict:
        try:
            verdict = await self._decided(token)
        except ApiError as error:
            self._tell(str(error).replace(token, "(token)"))
            return unanswered(error)
        finally:
            del self._asking[key]
        self._tell("")
        self._remember(key, verdict)
        return verdict

    async def _decided(self, token: str) -> Verdict:
        user = await self._reviews.bearer(token)
        if user is None:
            return STRANGER
        allowed = await self._reviews.allowed(user, self._access)
        return ADMITTED if allowed else not_granted(user, self._access)

    def _remember(self, key: bytes, verdict: Verdict) -> None:
        if verdict.admits:
            self._admitted.keep(key, verdict)
            return
        self._admitted.forget(key)
        self._refused.keep(key, verdict)

    def _tell(self, fault: str) -> None:
        """Log *fault*, unless it was the last one, too."""
        if fault and fault != self._fault:
            log.warning("bearer tokens cannot be reviewed", error=fault)
        self._fault = fault


def guarded(app: web.Application, guard: Guard) -> web.Application:
    """*app*, to which *guard* lets nobody through who may not read it."""

    @web.middleware
    async def ask_first(request: web.Request, handler: Handler) -> web.StreamResponse:
        verdict = await guard.verdict(request.headers.get(hdrs.AUTHORIZATION, ""))
        return await handler(request) if verdict.admits else _refusal(verdict)

    app.middlewares.append(ask_first)
    return app


def _refusal(verdict: Verdict) -> web.Response:
    headers = {hdrs.CACHE_CONTROL: "no-store"}
    if verdict.status is HTTPStatus.UNAUTHORIZED:
        headers[hdrs.WWW_AUTHENTICATE] = "Bearer"
    return web.Response(status=verdict.status, text=f"{verdict.why}\n", headers=headers)
