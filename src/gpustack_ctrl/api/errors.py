"""What the API server may answer instead of doing as it was asked.

There is one class for each answer that somebody branches on. `ApiError` carries the
server's own sentence, because that sentence is what a user needs to read.
"""

from collections.abc import Mapping
from typing import Any

from gpustack_ctrl.api.unread import Unread


class ApiError(Exception):
    """The API server refused a request, or could not be asked."""

    def __init__(
        self,
        message: str,
        *,
        code: int = 0,
        reason: str = "",
        details: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.reason = reason
        self.details = details or {}
        self.retry_after = retry_after

    @property
    def causes(self) -> tuple[str, ...]:
        """The reasons of the single causes, such as `NamespaceTerminating`."""
        return tuple(str(cause.get("reason", "")) for cause in self.details.get("causes") or ())


class UnreachableError(ApiError):
    """No answer came: connection refused, reset, timed out or not trusted."""


class UnauthorizedError(ApiError):
    """401: the credentials are missing, wrong or expired."""


class ForbiddenError(ApiError):
    """403: RBAC, quota, Pod Security or another admission plugin said no."""


class NotFoundError(ApiError):
    """404: the object, or its whole kind, does not exist."""


class ConflictError(ApiError):
    """409: a precondition (`uid`, `resourceVersion`) does not hold any more."""


class AlreadyExistsError(ConflictError):
    """409 with reason AlreadyExists: an object of that name is there."""


class GoneError(ApiError):
    """410: the resource version is too old to watch from, a list token has expired."""


class InvalidError(ApiError):
    """422: the object breaks a rule of its kind; repeating changes nothing."""


class ThrottledError(ApiError):
    """429: the API server asks us to come back later."""


class ServerError(ApiError):
    """500 and above: the fault is on the other side."""


_BY_CODE: Mapping[int, type[ApiError]] = {
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: GoneError,
    422: InvalidError,
    429: ThrottledError,
}
SERVER_ERRORS_FROM = 500


def error_for(
    code: int, status: Mapping[str, Any], *, retry_after: float | None = None
) -> ApiError:
    """The error that a `Status` object with HTTP *code* stands for."""
    reason = str(status.get("reason") or "")
    kind = _BY_CODE.get(code, ServerError if code >= SERVER_ERRORS_FROM else ApiError)
    if reason == "AlreadyExists":
        kind = AlreadyExistsError
    if reason == "Expired":
        kind = GoneError
    message = str(status.get("message") or f"the API server answered {code}")
    details = status.get("details") or {}
    return kind(message, code=code, reason=reason, details=details, retry_after=retry_after)


class SourceError(Exception):
    """A source of figures gave none: *reason* is for series, the message for people."""

    def __init__(self, reason: Unread, message: str) -> None:
        super().__init__(message)
        self.reason = reason
