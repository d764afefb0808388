"""The roles that grant what `permissions` lists."""

from collections.abc import Iterable
from typing import Any

from gpustack_ctrl.api.names import (
    EXPORTER,
    METRICS_GUARD_ROLE,
    METRICS_READER_ROLE,
    PRODUCT,
)
from gpustack_ctrl.gen import permissions
from gpustack_ctrl.gen.permissions import PathPermission, Permission

Manifest = dict[str, Any]

VIEW_ROLE = "gpustack-view"
EDIT_ROLE = "gpustack-edit"
TYPES_ROLE = "gpustack-types"
CRD_INSTALLER_ROLE = f"{PRODUCT}-crd-installer"
PER_NODE = f"{EXPORTER}-per-node"
_API = "rbac.authorization.k8s.io"
_AGGREGATE = f"{_API}/aggregate-to-"


def operator(namespace: str) -> tuple[Manifest, ...]:
    """The operator's roles, bound to its ServiceAccount in *namespace*."""
    account = _service_account(PRODUCT, namespace)
    return (
        _cluster_role(PRODUCT, permissions.OPERATOR),
        _cluster_binding(PRODUCT, account),
        _role(PRODUCT, namespace, permissions.OPERATOR_AT_HOME),
        _binding(PRODUCT, namespace, account),
    )


def crd_installer(namespace: str) -> tuple[Manifest, ...]:
    """What the operator needs beside, to run with `--install-crds`."""
    return (
        _cluster_role(CRD_INSTALLER_ROLE, permissions.CRD_INSTALLER),
        _cluster_binding(CRD_INSTALLER_ROLE, _service_account(PRODUCT, namespace)),
    )


def exporter(namespace: str) -> tuple[Manifest, ...]:
    """The exporter's roles, bound to its ServiceAccount in *namespace*, the operator's own."""
    account = _service_account(EXPORTER, namespace)
    return (
        _cluster_role(EXPORTER, permissions.EXPORTER),
        _cluster_binding(EXPORTER, account),
        _role(EXPORTER, namespace, permissions.EXPORTER_AT_HOME),
        _binding(EXPORTER, namespace, account),
    )


def exporter_per_node(namespace: str, home: str) -> tuple[Manifest, ...]:
    """The exporter's roles, bound to the ServiceAccount in *namespace*, too.

    They are those that `exporter` makes, with the operator in *home*.
    """
    account = _service_account(EXPORTER, namespace)
    return (
        _cluster_binding(EXPORTER, account, name=PER_NODE),
        _binding(EXPORTER, home, account, name=PER_NODE),
        _cluster_binding(METRICS_GUARD_ROLE, account, name=f"{METRICS_GUARD_ROLE}-per-node"),
    )


def metrics_guard(namespace: str) -> tuple[Manifest, ...]:
    """What both of our servers in *namespace* need to protect their pages of metrics."""
    accounts = [_service_account(name, namespace) for name in (PRODUCT, EXPORTER)]
    return (
        _cluster_role(METRICS_GUARD_ROLE, permissions.METRICS_GUARD),
        _cluster_binding(METRICS_GUARD_ROLE, *accounts),
    )


def metrics_reader() -> tuple[Manifest, ...]:
    """What a scraper must be bound to where pages are protected; nobody is bound here."""
    rules = [_path_rule(grant) for grant in permissions.METRICS_READER]
    return ({**_head("ClusterRole", METRICS_READER_ROLE), "rules": rules},)


def tenants() -> tuple[Manifest, ...]:
    """Roles that join themselves to the built-in `view`, `edit` and `admin`.

    Types belong to no namespace, so a role in one does not reach them: what is offered
    may be read by whoever is known to the cluster.
    """
    return (
        _cluster_role(TYPES_ROLE, permissions.EVERYBODY),
        {
            **_head("ClusterRoleBinding", TYPES_ROLE),
            "roleRef": _role_ref("ClusterRole", TYPES_ROLE),
            "subjects": [{"apiGroup": _API, "kind": "Group", "name": "system:authenticated"}],
        },
        _cluster_role(VIEW_ROLE, permissions.TENANT_VIEW, joins=("view",)),
        _cluster_role(EDIT_ROLE, permissions.TENANT_EDIT, joins=("edit", "admin")),
    )


def _cluster_role(name: str, grants: Iterable[Permission], joins: Iterable[str] = ()) -> Manifest:
    labels = {f"{_AGGREGATE}{role}": "true" for role in joins}
    return {**_head("ClusterRole", name, labels=labels), "rules": _rules(grants)}


def _cluster_binding(role: str, *accounts: Manifest, name: str = "") -> Manifest:
    return {
        **_head("ClusterRoleBinding", name or role),
        "roleRef": _role_ref("ClusterRole", role),
        "subjects": list(accounts),
    }


def _role(name: str, namespace: str, grants: Iterable[Permission]) -> Manifest:
    return {**_head("Role", name, namespace=namespace), "rules": _rules(grants)}


def _binding(role: str, namespace: str, account: Manifest, *, name: str = "") -> Manifest:
    return {
        **_head("RoleBinding", name or role, namespace=namespace),
        "roleRef": _role_ref("Role", role),
        "subjects": [account],
    }


def _head(
    kind: str, name: str, *, namespace: str = "", labels: dict[str, str] | None = None
) -> Manifest:
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return {
        "apiVersion": f"{_API}/v1",
        "kind": kind,
        "metadata": {key: value for key, value in metadata.items() if value},
    }


def _role_ref(kind: str, name: str) -> Manifest:
    return {"apiGroup": _API, "kind": kind, "name": name}


def _service_account(name: str, namespace: str) -> Manifest:
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


def _rules(grants: Iterable[Permission]) -> list[Manifest]:
    return [_rule(grant) for grant in grants]


def _rule(grant: Permission) -> Manifest:
    rule: Manifest = {"apiGroups": [grant.resource.group], "resources": [grant.target]}
    if grant.only:
        rule["resourceNames"] = list(grant.only)
    return {**rule, "verbs": list(grant.verbs)}


def _path_rule(grant: PathPermission) -> Manifest:
    return {"nonResourceURLs": [grant.access.path], "verbs": [grant.access.verb]}
