"""Reads what the nodes of a cluster offer, and says which InstanceTypes they call for."""

from collections.abc import Mapping

import attrs

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.codec import Json
from gpustack_ctrl.api.core import Node
from gpustack_ctrl.api.errors import ForbiddenError, NotFoundError
from gpustack_ctrl.api.instance_type import InstanceType
from gpustack_ctrl.api.manufacturers import MANUFACTURERS, Manufacturer
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.api.setting import Setting
from gpustack_ctrl.app.errors import StartError
from gpustack_ctrl.client.client import Client
from gpustack_ctrl.client.connection import connect
from gpustack_ctrl.client.location import ConnectionOptions
from gpustack_ctrl.client.rest import Rest
from gpustack_ctrl.reconcilers.settings.catalogue import MANUFACTURERS_TABLE
from gpustack_ctrl.reconcilers.settings.in_force import settings_in_force
from gpustack_ctrl.reconcilers.types.suggestions import suggestions
from gpustack_ctrl.runtime.clock import SystemClock


@attrs.frozen
class _Nodes:
    items: tuple[Node, ...] = ()


async def suggested_types(where: ConnectionOptions, namespace: str) -> tuple[Json, ...]:
    """InstanceTypes, ready to be applied; *namespace* holds the Settings of the operator.

    Raises StartError where there is no node.
    """
    clock = SystemClock()
    async with await connect(where, clock=clock) as connection:
        rest = Client(connection=connection, clock=clock).rest
        nodes = codec.reader(_Nodes)(await rest.get(names.NODE.collection())).items
        makers = await _manufacturers(rest, namespace)
    if not nodes:
        raise StartError("the cluster has no nodes: there is nothing to suggest types for")
    return tuple(map(_document, suggestions(nodes, makers)))


def _document(made: InstanceType) -> Json:
    """*made* as a file says it: without a status, and without what goes without saying."""
    spec = codec.to_wire(made.spec)
    unsaid = {"inactive"} if made.spec.manufacturer else {"inactive", "dialect"}
    return {
        "apiVersion": names.INSTANCE_TYPE.api_version,
        "kind": names.INSTANCE_TYPE.kind,
        "metadata": codec.to_wire(made.metadata),
        "spec": {field: told for field, told in spec.items() if field not in unsaid},
    }


async def _manufacturers(rest: Rest, namespace: str) -> Mapping[str, Manufacturer]:
    """The table in force; the built-in one where its Setting is not there, or not for us."""
    key = ObjectKey(namespace, MANUFACTURERS_TABLE.name)
    try:
        held = codec.reader(Setting)(await rest.get(names.SETTING.path(key)))
    except (NotFoundError, ForbiddenError):
        return MANUFACTURERS
    return settings_in_force((held,)).manufacturers
