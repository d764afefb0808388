"""The seed that all SSH host keys are derived from: made once, then only read."""

import base64
import os

from gpustack_ctrl.api import names
from gpustack_ctrl.api.codec import Json, decode
from gpustack_ctrl.api.errors import AlreadyExistsError, NotFoundError
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.app.errors import StartError
from gpustack_ctrl.client.rest import Rest
from gpustack_ctrl.reconcilers.login.host_key import MIN_SEED_BYTES

_ENTRY = "seed"


async def host_key_seed(rest: Rest, namespace: str) -> bytes:
    """The seed in the operator's *namespace*; two operators that start at once agree on one."""
    key = ObjectKey(namespace, names.HOST_KEY_SEED)
    try:
        return await _read(rest, key)
    except NotFoundError:
        await _make(rest, key)
    return await _read(rest, key)


async def _read(rest: Rest, key: ObjectKey) -> bytes:
    held: Json = decode(await rest.get(names.SECRET.path(key)))
    seed = base64.b64decode(held.get("data", {}).get(_ENTRY, ""))
    if len(seed) < MIN_SEED_BYTES:
        raise StartError(
            f"Secret {key} holds no seed of {MIN_SEED_BYTES} bytes under {_ENTRY!r}: delete it to "
            "have one made, which gives every Instance another SSH host key at its next start"
        )
    return seed


async def _make(rest: Rest, key: ObjectKey) -> None:
    seed = base64.b64encode(os.urandom(MIN_SEED_BYTES)).decode()
    body = {
        "apiVersion": names.SECRET.api_version,
        "kind": names.SECRET.kind,
        "metadata": {"name": key.name, "namespace": key.namespace},
        "immutable": True,
        "data": {_ENTRY: seed},
    }
    try:
        await rest.create(names.SECRET, body)
    except AlreadyExistsError:
        return
    except NotFoundError as error:
        raise StartError(
            f"namespace {key.namespace} does not exist: create it, or name another --namespace"
        ) from error
