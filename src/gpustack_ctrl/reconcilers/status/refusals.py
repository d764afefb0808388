"""What the API server said no to, told as the gate that holds an Instance back."""

from collections.abc import Iterable

from gpustack_ctrl.api.errors import ApiError, ForbiddenError, InvalidError
from gpustack_ctrl.api.instance_status import Blocker
from gpustack_ctrl.plan.actions import Refused

LONGEST = 2048
_NO_NODE_PORT = "failed to allocate a nodePort"
_GATES = (
    ("exceeded quota", "quota", "QuotaExceeded", "admin"),
    ("failed quota", "quota", "QuotaNeedsLimits", "admin"),
    ("violates PodSecurity", "podSecurity", "PodSecurityViolation", "admin"),
    ("provided port is already allocated", "ports", "NodePortTaken", "user"),
    (_NO_NODE_PORT, "ports", "NodePortsExhausted", "admin"),
    ("is being terminated", "namespace", "NamespaceTerminating", "user"),
    ("usage per Container", "limitRange", "LimitRangeViolation", "user"),
    ("usage per Pod", "limitRange", "LimitRangeViolation", "user"),
    ('is forbidden: User "', "permission", "Forbidden", "admin"),
    ("is forbidden: cannot set ", "permission", "Forbidden", "admin"),
)


def blocker_of(refusals: Iterable[Refused]) -> Blocker | None:
    """The gate of the first refusal that says something about the Instance.

    A conflict or a lost connection is the operator's own business and passes by itself.
    """
    return next((_told(refused) for refused in refusals if _lasting(refused.error)), None)


def _lasting(error: ApiError) -> bool:
    # The API server calls a full range of node ports an error of its own.
    return isinstance(error, ForbiddenError | InvalidError) or _NO_NODE_PORT in error.message


def _told(refused: Refused) -> Blocker:
    sentence = refused.error.message
    for sign, gate, reason, owner in _GATES:
        if sign in sentence:
            return Blocker(gate=gate, reason=reason, message=sentence[:LONGEST], owner=owner)
    kind = refused.action.resource.kind
    return Blocker(gate="admission", reason=f"{kind}Refused", message=sentence[:LONGEST])
