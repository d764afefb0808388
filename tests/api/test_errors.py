"""The one error that each answer of the API server stands for."""

from typing import Any

import pytest

from gpustack_ctrl.api import errors
from gpustack_ctrl.api.errors import ApiError, error_for


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (400, "BadRequest", ApiError),
        (401, "Unauthorized", errors.UnauthorizedError),
        (403, "Forbidden", errors.ForbiddenError),
        (404, "NotFound", errors.NotFoundError),
        (405, "MethodNotAllowed", ApiError),
        (409, "Conflict", errors.ConflictError),
        (409, "AlreadyExists", errors.AlreadyExistsError),
        (410, "Gone", errors.GoneError),
        (410, "Expired", errors.GoneError),
        (422, "Invalid", errors.InvalidError),
        (429, "TooManyRequests", errors.ThrottledError),
        (500, "InternalError", errors.ServerError),
        (503, "ServiceUnavailable", errors.ServerError),
        (504, "Timeout", errors.ServerError),
    ],
)
def test_each_answer_has_its_class(code: int, reason: str, kind: type[ApiError]) -> None:
    error = error_for(code, {"reason": reason, "message": "no"})

    assert kind is type(error)
    assert (code, reason, "no", "no") == (error.code, error.reason, error.message, str(error))


def test_an_object_that_is_there_already_is_a_conflict() -> None:
    assert isinstance(error_for(409, {"reason": "AlreadyExists"}), errors.ConflictError)


@pytest.mark.parametrize("status", [{}, {"message": None, "reason": None, "details": None}])
def test_an_answer_that_says_nothing_is_told_by_its_code(status: dict[str, Any]) -> None:
    error = error_for(418, status)

    assert "the API server answered 418" == error.message
    assert () == error.causes


def test_causes_and_the_wish_to_wait_are_kept() -> None:
    details = {"causes": [{"reason": "NamespaceTerminating"}, {}]}
    error = error_for(403, {"details": details}, retry_after=2.5)

    assert ("NamespaceTerminating", "") == error.causes
    assert 2.5 == error.retry_after
