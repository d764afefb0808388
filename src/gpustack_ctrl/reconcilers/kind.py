"""What every child kind has in common: a resource, the verbs it needs, and a plan."""

from collections.abc import Callable
from typing import Generic, TypeVar

import attrs

from gpustack_ctrl.api.meta import Resource
from gpustack_ctrl.plan.actions import Plan

S = TypeVar("S")


@attrs.frozen(kw_only=True)
class ChildKind(Generic[S]):
    """One kind of child: *plan* is pure and names what to do about it, given a snapshot."""

    resource: Resource
    verbs: tuple[str, ...]
    plan: Callable[[S], Plan]


def plan_all(kinds: tuple[ChildKind[S], ...], seen: S) -> Plan:
    """What all *kinds* want done, in the order of the registry."""
    return tuple(action for kind in kinds for action in kind.plan(seen))
