"""The errors that answers of the API server stand for."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from multidict import CIMultiDictProxy

from gpustack_ctrl.api.errors import ApiError, error_for

PRIORITY_AND_FAIRNESS: Mapping[str, str] = {
    "X-Kubernetes-PF-FlowSchema-UID": "flowSchemaUID",
    "X-Kubernetes-PF-PriorityLevel-UID": "priorityLevelUID",
}
CONFLICT = 409
TOO_MANY_REQUESTS = 429
LONGEST_EXCERPT = 200

_WARNING = re.compile(r'\d{3} \S+ "((?:[^"\\]|\\.)*)"')


def refusal(code: int, headers: CIMultiDictProxy[str], body: bytes) -> ApiError:
    """The error for an answer with HTTP *code*, whatever its *body* holds.

    A 429 says in its details which flow schema and priority level were full. A patch that
    names the UID of another object is a conflict, as it is for the other verbs.
    """
    status = status_of(body)
    if code == TOO_MANY_REQUESTS:
        status = {**status, "details": {**(status.get("details") or {}), **_flow(headers)}}
    if _is_of_another(status):
        code = CONFLICT
    return error_for(code, status, retry_after=_seconds(headers.get("Retry-After", "")))


def status_of(body: bytes) -> Mapping[str, Any]:
    """The `Status` in *body*; or one whose message is what else *body* says."""
    try:
        held = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        held = None
    if isinstance(held, dict) and held.get("kind") == "Status":
        return held
    return {"message": " ".join(body.decode(errors="replace").split())[:LONGEST_EXCERPT]}


def warnings(headers: CIMultiDictProxy[str]) -> tuple[str, ...]:
    """The texts of the `Warning` headers, such as that of a deprecated version."""
    values = headers.getall("Warning", ())
    texts = (match.group(1) for value in values for match in _WARNING.finditer(value))
    return tuple(text.replace('\\"', '"').replace("\\\\", "\\") for text in texts)


def _is_of_another(status: Mapping[str, Any]) -> bool:
    """Whether a patch named a UID that the object does not have: an "immutable field"."""
    causes = (status.get("details") or {}).get("causes") or ()
    return any(cause.get("field") == "metadata.uid" for cause in causes)


def _flow(headers: CIMultiDictProxy[str]) -> Mapping[str, str]:
    return {
        detail: headers[header]
        for header, detail in PRIORITY_AND_FAIRNESS.items()
        if header in headers
    }


def _seconds(value: str) -> float | None:
    """Seconds to wait by a `Retry-After` header; the API server never sends a date."""
    return float(value) if value.strip().isdigit() else None
