"""Ports of an Instance: asked for, and given."""

from enum import StrEnum
from typing import Annotated

import attrs
from annotated_types import Ge, Le, MaxLen

from gpustack_ctrl.api.markers import Doc


class Protocol(StrEnum):
    """A transport protocol of a port."""

    TCP = "TCP"
    UDP = "UDP"
    SCTP = "SCTP"


PortIdentity = tuple[int, Protocol]


@attrs.frozen(kw_only=True)
class InstancePort:
    """A port of the workload that users reach through a node port.

    It stays the same port, and keeps its node port, for as long as *port* and
    *protocol* stay the same. Renaming or moving it in the list changes nothing.
    """

    port: Annotated[int, Ge(1), Le(65535), Doc("Port that the workload listens on.")]
    protocol: Annotated[Protocol, Doc("Transport protocol.")] = Protocol.TCP
    name: Annotated[str, MaxLen(16), Doc("A label for people; it has no effect.")] = ""

    @property
    def identity(self) -> PortIdentity:
        """What makes two entries the same port."""
        return (self.port, self.protocol)


@attrs.frozen(kw_only=True)
class PortStatus:
    """A port of the Instance and the node port that leads to it."""

    port: Annotated[int, Doc("Port of the workload.")]
    protocol: Annotated[Protocol, Doc("Transport protocol.")]
    name: Annotated[str, MaxLen(16), Doc("The name given in spec.ports.")] = ""
    nodePort: Annotated[int | None, Doc("Port on every node.")] = None

    @property
    def identity(self) -> PortIdentity:
        """What makes two entries the same port."""
        return (self.port, self.protocol)
