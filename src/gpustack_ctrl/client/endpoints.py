"""End points on nodes that need no credentials of ours, such as exporters of accelerators."""

from typing import Self

import aiohttp

from gpustack_ctrl.client.answers import Question, answer
from gpustack_ctrl.client.kubelets import CONNECT_SECONDS
from gpustack_ctrl.client.sessions import watchful_socket


class Endpoints:
    """Asks end points by URL, and says nothing of who we are; each answer has *seconds*."""

    def __init__(self, *, seconds: float) -> None:
        self._seconds = seconds
        connector = aiohttp.TCPConnector(limit=0, socket_factory=watchful_socket)
        self._session = aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
        )

    async def get(self, url: str) -> bytes:
        """What is at *url*; raise `SourceError`."""
        return await answer(self._session, Question(who=url, url=url, seconds=self._seconds))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()
