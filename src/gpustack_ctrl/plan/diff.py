"""The difference between what is wanted and what is there, as a merge patch (RFC 7386).

A field that only the observed object has belongs to somebody else and is left alone,
except below the paths that the caller owns whole. Lists are always owned whole.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from gpustack_ctrl.api.codec import Json
from gpustack_ctrl.api.meta import ObjectMeta, Resource
from gpustack_ctrl.plan.actions import Apply, PatchType, Plan

NOTHING: frozenset[str] = frozenset()
EVERYTHING = frozenset({""})


def diff(
    resource: Resource, want: Json, have: Json, *, seen: ObjectMeta, whole: frozenset[str] = NOTHING
) -> Plan:
    """The plan that leads from *have* to *want*: one `Apply`, or nothing."""
    patch = merge_patch(want, have, whole=whole)
    return patched(resource, patch, seen=seen) if patch else ()


def patched(
    resource: Resource, patch: Json, *, seen: ObjectMeta, how: PatchType = PatchType.MERGE
) -> Plan:
    """The plan that applies *patch* to the object whose metadata was *seen*."""
    return (
        Apply(
            resource=resource,
            key=seen.key,
            uid=seen.uid,
            resource_version=seen.resourceVersion,
            patch=patch,
            how=how,
            because=tuple(_leaves(patch)),
        ),
    )


def merge_patch(
    want: Json, have: Json, *, whole: frozenset[str] = NOTHING, path: str = ""
) -> dict[str, Any]:
    """The smallest merge patch that makes *have* hold *want*; empty if it already does.

    *whole* names the dotted paths below which a field that *want* lacks is removed.
    """
    patch: dict[str, Any] = {}
    if _owned(path, whole):
        patch |= {name: None for name in have if name not in want}
    for name, wanted in want.items():
        held = have.get(name)
        below = f"{path}.{name}" if path else name
        if isinstance(wanted, Mapping) and isinstance(held, Mapping):
            inner = merge_patch(wanted, held, whole=whole, path=below)
            patch |= {name: inner} if inner else {}
        elif wanted != held:
            patch[name] = wanted
    return patch


def _owned(path: str, whole: frozenset[str]) -> bool:
    return any(not owned or path == owned or path.startswith(f"{owned}.") for owned in whole)


def _leaves(patch: Json, path: str = "") -> Iterator[str]:
    for name, value in patch.items():
        below = f"{path}.{name}" if path else name
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, below)
        else:
            yield below
