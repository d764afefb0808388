"""Admission policies: what no schema can say, because it depends on who asks or on a Setting.

Who may write the status of Instances is the operator, or an administrator: no tenant
role grants it. So that is the question the guards put to the authorizer, and no name of
a user or group is needed.
"""

from collections.abc import Iterable
from typing import Any

from gpustack_ctrl.api import names
from gpustack_ctrl.api.manufacturers import MANUFACTURERS
from gpustack_ctrl.api.meta import Resource
from gpustack_ctrl.reconcilers.settings.catalogue import (
    CATALOGUE,
    HOST_PATHS,
    PRIVILEGED,
    Definition,
)

Manifest = dict[str, Any]

POLICY_API = "admissionregistration.k8s.io/v1"
_IS_TRUSTED = (
    "authorizer.group('worker.gpustack.ai').resource('instances').subresource('status')"
    ".namespace(request.namespace).check('patch').allowed()"
)
_LABEL = f"'{names.TYPE}'"
_NEW_LABEL = (
    f"(has(object.metadata.labels) && {_LABEL} in object.metadata.labels"
    f" ? object.metadata.labels[{_LABEL}] : '')"
)
_OLD_LABEL = (
    f"(oldObject != null && has(oldObject.metadata.labels) && {_LABEL} in oldObject.metadata.labels"
    f" ? oldObject.metadata.labels[{_LABEL}] : '')"
)


def policies(namespace: str) -> tuple[Manifest, ...]:
    """All policies with their bindings, the Settings being in the operator's *namespace*."""
    return (
        *_setting_names(namespace),
        *_host_access(
            namespace,
            "privileged",
            PRIVILEGED,
            taken="has(object.spec.privileged) && object.spec.privileged",
            held="has(oldObject.spec.privileged) && oldObject.spec.privileged",
        ),
        *_host_access(
            namespace,
            "hostpath",
            HOST_PATHS,
            taken="has(object.spec.additionalVolumes)"
            " && object.spec.additionalVolumes.exists(v, has(v.hostPath))",
            held="has(oldObject.spec.additionalVolumes) && object.spec.additionalVolumes"
            ".filter(v, has(v.hostPath)).all(v, v in oldObject.spec.additionalVolumes)",
        ),
        *_pod_labels(),
        *_reserved_entries(names.CONFIG_MAP),
        *_reserved_entries(names.SECRET),
        *_policy_name(),
    )


def _setting_names(namespace: str) -> tuple[Manifest, Manifest]:
    known = ", ".join(CATALOGUE)
    listed = ", ".join(f"'{name}'" for name in CATALOGUE)
    rules = [
        (
            f"object.metadata.namespace == '{namespace}'",
            f"Settings live in namespace {namespace}: this one would have no effect",
        ),
        (
            f"object.metadata.name in [{listed}]",
            f"there is no Setting of this name: the Settings are {known}",
        ),
    ]
    return _policy("setting-names", names.SETTING, ["CREATE"], rules)


def _host_access(
    namespace: str, name: str, setting: Definition[bool], *, taken: str, held: str
) -> tuple[Manifest, Manifest]:
    """What takes host access needs the Setting; what holds it already may be kept.

    While the Setting is missing, before the operator's first start, all Instances are let
    through, since the other choice is none at all; the operator makes no Pod of them.
    """
    policy, binding = _policy(
        name,
        names.INSTANCE,
        ["CREATE", "UPDATE"],
        [
            (
                "has(params.status) && has(params.status.value) && params.status.value == 'true'",
                _denied(setting, namespace),
            )
        ],
        conditions=[
            ("takes-host-access", taken),
            ("did-not-hold-it", f"oldObject == null || !({held})"),
        ],
    )
    api = names.SETTING.api_version
    policy["spec"]["paramKind"] = {"apiVersion": api, "kind": names.SETTING.kind}
    binding["spec"]["paramRef"] = {
        "name": setting.name,
        "namespace": namespace,
        "parameterNotFoundAction": "Allow",
    }
    return policy, binding


def _denied(setting: Definition[bool], namespace: str) -> str:
    return (
        f"host access is not allowed: an administrator must set Setting {setting.name} in "
        f"namespace {namespace} to true"
    )


def _pod_labels() -> tuple[Manifest, Manifest]:
    message = (
        f"the label {names.TYPE} is set by the operator alone: it decides which Pods are isolated; "
        "create an Instance instead"
    )
    return _policy(
        "pod-labels",
        names.POD,
        ["CREATE", "UPDATE"],
        [(_IS_TRUSTED, message)],
        conditions=[("label-changes", f"{_NEW_LABEL} != {_OLD_LABEL}")],
    )


def _reserved_entries(resource: Resource) -> tuple[Manifest, Manifest]:
    """An entry that `envFrom` makes a variable of beats what the device plugin says."""
    variables = sorted({name for row in MANUFACTURERS.values() for name in row.invisible})
    listed = ", ".join(f"'{name}'" for name in variables)
    message = (
        f"an entry named {', '.join(variables)} would open accelerators to whoever takes it as a "
        "variable: give it another name"
    )
    return _policy(
        f"reserved-{resource.plural}",
        resource,
        ["CREATE", "UPDATE"],
        [(_IS_TRUSTED, message)],
        conditions=[
            ("has-such-an-entry", f"has(object.data) && [{listed}].exists(v, v in object.data)")
        ],
    )


def _policy_name() -> tuple[Manifest, Manifest]:
    message = (
        f"NetworkPolicy {names.ISOLATION_POLICY} is the operator's: write one of another name, "
        "which can only add to what is allowed on your own side"
    )
    return _policy(
        "policy-name",
        names.NETWORK_POLICY,
        ["CREATE", "UPDATE"],
        [(_IS_TRUSTED, message)],
        conditions=[("of-that-name", f"object.metadata.name == '{names.ISOLATION_POLICY}'")],
    )


def _policy(
    name: str,
    resource: Resource,
    operations: list[str],
    rules: Iterable[tuple[str, str]],
    *,
    conditions: Iterable[tuple[str, str]] = (),
) -> tuple[Manifest, Manifest]:
    full = f"{names.PRODUCT}-{name}"
    spec: Manifest = {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": [resource.group],
                    "apiVersions": [resource.version],
                    "resources": [resource.plural],
                    "operations": operations,
                    "scope": "*",
                }
            ]
        },
        "matchConditions": [
            {"name": called, "expression": expression} for called, expression in conditions
        ],
        "validations": [
            {"expression": expression, "message": message, "reason": "Forbidden"}
            for expression, message in rules
        ],
    }
    return (
        _manifest("ValidatingAdmissionPolicy", full, _without_empty(spec)),
        _manifest(
            "ValidatingAdmissionPolicyBinding",
            full,
            {"policyName": full, "validationActions": ["Deny"]},
        ),
    )


def _without_empty(spec: Manifest) -> Manifest:
    return {name: held for name, held in spec.items() if held}


def _manifest(kind: str, name: str, spec: Manifest) -> Manifest:
    return {"apiVersion": POLICY_API, "kind": kind, "metadata": {"name": name}, "spec": spec}
