"""The generated roles on a real API server: who may do what."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from e2e.cluster import Api, Cluster, until
from gpustack_ctrl.gen import rbac
from gpustack_ctrl.gen.text import manifest

_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_WORKER = "worker.gpustack.ai"
_PRODUCT = "gpustack-ctrl"
_ROLES = ("view", "edit", "admin")
TENANTS = [
    ("view", "list", "instances", True),
    ("view", "get", "instancetypes", True),
    ("view", "create", "instances", False),
    ("edit", "watch", "instances", True),
    ("edit", "create", "instances", True),
    ("edit", "deletecollection", "instances", True),
    ("edit", "create", "instancesshpublickeys", True),
    ("edit", "patch", "instances/status", False),
    ("edit", "update", "instances/finalizers", False),
    ("edit", "create", "instancetypes", False),
    ("admin", "patch", "instances", True),
    ("admin", "patch", "instances/status", False),
]
OPERATOR = [
    ("", "pods", "create", True),
    ("", "pods/exec", "create", False),
    ("", "secrets", "get", False),
    ("", "nodes", "watch", True),
    ("", "nodes", "patch", False),
    ("", "services", "delete", True),
    ("", "services", "deletecollection", False),
    (_WORKER, "instances", "patch", False),
    (_WORKER, "instances/status", "patch", True),
    (_WORKER, "instances/finalizers", "update", True),
    (_WORKER, "instancetypes", "create", False),
    ("networking.k8s.io", "networkpolicies", "patch", True),
    ("gpustack.ai", "settings", "create", False),
    ("coordination.k8s.io", "leases", "update", False),
    ("apiextensions.k8s.io", "customresourcedefinitions", "patch", False),
]
AT_HOME = [
    ("gpustack.ai", "settings", "create", True),
    ("gpustack.ai", "settings", "patch", False),
    ("gpustack.ai", "settings/status", "patch", True),
    ("coordination.k8s.io", "leases", "update", True),
    ("coordination.k8s.io", "leases", "delete", False),
]


@pytest.fixture(scope="module")
def home(cluster: Cluster) -> Iterator[str]:
    """A namespace for the operator, with all roles in force and a user of each tenant role."""
    name = f"test-{secrets.token_hex(4)}"
    cluster.add_namespace(name)
    operator = [_renamed(it, name) for it in rbac.operator(name)]
    documents = (*operator, *rbac.tenants(), *(_member(it, name) for it in _ROLES))
    cluster.kubectl("apply", "-f", "-", input=manifest(documents))
    until(
        lambda: all(may(cluster.api(), f"{it}-{name}", name, _WORKER, "instances", "list")
                    for it in _ROLES),
        "the roles of tenants were not aggregated",
    )  # fmt: skip
    yield name
    cluster.kubectl("delete", "clusterrolebinding", name)
    cluster.api().delete(f"/api/v1/namespaces/{name}")


def _renamed(document: dict[str, Any], namespace: str) -> dict[str, Any]:
    """*document*; a cluster-wide binding under another name, to leave that of others alone."""
    if document["kind"] != "ClusterRoleBinding":
        return document
    return {**document, "metadata": {"name": namespace}}


def _member(role: str, namespace: str) -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": role, "namespace": namespace},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": role,
        },
        "subjects": [{"kind": "User", "name": f"{role}-{namespace}"}],
    }


def may(api: Api, user: str, namespace: str, group: str, resource: str, verb: str) -> bool:
    """Whether the API server would let *user* do that."""
    plural, _, subresource = resource.partition("/")
    asked = {
        "namespace": namespace,
        "verb": verb,
        "group": group,
        "resource": plural,
        "subresource": subresource,
    }
    who = {"user": user, "groups": ["system:authenticated"]}
    review = api.post(_REVIEWS, {"spec": {**who, "resourceAttributes": asked}})
    return bool(review["status"]["allowed"])


def _operator(home: str) -> str:
    return f"system:serviceaccount:{home}:{_PRODUCT}"


@pytest.mark.parametrize(("role", "verb", "resource", "allowed"), TENANTS)
def test_tenants_by_built_in_role(
    cluster: Cluster, home: str, *, role: str, verb: str, resource: str, allowed: bool
) -> None:
    assert allowed == may(cluster.api(), f"{role}-{home}", home, _WORKER, resource, verb)


@pytest.mark.parametrize(("group", "resource", "verb", "allowed"), OPERATOR)
def test_the_operator_in_any_namespace(
    cluster: Cluster, home: str, *, group: str, resource: str, verb: str, allowed: bool
) -> None:
    assert allowed == may(cluster.api(), _operator(home), "default", group, resource, verb)


@pytest.mark.parametrize(("group", "resource", "verb", "allowed"), AT_HOME)
def test_the_operator_in_its_own_namespace(
    cluster: Cluster, home: str, *, group: str, resource: str, verb: str, allowed: bool
) -> None:
    assert allowed == may(cluster.api(), _operator(home), home, group, resource, verb)
