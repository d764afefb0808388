"""What the operator and its tenants may do, and why: the one list of grants."""

import attrs

from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import Resource
from gpustack_ctrl.api.review import GET_METRICS, Access
from gpustack_ctrl.gen.crd import KINDS

READ = ("get", "list", "watch")
FOLLOW = ("list", "watch")
KEEP_RIGHT = ("list", "watch", "create", "patch", "delete")
WRITE = ("create", "update", "patch", "delete", "deletecollection")


@attrs.frozen
class Permission:
    """Some verbs on one resource, or on its *subresource*, or on the objects named *only*."""

    resource: Resource
    verbs: tuple[str, ...]
    why: str
    subresource: str = ""
    only: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """The resource as RBAC writes it."""
        plural = self.resource.plural
        return f"{plural}/{self.subresource}" if self.subresource else plural


@attrs.frozen
class PathPermission:
    """One verb on a path that is no object of the API."""

    access: Access
    why: str


OPERATOR = (
    Permission(names.INSTANCE, FOLLOW, "what users ask for"),
    Permission(names.INSTANCE, ("patch",), "what became of it", subresource="status"),
    Permission(
        names.INSTANCE,
        ("update",),
        "children that hold back the deletion of their Instance, where the admission plugin "
        "OwnerReferencesPermissionEnforcement asks for it",
        subresource="finalizers",
    ),
    Permission(names.INSTANCE_TYPE, FOLLOW, "what the types of Instances get"),
    Permission(names.INSTANCE_TYPE, ("patch",), "what is left of them", subresource="status"),
    Permission(names.SSH_PUBLIC_KEY, FOLLOW, "who may log in"),
    Permission(names.POD, KEEP_RIGHT, "the Pod of an Instance"),
    Permission(names.SERVICE, KEEP_RIGHT, "the Service of an Instance"),
    Permission(names.NETWORK_POLICY, KEEP_RIGHT, "the isolation of a namespace"),
    Permission(
        names.CONFIG_MAP,
        (*FOLLOW, "create", "patch"),
        "the keys that may log in, for SSH servers to mount",
    ),
    Permission(names.SECRET, ("create",), "the SSH host key of an Instance; none is ever read"),
    Permission(
        names.SSH_PUBLIC_KEY, ("patch",), "which keys were understood", subresource="status"
    ),
    Permission(
        names.CRD,
        ("get",),
        "whether the CRDs are those of this version",
        only=tuple(kind.resource.full_name for kind in KINDS),
    ),
    Permission(names.NODE, FOLLOW, "addresses of nodes, and what they offer"),
    Permission(names.EVENT, ("create", "patch"), "what happened to an Instance, told to people"),
    Permission(names.RUNTIME_CLASS, FOLLOW, "whether a RuntimeClass exists"),
)
"""In every namespace."""

OPERATOR_AT_HOME = (
    Permission(names.SETTING, (*FOLLOW, "create"), "switches, made with their default"),
    Permission(names.SETTING, ("patch",), "which value is in force", subresource="status"),
    Permission(names.LEASE, ("get", "create", "update"), "which replica leads"),
    Permission(names.SECRET, ("create",), "the seed of the SSH host keys"),
    Permission(
        names.SECRET, ("get",), "the seed of the SSH host keys", only=(names.HOST_KEY_SEED,)
    ),
)
"""In the operator's own namespace."""

CRD_INSTALLER = (
    Permission(names.CRD, ("create",), "a missing CRD; RBAC cannot limit this to a name"),
    Permission(
        names.CRD,
        ("get", "patch"),
        "an outdated CRD",
        only=tuple(kind.resource.full_name for kind in KINDS),
    ),
)
"""Only where the operator runs with --install-crds."""

EXPORTER = (
    Permission(names.NODE, ("get",), "the kubelet's `/metrics/resource`", subresource="metrics"),
    Permission(names.NODE, ("get",), "the kubelet's `/stats/summary`", subresource="stats"),
    Permission(names.NODE, FOLLOW, "where the kubelets are"),
    Permission(names.POD, FOLLOW, "which Pod is that of an Instance, and on which node"),
    Permission(names.INSTANCE, FOLLOW, "which Instances there are, and what they ask for"),
    Permission(
        names.INSTANCE_TYPE, FOLLOW, "whose accelerators a type offers, and in which families"
    ),
)
"""In every namespace. Nothing is written."""

EXPORTER_AT_HOME = (
    Permission(names.SETTING, FOLLOW, "the table of manufacturers, which a Setting may change"),
)
"""In the operator's own namespace."""

METRICS_GUARD = (
    Permission(names.TOKEN_REVIEW, ("create",), "who bears the token of a scrape"),
    Permission(names.SUBJECT_ACCESS_REVIEW, ("create",), "whether it may get `/metrics`"),
)
"""Only where pages of metrics are protected: for those that serve them."""

METRICS_READER = (
    PathPermission(GET_METRICS, "pages of metrics that are protected; also those of others"),
)
"""For those that scrape."""

EVERYBODY = (Permission(names.INSTANCE_TYPE, READ, "what can be asked for"),)
"""Given to all who are known to the cluster."""

TENANT_VIEW = (
    Permission(names.INSTANCE, READ, "what runs in the namespace"),
    Permission(names.SSH_PUBLIC_KEY, READ, "public keys of the namespace"),
)
"""Added to the built-in role `view`, and with it to `edit` and `admin`."""

TENANT_EDIT = (
    Permission(names.INSTANCE, WRITE, "as good as creating Pods in the namespace"),
    Permission(names.SSH_PUBLIC_KEY, WRITE, "public keys of the namespace"),
)
"""Added to the built-in roles `edit` and `admin`."""
