"""Decisions about each kind: from what one pass saw to what it does and what it tells.

Everything here is pure. The registries below are what the informers, the permissions
and the tests are derived from.
"""

from gpustack_ctrl.reconcilers import pod, service
from gpustack_ctrl.reconcilers.isolation import network_policy
from gpustack_ctrl.reconcilers.kind import ChildKind
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot, NamespaceSnapshot

INSTANCE_KINDS: tuple[ChildKind[InstanceSnapshot], ...] = (service.KIND, pod.KIND)
"""The children of an Instance, in the order in which a plan names them."""

NAMESPACE_KINDS: tuple[ChildKind[NamespaceSnapshot], ...] = (network_policy.KIND,)
"""What a namespace gets that holds Instances."""
