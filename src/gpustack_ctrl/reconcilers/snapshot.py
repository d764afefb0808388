"""What one pass saw: read once, never changed, and the only input of a decision."""

from collections.abc import Mapping
from datetime import datetime

import attrs

from gpustack_ctrl.api.core import NetworkPolicy, Node, Pod, Service
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_type import InstanceType
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.api.ssh_public_key import InstanceSSHPublicKey
from gpustack_ctrl.reconcilers.isolation.cidrs import PodCIDRs
from gpustack_ctrl.reconcilers.login.host_key import HostKey
from gpustack_ctrl.reconcilers.settings.in_force import SettingsInForce
from gpustack_ctrl.reconcilers.types.capacity import NodeUse


@attrs.frozen(kw_only=True)
class InstanceSnapshot:
    """An Instance and all that decides about it.

    *pod* and *service* are the objects under its name, whosever they are. *pods* are
    all that it controls by UID. *holders* tells who else holds a node port. *node* runs
    the Pod, *pinned* is the node that the user named. *host_key* is there where a key may
    log in. *uses* tells of the nodes of the type while the scheduler finds none for the Pod.
    """

    instance: Instance
    now: datetime
    settings: SettingsInForce
    type: InstanceType | None = None
    pod: Pod | None = None
    pods: tuple[Pod, ...] = ()
    service: Service | None = None
    policy: NetworkPolicy | None = None
    policy_refusal: str = ""
    holders: Mapping[int, ObjectKey] = attrs.field(factory=dict)
    node: Node | None = None
    pinned: Node | None = None
    uses: tuple[NodeUse, ...] | None = None
    runtime_classes: frozenset[str] = frozenset()
    ssh_key: InstanceSSHPublicKey | None = None
    host_key: HostKey | None = None


@attrs.frozen(kw_only=True)
class NamespaceSnapshot:
    """A namespace and all that decides about its isolation policy.

    *cidrs* is None while nothing is known to be in force: then nothing is changed.
    """

    namespace: str
    cidrs: PodCIDRs | None
    occupied: bool
    policy: NetworkPolicy | None = None
