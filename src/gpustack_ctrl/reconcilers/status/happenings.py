"""What of a pass deserves an Event: what people would want to be woken by, or look up.

An Instance that starts, runs and is deleted without trouble has none. All is drawn
from what was done and from what the status says anew, so nothing is told twice, however
often the operator looks or restarts.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import attrs

from gpustack_ctrl.api import names
from gpustack_ctrl.api.instance_status import InstanceStatus, LastTermination, Phase
from gpustack_ctrl.api.meta import Condition, condition_of
from gpustack_ctrl.plan.actions import Delete, Plan, Refused

NORMAL: Literal["Normal"] = "Normal"
WARNING: Literal["Warning"] = "Warning"

_PASSES_BY_ITSELF = frozenset({"PolicyPending"})  # Part of the ordinary way.
_VAGUE_ENDS = frozenset({"Error", "Completed"})  # The runtime's words for any code, and for 0.


@attrs.frozen(kw_only=True)
class Happening:
    """One Event about an Instance, but for its time: *action* is a verb."""

    type: Literal["Normal", "Warning"]
    reason: str
    action: str
    note: str


def deeds(plan: Plan, refused: Iterable[Refused]) -> tuple[Happening, ...]:
    """What of *plan* is worth telling, where it was not *refused*."""
    not_done = [refusal.action for refusal in refused]
    done = (action for action in plan if action not in not_done)
    pods = (
        action for action in done if isinstance(action, Delete) and action.resource == names.POD
    )
    return tuple(_DEEDS[action.because] for action in pods if action.because in _DEEDS)


_DEEDS: Mapping[str, Happening] = {
    "restarted": Happening(
        type=NORMAL,
        reason="Restarted",
        action="Restart",
        note="the Pod is replaced because spec.restartedAt changed",
    ),
    "failed": Happening(
        type=NORMAL,
        reason="Replaced",
        action="Replace",
        note="the Pod that failed is deleted, and another one is made in its place",
    ),
}


def changes(before: InstanceStatus, after: InstanceStatus) -> tuple[Happening, ...]:
    """What *after* says that *before* did not; of what has the same reason only the first."""
    found = (
        *_blocked(before, after),
        *_given_up(before, after),
        *_ended(before, after),
        *_stopped(before, after),
        *_node(before, after),
        *_stated(before, after),
    )
    return tuple({told.reason: told for told in reversed(found)}.values())[::-1]


def _blocked(before: InstanceStatus, after: InstanceStatus) -> Iterator[Happening]:
    """Another gate is shut, or the same one for another reason."""
    held, earlier = after.blocker, before.blocker
    if held is None or held.reason in _PASSES_BY_ITSELF:
        return
    if earlier is None or (earlier.gate, earlier.reason) != (held.gate, held.reason):
        action = "Expose" if held.gate == "ports" else "Start"
        yield Happening(type=WARNING, reason=held.reason, action=action, note=held.message)


def _given_up(before: InstanceStatus, after: InstanceStatus) -> Iterator[Happening]:
    """Another Pod failed, and it was the last try."""
    told, earlier = after.failures, before.failures
    if told is None or told.retryAt is not None or after.phase is not Phase.FAILED:
        return
    if earlier is None or earlier.podUID != told.podUID:
        note = (
            f"{told.count} Pods failed in a row and no more are tried: "
            "stop and start the Instance to try again"
        )
        yield Happening(type=WARNING, reason="GivenUp", action="Replace", note=note)


def _ended(before: InstanceStatus, after: InstanceStatus) -> Iterator[Happening]:
    """The workload ended, and nobody had asked it to."""
    told = after.lastTermination
    if told is None or _identity(told) == _identity(before.lastTermination):
        return
    reason = "Exited" if told.reason in _VAGUE_ENDS else told.reason
    kind = NORMAL if told.exitCode == 0 else WARNING
    yield Happening(type=kind, reason=reason, action="Run", note=_end(told))


def _identity(told: LastTermination | None) -> tuple[str, str, str | None] | None:
    return (told.podUID, told.reason, told.finishedAt) if told else None


def _end(told: LastTermination) -> str:
    code = "" if told.exitCode is None else f", exit code {told.exitCode}"
    signal = "" if told.signal is None else f", signal {told.signal}"
    lost = "; the ephemeral volume is lost" if told.dataLost else ""
    said = f": {told.message}" if told.message else ""
    return f"the workload ended: {told.reason}{code}{signal}{lost}{said}"


def _stopped(before: InstanceStatus, after: InstanceStatus) -> Iterator[Happening]:
    """It ran, or was to run, before: one that was made stopped did not stop."""
    if after.phase is Phase.STOPPED and before.phase not in (None, Phase.STOPPED):
        note = "the Pod is gone; ports and volumes are kept"
        yield Happening(type=NORMAL, reason="Stopped", action="Stop", note=note)


def _node(before: InstanceStatus, after: InstanceStatus) -> Iterator[Happening]:
    if after.phase is Phase.UNKNOWN and before.phase is not Phase.UNKNOWN:
        note = f"node {after.nodeName} does not answer: nothing is known of the workload"
        yield Happening(type=WARNING, reason="NodeLost", action="Run", note=note)
    if before.phase is Phase.UNKNOWN and after.phase is Phase.READY:
        note = f"node {after.nodeName} answers again, and the workload is Ready"
        yield Happening(type=NORMAL, reason="NodeReturned", action="Run", note=note)


def _stated(before: InstanceStatus, after: InstanceStatus) -> Iterator[Happening]:
    """The conditions that nothing else tells, where they are new."""
    for condition in after.conditions:
        earlier = condition_of(before.conditions, condition.type)
        happening = _of_condition(condition)
        if happening is not None and (earlier is None or _of_condition(earlier) is None):
            yield happening


def _of_condition(said: Condition) -> Happening | None:
    match (said.type, said.status, said.reason):
        case ("NameConflict", "True", _):
            return Happening(type=WARNING, reason=said.type, action="Start", note=said.message)
        case ("PortsReady", "False", "NodePortTaken"):
            return Happening(type=WARNING, reason=said.reason, action="Expose", note=said.message)
        case ("RestartPending", "True", _):
            return Happening(type=NORMAL, reason=said.type, action="Restart", note=said.message)
    return None
