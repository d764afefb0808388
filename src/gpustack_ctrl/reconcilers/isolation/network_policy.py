"""The isolation policy of a namespace, which belongs to no single Instance.

A hand-written policy of the same name is taken over while isolation is on, since
leaving it would let a tenant switch isolation off. What it said is kept in an annotation
and given back exactly when isolation is switched off.
"""

from collections.abc import Mapping
from typing import Any

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.core import NetworkPolicy
from gpustack_ctrl.api.meta import ObjectMeta
from gpustack_ctrl.plan.actions import Create, Plan, create, delete
from gpustack_ctrl.plan.diff import diff, patched
from gpustack_ctrl.reconcilers.isolation import replaced_policy
from gpustack_ctrl.reconcilers.isolation.cidrs import normal, render
from gpustack_ctrl.reconcilers.kind import ChildKind
from gpustack_ctrl.reconcilers.snapshot import NamespaceSnapshot

_WHOLE = frozenset({"spec"})
_MARK = {names.MANAGED_BY: names.PRODUCT}


def plan(seen: NamespaceSnapshot) -> Plan:
    """What to do about the policy of one namespace."""
    if seen.cidrs is None:
        return ()
    if not seen.cidrs:
        return _without(seen.policy)
    return _with(seen, render(seen.cidrs))


def _with(seen: NamespaceSnapshot, spec: Mapping[str, Any]) -> Plan:
    """Make the policy say *spec*, also while it is being deleted: it counts until it is gone.

    By a finalizer a tenant could keep it there, opened, for as long as he likes.
    """
    have = seen.policy
    if have is None:
        return (_made(seen.namespace, spec),) if seen.occupied else ()
    if not seen.occupied and not _marked(have):
        return ()
    want = {"metadata": {"labels": _MARK, "annotations": _kept(have, spec)}, "spec": spec}
    held = {"metadata": _labelled(have.metadata), "spec": normal(have.spec)}
    return diff(names.NETWORK_POLICY, want, held, seen=have.metadata, whole=_WHOLE)


def _without(have: NetworkPolicy | None) -> Plan:
    if have is None or have.metadata.deleting or not _marked(have):
        return ()
    if replaced_policy.is_kept(have.metadata):
        patch = replaced_policy.given_back(have)
        return patched(names.NETWORK_POLICY, patch, seen=have.metadata)
    return (delete(names.NETWORK_POLICY, have.metadata, because="isolation is off"),)


def _made(namespace: str, spec: Mapping[str, Any]) -> Create:
    metadata = ObjectMeta(name=names.ISOLATION_POLICY, namespace=namespace, labels=_MARK)
    made = NetworkPolicy(metadata=metadata, spec=spec)
    return create(names.NETWORK_POLICY, metadata, codec.to_wire(made))


def _kept(have: NetworkPolicy, spec: Mapping[str, Any]) -> dict[str, str]:
    """What to remember of a hand-written policy; one that says *spec* lost its mark."""
    if _marked(have) or replaced_policy.is_kept(have.metadata) or normal(have.spec) == spec:
        return {}
    return replaced_policy.kept(have)


def _marked(policy: NetworkPolicy) -> bool:
    return policy.metadata.labels.get(names.MANAGED_BY) == names.PRODUCT


def _labelled(metadata: ObjectMeta) -> dict[str, Any]:
    return {"labels": metadata.labels, "annotations": metadata.annotations}


KIND = ChildKind(
    resource=names.NETWORK_POLICY,
    verbs=("list", "watch", "create", "patch", "delete"),
    plan=plan,
)
