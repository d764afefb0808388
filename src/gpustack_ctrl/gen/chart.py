"""The chart's copies of generated manifests: Helm templates around the same YAML."""

from collections.abc import Iterable, Mapping
from typing import Any

from gpustack_ctrl.gen.policies import POLICY_API
from gpustack_ctrl.gen.text import BANNER, to_yaml

KEEP = {"helm.sh/resource-policy": "keep"}
"""Uninstalling the chart must not delete everybody's Instances with their CRD."""


def crd_template(definition: Mapping[str, Any]) -> str:
    """The CRD *definition* as a template that `crds.install` switches."""
    metadata = definition["metadata"]
    annotations = {**metadata["annotations"], **KEEP}
    kept = {**definition, "metadata": {**metadata, "annotations": annotations}}
    return _template(literal(to_yaml(kept)), switch=".Values.crds.install")


def literal(text: str) -> str:
    """*text* with its braces out of Helm's reach."""
    return text.replace("{{", '{{ "{{" }}')


def rbac_template(documents: Iterable[Mapping[str, Any]], *, where: str = "") -> str:
    """Roles, whose names of Helm values are meant, as a template that `rbac.create` switches.

    There may be a condition beside it: *where*.
    """
    body = "---\n".join(to_yaml(document) for document in documents)
    switch = ".Values.rbac.create"
    return _template(body, switch=f"and {switch} {where}" if where else switch)


def policies_template(documents: Iterable[Mapping[str, Any]]) -> str:
    """Admission policies as a template that `admissionPolicies.create` switches.

    Kubernetes serves them from 1.30 on; before that the operator's own checks are all.
    """
    body = "---\n".join(to_yaml(document) for document in documents)
    served = f'.Capabilities.APIVersions.Has "{POLICY_API}/ValidatingAdmissionPolicy"'
    return _template(body, switch=f"and .Values.admissionPolicies.create ({served})")


def _template(body: str, *, switch: str) -> str:
    return f"{{{{- /* {BANNER} */}}}}\n{{{{- if {switch} }}}}\n{body}{{{{- end }}}}\n"
