"""Policies of the API server that stand in for what one node cannot have."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from e2e.cluster import until
from e2e.cluster.api import ApiStatusError
from e2e.node import RealNode
from e2e.tests.shop import TYPES, instance_type

QUEUED_TYPE = "queued"
_API = "admissionregistration.k8s.io/v1"
_LABEL = "kueue.x-k8s.io/queue-name"
_GATED = (
    "Object{spec: Object.spec{schedulingGates: "
    "[Object.spec.schedulingGates{name: 'kueue.x-k8s.io/admission'}]}}"
)
# What the API server itself says of a range without a free port.
_NO_PORT = "failed to allocate a nodePort: range is full"


@contextmanager
def queueing(node: RealNode) -> Iterator[None]:
    """Have a type whose Pods are gated, as Kueue gates them, and admitted by nobody."""
    labelled = f"has(object.metadata.labels) && '{_LABEL}' in object.metadata.labels"
    change = {
        "patchType": "ApplyConfiguration",
        "applyConfiguration": {"expression": _GATED},
    }
    spec = {
        **_on("", "pods"),
        "reinvocationPolicy": "Never",
        "matchConditions": [{"name": "names-a-queue", "expression": labelled}],
        "mutations": [change],
    }
    offered = {"unitResources": {"cpu": "50m", "ram": "32Mi"}, "queueName": "team-queue"}
    node.api().post(TYPES, instance_type(QUEUED_TYPE, offered))
    try:
        with _policy(node, "mutating", spec):
            until(lambda: _is_gated(node), "no Pod is gated")
            yield
    finally:
        node.api().delete(f"{TYPES}/{QUEUED_TYPE}")


@contextmanager
def without_node_ports(node: RealNode, namespace: str) -> Iterator[None]:
    """Have Services of one namespace refused in the words for a range that is full."""
    spec = {
        **_on("", "services"),
        "matchConditions": [{"name": "here", "expression": f"request.namespace == '{namespace}'"}],
        "validations": [{"expression": "false", "message": _NO_PORT}],
    }
    with _policy(node, "validating", spec, validationActions=["Deny"]):
        until(lambda: _is_refused(node, namespace), "no Service is refused")
        yield


def _on(group: str, plural: str) -> dict[str, Any]:
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "resources": [plural]}
    rules = [{**rule, "operations": ["CREATE"]}]
    return {"failurePolicy": "Fail", "matchConstraints": {"resourceRules": rules}}


@contextmanager
def _policy(node: RealNode, kind: str, spec: Mapping[str, Any], **binding: Any) -> Iterator[None]:
    """Have an admission policy of that *kind*, and what puts it in force."""
    name, root = f"test-{kind}", f"/apis/{_API}/{kind}admissionpolic"
    node.api().post(f"{root}ies", {"metadata": {"name": name}, "spec": spec})
    bound = {"metadata": {"name": name}, "spec": {"policyName": name, **binding}}
    node.api().post(f"{root}ybindings", bound)
    try:
        yield
    finally:
        node.api().delete(f"{root}ybindings/{name}")
        node.api().delete(f"{root}ies/{name}")


def _is_gated(node: RealNode) -> bool:
    container = {"name": "main", "image": "none"}
    body = {
        "metadata": {"generateName": "probe-", "labels": {_LABEL: "team-queue"}},
        "spec": {"containers": [container]},
    }
    made = node.api().post("/api/v1/namespaces/default/pods?dryRun=All", body)
    return "schedulingGates" in made["spec"]


def _is_refused(node: RealNode, namespace: str) -> bool:
    body = {"metadata": {"generateName": "probe-"}, "spec": {"ports": [{"port": 80}]}}
    try:
        node.api().post(f"/api/v1/namespaces/{namespace}/services?dryRun=All", body)
    except ApiStatusError as error:
        return _NO_PORT in str(error)
    return False
