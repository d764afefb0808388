"""End points that are no part of Kubernetes, such as exporters."""

from collections.abc import Mapping
from typing import Self

import aiohttp

from gpustack_ctrl.client.answers import AS_IT_IS, Question, answer
from gpustack_ctrl.client.kubelets import CONNECT_SECONDS
from gpustack_ctrl.client.sessions import watchful_socket


class Endpoints:
    """Asks end points by URL; each answer has *seconds*. Only *headers* say who we are.

    Certificates are checked against the system's authorities, unless *insecure*.
    """

    def __init__(
        self, *, seconds: float, headers: Mapping[str, str] | None = None, insecure: bool = False
    ) -> None:
        self._seconds = seconds
        connector = aiohttp.TCPConnector(limit=0, ssl=not insecure, socket_factory=watchful_socket)
        self._session = aiohttp.ClientSession(
            connector=connector,
            headers={**AS_IT_IS, **(headers or {})},
            auto_decompress=False,
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
