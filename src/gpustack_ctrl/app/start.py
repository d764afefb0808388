"""What is checked and done before anything relies on it."""

from collections.abc import Iterable

import structlog

from gpustack_ctrl.api import names
from gpustack_ctrl.api.codec import Json, decode
from gpustack_ctrl.api.errors import (
    AlreadyExistsError,
    ForbiddenError,
    NotFoundError,
    ThrottledError,
)
from gpustack_ctrl.api.meta import ObjectKey, Resource
from gpustack_ctrl.app.errors import StartError
from gpustack_ctrl.client.discovery import missing
from gpustack_ctrl.client.rest import Rest
from gpustack_ctrl.gen.crd import KINDS, crds, digest_of
from gpustack_ctrl.runtime.clock import Clock
from gpustack_ctrl.runtime.reflector import ListWatch
from gpustack_ctrl.runtime.watch import ListRequest

SERVED_WITHIN_SECONDS = 30.0
POLL_SECONDS = 0.1
_SMALL_NAMESPACE = "kube-public"

log = structlog.get_logger(__name__)

_OURS = tuple(kind.resource for kind in KINDS)


async def install_crds(rest: Rest, clock: Clock, namespace: str = _SMALL_NAMESPACE) -> None:
    """Create the CRDs, or bring them up to date, and wait until they can be listed.

    They are listed in *namespace*, where that must be allowed and should be cheap: nobody
    keeps Instances there.
    """
    for definition in crds():
        await _install(rest, definition)
    deadline = clock.monotonic() + SERVED_WITHIN_SECONDS
    while absent := await _unserved(rest, namespace):
        if clock.monotonic() > deadline:
            raise StartError(f"the CRDs were installed, but are not served: {_named(absent)}")
        await clock.sleep(POLL_SECONDS)


async def _unserved(rest: Rest, namespace: str) -> tuple[Resource, ...]:
    """Which of ours cannot be listed: a new kind is announced before its storage is ready."""
    absent = await missing(rest, _OURS)
    return absent or tuple([kind for kind in _OURS if not await _answers(rest, kind, namespace)])


async def _answers(rest: Rest, kind: Resource, namespace: str) -> bool:
    try:
        await rest.get(kind.collection(namespace))
    except (NotFoundError, ThrottledError):
        return False
    return True


async def check(rest: Rest, sources: Iterable[ListWatch], *, installs: bool = False) -> None:
    """Raise StartError if a CRD is missing, ForbiddenError if something may not be listed.

    *installs* is whether the command could have installed them.
    """
    absent = await missing(rest, _OURS)
    if absent:
        raise StartError(
            f"the API server does not serve {_named(absent)}: install the CRDs with "
            "`gpustack-ctrl crds | kubectl apply -f -`"
            + (", or start with --install-crds" if installs else "")
        )
    for source in sources:
        await source.list(ListRequest(resource_version="", limit=1))


async def compare(rest: Rest) -> None:
    """Tell of each CRD that is of another version, where we may look."""
    for definition in crds():
        await _compare(rest, definition)


async def _compare(rest: Rest, definition: Json) -> None:
    """Tell of a CRD that is not ours to the letter: fields may be missing, or be dropped."""
    name = definition["metadata"]["name"]
    try:
        held: Json = decode(await rest.get(names.CRD.path(ObjectKey("", name))))
    except ForbiddenError:
        return
    if digest_of(held) != digest_of(definition):
        log.warning("the CRD is of another version: apply the one of this version", crd=name)


async def _install(rest: Rest, definition: Json) -> None:
    key = ObjectKey("", definition["metadata"]["name"])
    try:
        held: Json = decode(await rest.get(names.CRD.path(key)))
    except NotFoundError:
        await _create(rest, definition)
        return
    if digest_of(held) != digest_of(definition):
        patch = {name: definition[name] for name in ("metadata", "spec")}
        await rest.merge_patch(names.CRD, key, patch)


async def _create(rest: Rest, definition: Json) -> None:
    try:
        await rest.create(names.CRD, definition)
    except AlreadyExistsError:  # By another replica: it may be of another version.
        await _install(rest, definition)


def _named(resources: Iterable[Resource]) -> str:
    return ", ".join(resource.full_name for resource in resources)
