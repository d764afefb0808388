"""What a hand-written policy said before isolation took its place.

It is kept in annotations of the policy itself, so that neither a restart of the operator
nor an upgrade loses it.
"""

from collections.abc import Mapping
from typing import Any

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.core import NetworkPolicy
from gpustack_ctrl.api.meta import ObjectMeta
from gpustack_ctrl.plan.diff import EVERYTHING, merge_patch

MOST_ANNOTATION_BYTES = 256 * 1024
"""What the API server takes of keys and values of the annotations of one object."""


def kept(have: NetworkPolicy) -> dict[str, str]:
    """The annotations that remember the hand-written policy *have*.

    None, should it be too large for them: its author must not keep isolation off by that.
    """
    keep = {names.REPLACED_SPEC: codec.encode(have.spec).decode()}
    mark = have.metadata.labels.get(names.MANAGED_BY)
    if mark is not None:
        keep[names.REPLACED_MARK] = mark
    return keep if _fit({**have.metadata.annotations, **keep}) else {}


def is_kept(metadata: ObjectMeta) -> bool:
    """Whether a policy that was written by hand is remembered there."""
    return names.REPLACED_SPEC in metadata.annotations


def given_back(have: NetworkPolicy) -> dict[str, Any]:
    """The merge patch that makes *have* what its author wrote.

    If somebody garbled the annotation, the policy is let go as it stands.
    """
    annotations = have.metadata.annotations
    metadata = {
        "labels": {names.MANAGED_BY: annotations.get(names.REPLACED_MARK)},
        "annotations": {names.REPLACED_SPEC: None, names.REPLACED_MARK: None},
    }
    spec = merge_patch(_spec(annotations[names.REPLACED_SPEC], have), have.spec, whole=EVERYTHING)
    return {"metadata": metadata, **({"spec": spec} if spec else {})}


def _spec(text: str, have: NetworkPolicy) -> Mapping[str, Any]:
    try:
        held = codec.decode(text)
    except ValueError:
        return have.spec
    return held if isinstance(held, Mapping) else have.spec


def _fit(annotations: Mapping[str, str]) -> bool:
    taken = sum(len(f"{key}{value}".encode()) for key, value in annotations.items())
    return taken <= MOST_ANNOTATION_BYTES
