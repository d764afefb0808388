"""The catalogue of Settings: their names, defaults, meaning, and how each is read."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Generic, TypeVar

import attrs

from gpustack_ctrl.api.manufacturer_overrides import override
from gpustack_ctrl.api.manufacturers import MANUFACTURERS
from gpustack_ctrl.reconcilers.excerpt import excerpt
from gpustack_ctrl.reconcilers.isolation.cidrs import parse_cidrs
from gpustack_ctrl.reconcilers.settings.images import image_reference
from gpustack_ctrl.reconcilers.settings.places import (
    dns_suffix,
    host,
    registry,
    repository_namespace,
)

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class Definition(Generic[T]):
    """One entry of the catalogue. *parse* raises ValueError with the remedy.

    *read_as* writes a value the shortest way, where there is more than one.
    """

    name: str
    default: str
    meaning: str
    parse: Callable[[str], T]
    read_as: Callable[[T], str] = lambda _: ""

    @property
    def variable(self) -> str:
        """The environment variable that seeds the Setting."""
        return f"GPUSTACK_{self.name.upper().replace('-', '_')}"


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(f"{excerpt(text)} is neither true nor false")
    return text == "true"


ISOLATION = Definition(
    name="instance-isolation-pod-cidrs",
    default="",
    meaning="CIDRs of the cluster's Pods, comma-separated; blank switches isolation off",
    parse=parse_cidrs,
    read_as=str,
)
OVERCOMMIT = Definition(
    name="instance-general-resources-overcommit",
    default="true",
    meaning="request less CPU, memory and storage of the nodes than the limits allow",
    parse=_boolean,
)

PRIVILEGED = Definition(
    name="instance-privileged-allowed",
    default="false",
    meaning="let Instances run privileged",
    parse=_boolean,
)
HOST_PATHS = Definition(
    name="instance-host-path-volume-allowed",
    default="false",
    meaning="let Instances mount paths of their node",
    parse=_boolean,
)
SSH_IMAGE = Definition(
    name="instance-ssh-server-image",
    default="gpustack/gpustack-ctrl-ssh-server:0.1.0",
    meaning="image of the SSH server beside a workload",
    parse=image_reference,
)
REGISTRY = Definition(
    name="container-registry",
    default="",
    meaning="registry that the image of the SSH server is pulled from",
    parse=registry,
)
REPOSITORY_NAMESPACE = Definition(
    name="container-namespace",
    default="",
    meaning="namespace of the registry in place of the one that the image names",
    parse=repository_namespace,
)
STATIC_ADDRESS = Definition(
    name="instance-access-static-address",
    default="",
    meaning="address by which users reach the node ports of every Instance",
    parse=host,
)
WILDCARD_DNS = Definition(
    name="instance-access-wildcard-dns",
    default="",
    meaning="DNS suffix after a node's address with hyphens, where no static address is set",
    parse=dns_suffix,
)
MANUFACTURERS_TABLE = Definition(
    name="accelerator-manufacturers",
    default="",
    meaning="rows of the table of manufacturers to add or replace, as JSON",
    parse=partial(override, MANUFACTURERS),
)

CATALOGUE: Mapping[str, Definition[Any]] = {
    entry.name: entry
    for entry in (
        ISOLATION,
        OVERCOMMIT,
        PRIVILEGED,
        HOST_PATHS,
        SSH_IMAGE,
        REGISTRY,
        REPOSITORY_NAMESPACE,
        STATIC_ADDRESS,
        WILDCARD_DNS,
        MANUFACTURERS_TABLE,
    )
}
