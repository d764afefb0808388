"""Writes that are tried and never done."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

import attrs

from e2e.cluster import Api, ApiStatusError
from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import ObjectKey

DRY_RUN = "?dryRun=All"


@attrs.frozen
class Writer:
    """Tries writes on one Instance without ever doing them."""

    api: Api
    namespace: str

    def patch(self, name: str, spec: Mapping[str, Any]) -> str:
        """The server's refusal of *spec* merged into Instance *name*; empty: accepted."""
        path = names.INSTANCE.path(ObjectKey(self.namespace, name)) + DRY_RUN
        return refusal(lambda: self.api.patch(path, {"spec": dict(spec)}))

    def create(self, name: str, spec: Mapping[str, Any]) -> str:
        """The server's refusal of a new Instance; empty: accepted."""
        path = names.INSTANCE.collection(self.namespace) + DRY_RUN
        return refusal(lambda: self.api.post(path, instance(name, spec)))


def refusal(write: Callable[[], object]) -> str:
    """What the server says where it finds the object of *write* invalid; empty: accepted."""
    try:
        write()
    except ApiStatusError as refused:
        if refused.status != HTTPStatus.UNPROCESSABLE_ENTITY:
            raise
        return str(refused)
    return ""


def merged(target: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """*target* with *patch* merged into it, as RFC 7386 has it."""
    result = dict(target)
    for key, value in patch.items():
        deeper = isinstance(value, Mapping)
        result[key] = merged(result.get(key) or {}, value) if deeper else value
    return {key: value for key, value in result.items() if value is not None}


def instance(name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest of an Instance."""
    return {
        "apiVersion": names.INSTANCE.api_version,
        "kind": names.INSTANCE.kind,
        "metadata": {"name": name},
        "spec": dict(spec),
    }
