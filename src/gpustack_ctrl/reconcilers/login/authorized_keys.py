"""The ConfigMap of an InstanceSSHPublicKey: the lines that were understood, written anew."""

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache

import attrs

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.authorized_keys import ParsedKeys, parse, rendered
from gpustack_ctrl.api.core import ConfigMap
from gpustack_ctrl.api.errors import AlreadyExistsError, ForbiddenError, InvalidError
from gpustack_ctrl.api.meta import ObjectKey, ObjectMeta, OwnerReference
from gpustack_ctrl.api.ssh_public_key import (
    AcceptedKey,
    InstanceSSHPublicKey,
    InstanceSSHPublicKeyStatus,
)
from gpustack_ctrl.plan.actions import Plan, Refused, create
from gpustack_ctrl.plan.diff import diff
from gpustack_ctrl.reconcilers.conditions import Statement, stated
from gpustack_ctrl.reconcilers.kind import ChildKind

_WHOLE = frozenset({"data", "metadata.ownerReferences"})
MOST_REFUSALS_TOLD = 5


_parsed = lru_cache(maxsize=8)(parse)
"""Read once in each pass: a tenant's text may be long."""

_LASTING = (AlreadyExistsError, ForbiddenError, InvalidError)


@attrs.frozen(kw_only=True)
class KeySnapshot:
    """A key object and the ConfigMap under the name that is its, if it has our label."""

    key: InstanceSSHPublicKey
    config_map: ConfigMap | None = None


def plan(seen: KeySnapshot) -> Plan:
    """Make the ConfigMap say what the keys are; a foreign one is never touched."""
    have = seen.config_map
    if seen.key.metadata.deleting or (have is not None and have.metadata.deleting):
        return ()
    want = codec.to_wire(desired(seen.key))
    if have is None:
        return (create(names.CONFIG_MAP, desired(seen.key).metadata, want),)
    if not _is_ours(seen.key, have):
        return ()
    return diff(names.CONFIG_MAP, want, codec.to_wire(have), seen=have.metadata, whole=_WHOLE)


def desired(key: InstanceSSHPublicKey) -> ConfigMap:
    """The ConfigMap that *key* should have: one file, empty where no line was understood."""
    owner = OwnerReference(
        apiVersion=names.SSH_PUBLIC_KEY.api_version,
        kind=names.SSH_PUBLIC_KEY.kind,
        name=key.metadata.name,
        uid=key.metadata.uid,
        controller=True,
        blockOwnerDeletion=False,
    )
    return ConfigMap(
        metadata=ObjectMeta(
            name=names.authorized_keys(key.metadata.name),
            namespace=key.metadata.namespace,
            labels={names.TYPE: names.SSH_PUBLIC_KEYS},
            ownerReferences=(owner,),
        ),
        data={names.AUTHORIZED_KEYS: rendered(_parsed(key.spec.data).keys)},
    )


def status(
    seen: KeySnapshot, refusals: Iterable[Refused] = (), *, now: datetime
) -> InstanceSSHPublicKeyStatus:
    """Which lines were taken, and what is wrong with the others.

    Where the ConfigMap could not be written, none lets anybody in.
    """
    read = _parsed(seen.key.spec.data)
    unwritten = _unwritten(seen, refusals)
    parsed = attrs.evolve(read, keys=()) if unwritten else read
    generation = seen.key.metadata.generation
    return InstanceSSHPublicKeyStatus(
        observedGeneration=generation,
        keys=tuple(
            AcceptedKey(fingerprint=key.fingerprint, type=key.type, comment=key.comment)
            for key in parsed.keys
        ),
        conditions=stated(
            (unwritten or _accepted(parsed),),
            seen.key.status.conditions,
            generation=generation,
            now=now,
        ),
    )


def _unwritten(seen: KeySnapshot, refusals: Iterable[Refused]) -> Statement | None:
    """Why the ConfigMap does not say what the keys are. One without our label we never see."""
    error = next((held.error for held in refusals if isinstance(held.error, _LASTING)), None)
    foreign = seen.config_map is not None and not _is_ours(seen.key, seen.config_map)
    if foreign or isinstance(error, AlreadyExistsError):
        name = ObjectKey(seen.key.key.namespace, names.authorized_keys(seen.key.key.name))
        message = f"ConfigMap {name} is not ours, or lost its label {names.TYPE}: delete it"
        return Statement("Accepted", "False", "NameConflict", message)
    return Statement("Accepted", "False", "ConfigMapRefused", error.message) if error else None


def _accepted(parsed: ParsedKeys) -> Statement:
    if parsed.refused:
        told = "; ".join(str(line) for line in parsed.refused[:MOST_REFUSALS_TOLD])
        return Statement("Accepted", "False", "LinesRefused", told)
    if not parsed.keys:
        return Statement("Accepted", "False", "NoKeys", "spec.data holds no public key: add one")
    return Statement("Accepted", "True", "AllLinesTaken")


def _is_ours(key: InstanceSSHPublicKey, have: ConfigMap) -> bool:
    owner = have.metadata.controller
    return owner is not None and owner.uid == key.metadata.uid


KIND = ChildKind(
    resource=names.CONFIG_MAP,
    verbs=("list", "watch", "create", "patch"),
    plan=plan,
)
