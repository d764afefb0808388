"""Who we are to the API server, kept fresh: renewed before it expires and when refused."""

import asyncio
from collections.abc import Mapping
from typing import Protocol, Self
from urllib.parse import urlsplit

import aiohttp
import attrs
import structlog

from gpustack_ctrl.client.errors import ConfigurationError
from gpustack_ctrl.client.sessions import Endpoint, Pool, Sessions
from gpustack_ctrl.runtime.clock import Clock

BETWEEN_FORCED_RENEWALS_SECONDS = 10.0
AFTER_FAILED_RENEWAL_SECONDS = 10.0

log = structlog.get_logger()


@attrs.frozen(kw_only=True)
class Access:
    """What a login gave: where to connect, what to say there, and for how long it is good.

    *lifetime* is in seconds, already less a margin; infinite if nothing is known to expire.
    """

    endpoint: Endpoint
    headers: Mapping[str, str]
    lifetime: float


class Login(Protocol):
    """Where credentials come from."""

    async def log_in(self, *, anew: bool) -> Access:
        """Read them again; *anew* also runs what is cached. Raise `ConfigurationError`."""
        ...


class Connection:
    """The API server as one identity of ours sees it.

    Guarantees: `headers` are renewed before they expire, at the cost of one request: others
    go on with the old ones meanwhile, as all do when a renewal fails. Requests that are
    refused at the same time cause one renewal. A change of certificates replaces all
    sessions, which fails what is in flight.
    """

    def __init__(self, login: Login, access: Access, clock: Clock) -> None:
        self._login = login
        self._clock = clock
        self._renewing = asyncio.Lock()
        self._forced_at = float("-inf")
        self.sessions = Sessions(access.endpoint)
        self._adopt(access)

    @classmethod
    async def open(cls, login: Login, clock: Clock) -> Self:
        """Log in; raise `ConfigurationError`. Nothing is asked of the API server yet."""
        return cls(login, await login.log_in(anew=True), clock)

    @property
    def endpoint(self) -> Endpoint:
        """Where the API server is."""
        return self._access.endpoint

    @property
    def host(self) -> str:
        """The URL of the API server, without a slash at its end."""
        return self.endpoint.host

    @property
    def authority(self) -> str:
        """The host and port of the API server, as metrics name it."""
        return urlsplit(self.host).netloc

    @property
    def server_name(self) -> str | None:
        """The name in the server's certificate, if it is not that in the URL."""
        return self._access.endpoint.server_name

    def session(self, pool: Pool) -> aiohttp.ClientSession:
        """The current session of *pool*; do not keep it over an await."""
        return self.sessions[pool]

    @property
    def renewing(self) -> bool:
        """Whether new credentials are being fetched."""
        return self._renewing.locked()

    async def headers(self) -> Mapping[str, str]:
        """What each request says of us: the authorization, if there is one, and our name."""
        if self._clock.monotonic() >= self._due and not self.renewing:
            async with self._renewing:
                await self._renew(anew=False)
        return self._access.headers

    async def renew(self, refused: Mapping[str, str]) -> bool:
        """Replace the *refused* headers; return whether there is something new to try."""
        async with self._renewing:
            if self._access.headers is not refused:
                return True
            if self._clock.monotonic() - self._forced_at < BETWEEN_FORCED_RENEWALS_SECONDS:
                return False
            self._forced_at = self._clock.monotonic()
            return await self._renew(anew=True)

    async def close(self) -> None:
        """Close all connections."""
        await self.sessions.close(self._clock)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _renew(self, *, anew: bool) -> bool:
        """Log in again; return whether anything changed."""
        try:
            access = await self._login.log_in(anew=anew)
            changed = await self._reconnect(access.endpoint)
        except (ConfigurationError, OSError) as error:
            log.warning("credentials not renewed", error=str(error))
            self._due = self._clock.monotonic() + AFTER_FAILED_RENEWAL_SECONDS
            return False
        changed = changed or access.headers != self._access.headers
        self._adopt(access)
        return changed

    def _adopt(self, access: Access) -> None:
        self._access = access
        self._due = self._clock.monotonic() + access.lifetime

    async def _reconnect(self, endpoint: Endpoint) -> bool:
        """Replace the sessions if *endpoint* or its certificates are others."""
        if endpoint == self._access.endpoint:
            return False
        before, self.sessions = self.sessions, Sessions(endpoint)
        await before.close(self._clock)
        return True
