"""Answers of servers that are not the API server: bounded, and told apart when they fail."""

import asyncio
from collections.abc import Mapping

import aiohttp
import attrs

from gpustack_ctrl.api.errors import SourceError
from gpustack_ctrl.api.unread import Unread
from gpustack_ctrl.client.errors import one_line

LARGEST_BYTES = 16 * 1024 * 1024
CHUNK_BYTES = 64 * 1024
OK = 200
AS_IT_IS = {"Accept-Encoding": "identity"}
"""No answer is unpacked: a small one could become a very large one."""
_REFUSALS = {401: Unread.UNAUTHORIZED, 403: Unread.FORBIDDEN, 404: Unread.NOT_FOUND}


@attrs.frozen(kw_only=True)
class Question:
    """What is asked of *who*, by which *headers*, and how long its answer may take."""

    who: str
    url: str
    headers: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    seconds: float


async def answer(session: aiohttp.ClientSession, question: Question) -> bytes:
    """The whole answer; raise `SourceError`.

    Redirects are not followed: the credentials are for that server alone.
    """
    try:
        async with (
            asyncio.timeout(question.seconds),
            session.get(question.url, headers=question.headers, allow_redirects=False) as response,
        ):
            if response.status != OK:
                raise _refused(question, response.status)
            return await _body(question, response)
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:  # The URL, too.
        raise _failed(question, error) from error


async def _body(question: Question, response: aiohttp.ClientResponse) -> bytes:
    """All of it, or nothing: memory is not its sender's to fill."""
    held = bytearray()
    async for piece in response.content.iter_chunked(CHUNK_BYTES):
        held += piece
        if len(held) > LARGEST_BYTES:
            response.close()
            limit = f"{LARGEST_BYTES // 1024 // 1024} MiB"
            raise SourceError(Unread.TOO_LARGE, f"{question.who} answers with more than {limit}")
    return bytes(held)


def _refused(question: Question, status: int) -> SourceError:
    reason = _REFUSALS.get(status, Unread.HTTP_ERROR)
    return SourceError(reason, f"{question.who} answers {question.url} with {status}")


def _failed(question: Question, error: Exception) -> SourceError:
    """Why there was no answer, or half of one."""
    return SourceError(_reason(error), f"{question.who}: {one_line(error)}")


def _reason(error: Exception) -> Unread:
    match error:
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
            return Unread.UNTRUSTED
        case aiohttp.ClientConnectorError():
            return Unread.UNREACHABLE
        case TimeoutError():
            return Unread.TIMEOUT
        case aiohttp.ClientPayloadError() | aiohttp.ServerDisconnectedError():
            return Unread.TRUNCATED
        case _:
            return Unread.BROKEN
