"""The roles that grant what `permissions` lists."""

from collections.abc import Iterable
from typing import Any

from gpustack_ctrl.api.names import PRODUCT
from gpustack_ctrl.gen import permissions
from gpustack_ctrl.gen.permissions import Permission

Manifest = dict[str, Any]

VIEW_ROLE = "gpustack-view"
EDIT_ROLE = "gpustack-edit"
TYPES_ROLE = "gpustack-types"
CRD_INSTALLER_ROLE = f"{PRODUCT}-crd-installer"
_API = "rbac.authorization.k8s.io"
_AGGREGATE = f"{_API}/aggregate-to-"


def operator(namespace: str) -> tuple[Manifest, ...]:
    """The operator's roles, bound to its ServiceAccount in *namespace*."""
    return (
        _cluster_role(PRODUCT, permissions.OPERATOR),
        _cluster_binding(PRODUCT, namespace),
        {
            **_head("Role", PRODUCT, namespace=namespace),
            "rules": _rules(permissions.OPERATOR_AT_HOME),
        },
        {
            **_head("RoleBinding", PRODUCT, namespace=namespace),
            "roleRef": _role_ref("Role", PRODUCT),
            "subjects": [_service_account(namespace)],
        },
    )


def crd_installer(namespace: str) -> tuple[Manifest, ...]:
    """What the operator needs beside, to run with `--install-crds`."""
    return (
        _cluster_role(CRD_INSTALLER_ROLE, permissions.CRD_INSTALLER),
        _cluster_binding(CRD_INSTALLER_ROLE, namespace),
    )


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


def _cluster_binding(name: str, namespace: str) -> Manifest:
    return {
        **_head("ClusterRoleBinding", name),
        "roleRef": _role_ref("ClusterRole", name),
        "subjects": [_service_account(namespace)],
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


def _service_account(namespace: str) -> Manifest:
    return {"kind": "ServiceAccount", "name": PRODUCT, "namespace": namespace}


def _rules(grants: Iterable[Permission]) -> list[Manifest]:
    return [_rule(grant) for grant in grants]


def _rule(grant: Permission) -> Manifest:
    rule: Manifest = {"apiGroups": [grant.resource.group], "resources": [grant.target]}
    if grant.only:
        rule["resourceNames"] = list(grant.only)
    return {**rule, "verbs": list(grant.verbs)}
