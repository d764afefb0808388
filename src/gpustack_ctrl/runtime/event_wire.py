"""Events as the API server takes them: events.k8s.io/v1."""

from datetime import datetime
from typing import Any

from gpustack_ctrl.api import names
from gpustack_ctrl.api.codec import Json
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.runtime.event_series import ObjectReference, Series

LONGEST_NOTE = 1024
LONGEST_WORD = 128
OF_THE_CLUSTER = "default"
_CUT = "..."


def event_key(series: Series) -> ObjectKey:
    """Where the Event of *series* lives: those of cluster-scoped objects live in `default`."""
    return ObjectKey(series.first.regarding.namespace or OF_THE_CLUSTER, series.name)


def event(series: Series, *, controller: str, instance: str) -> Json:
    """The Event of *series*, reported by *controller*, of which *instance* is one process."""
    key, first = event_key(series), series.first
    body: dict[str, Any] = {
        "apiVersion": names.EVENT.api_version,
        "kind": names.EVENT.kind,
        "metadata": {"name": key.name, "namespace": key.namespace},
        "eventTime": micro_time(series.began),
        "reportingController": controller,
        "reportingInstance": instance[:LONGEST_WORD],
        "regarding": _reference(first.regarding),
        "type": first.type,
        "reason": word(first.reason),
        "action": word(first.action),
        "note": note(first.note),
    }
    if first.related is not None:
        body["related"] = _reference(first.related)
    return {**body, **repetition(series)} if series.count > 1 else body


def repetition(series: Series) -> Json:
    """How often *series* occurred, and when last: the merge patch of its Event."""
    return {"series": {"count": series.count, "lastObservedTime": micro_time(series.last)}}


def _reference(to: ObjectReference) -> Json:
    wire = {
        "apiVersion": to.api_version,
        "kind": to.kind,
        "name": to.name,
        "namespace": to.namespace,
        "uid": to.uid,
    }
    return {field: value for field, value in wire.items() if value}


def micro_time(moment: datetime) -> str:
    """*moment*, in UTC, with its microseconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def word(text: str) -> str:
    """The letters and digits of *text*, as many as there may be; `Unknown` for none."""
    return "".join(c for c in text if c.isascii() and c.isalnum())[:LONGEST_WORD] or "Unknown"


def note(text: str) -> str:
    """*text* on one line, without what a terminal might obey, in at most 1024 bytes."""
    plain = "".join(c if c.isprintable() else " " for c in text)
    line = " ".join(plain.split())
    if len(line.encode()) <= LONGEST_NOTE:
        return line
    room = LONGEST_NOTE - len(_CUT)
    return line.encode()[:room].decode(errors="ignore").rstrip() + _CUT
