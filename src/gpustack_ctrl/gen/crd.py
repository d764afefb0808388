"""The CustomResourceDefinitions of our kinds.

Each carries a digest of its own spec, so that a program that starts can tell whether
the CRD in the cluster is the one it was built with.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import attrs

from gpustack_ctrl.api import names
from gpustack_ctrl.api.codec import encode
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_type import InstanceType
from gpustack_ctrl.api.markers import Column
from gpustack_ctrl.api.meta import Resource
from gpustack_ctrl.api.setting import Setting
from gpustack_ctrl.api.ssh_public_key import InstanceSSHPublicKey
from gpustack_ctrl.gen.schema import Schema, object_schema, without_defaults

CATEGORY = "gpustack"
SPEC_DIGEST = "gpustack.ai/crd-digest"
"""The annotation that holds the digest of a CRD's spec."""


@attrs.frozen
class Kind:
    """One of our kinds: how it is served, what it holds, and its name at the prompt."""

    resource: Resource
    holds: type
    short_name: str


KINDS = (
    Kind(names.INSTANCE, Instance, "inst"),
    Kind(names.INSTANCE_TYPE, InstanceType, "instype"),
    Kind(names.SSH_PUBLIC_KEY, InstanceSSHPublicKey, "instkey"),
    Kind(names.SETTING, Setting, "set"),
)


def crds() -> tuple[dict[str, Any], ...]:
    """One CustomResourceDefinition for each of our kinds."""
    return tuple(crd(kind) for kind in KINDS)


def crd(kind: Kind) -> dict[str, Any]:
    """The CustomResourceDefinition of *kind*."""
    spec = _spec(kind)
    return {
        "apiVersion": names.CRD.api_version,
        "kind": names.CRD.kind,
        "metadata": {
            "name": kind.resource.full_name,
            "annotations": {SPEC_DIGEST: _digest(spec)},
        },
        "spec": spec,
    }


def digest_of(definition: Mapping[str, Any]) -> str:
    """The digest that the CRD *definition*, ours or a cluster's, carries; empty: none."""
    annotations = definition["metadata"].get("annotations") or {}
    return str(annotations.get(SPEC_DIGEST, ""))


def _digest(spec: Mapping[str, Any]) -> str:
    return hashlib.sha256(encode(spec)).hexdigest()[:16]


def _spec(kind: Kind) -> dict[str, Any]:
    resource = kind.resource
    return {
        "group": resource.group,
        "names": {
            "kind": resource.kind,
            "listKind": f"{resource.kind}List",
            "plural": resource.plural,
            "singular": resource.kind.lower(),
            "shortNames": [kind.short_name],
            "categories": [CATEGORY],
        },
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "versions": [_version(kind)],
    }


def _version(kind: Kind) -> dict[str, Any]:
    schema = _root(kind.holds)
    columns: tuple[Column, ...] = getattr(kind.holds, "columns", ())
    version = {
        "name": kind.resource.version,
        "served": True,
        "storage": True,
        "subresources": {"status": {}} if "status" in schema["properties"] else {},
        "additionalPrinterColumns": [_column(column) for column in columns],
        "schema": {"openAPIV3Schema": schema},
    }
    return {key: value for key, value in version.items() if value != {}}


def _root(kind: type) -> Schema:
    schema = object_schema(kind)
    properties = schema["properties"]
    if "status" in properties:
        properties["status"] = without_defaults(properties["status"])
    return schema


def _column(column: Column) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": column.name,
        "type": column.type,
        "jsonPath": column.path,
    }
    return {**shown, "priority": 1} if column.wide else shown
