"""What the API server says of those who ask us something."""

from collections.abc import Callable
from typing import TypeVar

import attrs
import msgspec

from gpustack_ctrl.api.codec import reader
from gpustack_ctrl.api.errors import ServerError
from gpustack_ctrl.api.names import SUBJECT_ACCESS_REVIEW, TOKEN_REVIEW
from gpustack_ctrl.api.review import (
    Access,
    AccessReview,
    TokenReview,
    User,
    access_review,
    token_review,
)
from gpustack_ctrl.client.rest import Rest

T = TypeVar("T")


@attrs.frozen
class Reviews:
    """Asks over *rest*; both questions raise `ApiError` where there is no answer."""

    rest: Rest

    async def bearer(self, token: str) -> User | None:
        """Whose *token* is; None when it is nobody's."""
        answer = await self.rest.create(TOKEN_REVIEW, token_review(token))
        status = _read(answer, reader(TokenReview)).status
        return status.user if status.authenticated else None

    async def allowed(self, user: User, access: Access) -> bool:
        """Whether *user* has *access*."""
        answer = await self.rest.create(SUBJECT_ACCESS_REVIEW, access_review(user, access))
        status = _read(answer, reader(AccessReview)).status
        return status.allowed and not status.denied


def _read(answer: bytes, read: Callable[[bytes], T]) -> T:
    try:
        return read(answer)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        # What is at fault is not quoted: the answer repeats the token.
        raise ServerError("the API server's answer to a review cannot be read") from error
