"""What is true of an Instance: recomputed at every pass, written by the operator alone."""

from enum import StrEnum
from typing import Annotated

import attrs
from annotated_types import MaxLen

from gpustack_ctrl.api.markers import Doc, ListMap, Timestamp
from gpustack_ctrl.api.meta import Condition
from gpustack_ctrl.api.ports import PortStatus
from gpustack_ctrl.api.usage import Usage


class Phase(StrEnum):
    """Where an Instance is in its life, in one word."""

    PENDING = "Pending"
    QUEUED = "Queued"
    STARTING = "Starting"
    READY = "Ready"
    STOPPING = "Stopping"
    STOPPED = "Stopped"
    FAILED = "Failed"
    DELETING = "Deleting"
    UNKNOWN = "Unknown"


@attrs.frozen(kw_only=True)
class Blocker:
    """The first gate that holds an Instance back."""

    gate: Annotated[
        str, MaxLen(32), Doc("admission, quota, podSecurity, type, queue, scheduling, …")
    ]
    reason: Annotated[str, MaxLen(64), Doc("One word, for programs.")]
    message: Annotated[str, MaxLen(4096), Doc("The sentence of the component that said no.")]
    since: Annotated[Timestamp | None, Doc("Since when.")] = None
    owner: Annotated[str, MaxLen(32), Doc("Who can remove it: user, admin or cluster.")] = "user"


@attrs.frozen(kw_only=True)
class Address:
    """An address of a node or a Pod."""

    ip: Annotated[str, MaxLen(64), Doc("The address.")]


@attrs.frozen(kw_only=True)
class LastTermination:
    """How the workload ended the last time that nobody asked it to."""

    reason: Annotated[str, MaxLen(128), Doc("One word, of the kubelet or whoever ended it.")]
    message: Annotated[str, MaxLen(4096), Doc("The sentence that came with it.")] = ""
    exitCode: Annotated[int | None, Doc("Exit code, where a container ended.")] = None
    signal: Annotated[int | None, Doc("Signal that ended it, if one did.")] = None
    node: Annotated[str, MaxLen(253), Doc("Node that it ran on.")] = ""
    podUID: Annotated[str, MaxLen(64), Doc("Pod that it ran in.")] = ""
    finishedAt: Annotated[Timestamp | None, Doc("When it ended, or was seen to have.")] = None
    dataLost: Annotated[
        bool, Doc("Whether an ephemeral workspace went with the Pod, and what it held.")
    ] = False


@attrs.frozen(kw_only=True)
class Failures:
    """Pods that failed in a row; a stop, a start or an edit begins anew."""

    count: Annotated[int, Doc("How many failed by themselves.")] = 0
    podUID: Annotated[str, MaxLen(64), Doc("The last of them.")] = ""
    retryAt: Annotated[
        Timestamp | None, Doc("When the next Pod is made; absent: not by itself.")
    ] = None
    generation: Annotated[int | None, Doc("The spec under which they failed.")] = None
    typeGeneration: Annotated[int | None, Doc("The type under which they failed.")] = None


@attrs.frozen(kw_only=True)
class SSHStatus:
    """How to log in, and how to know that it is the right server."""

    fingerprint: Annotated[
        str, MaxLen(128), Doc("Fingerprint of the host key that the running Pod has.")
    ]
    command: Annotated[str, MaxLen(1024), Doc("A command ready to paste.")] = ""
    knownHosts: Annotated[str, MaxLen(1024), Doc("A line for the known_hosts file.")] = ""


@attrs.frozen(kw_only=True)
class InstanceStatus:
    """What is true of an Instance, recomputed at every pass."""

    observedGeneration: Annotated[int | None, Doc("The spec that this status speaks of.")] = None
    phase: Annotated[Phase | None, Doc("Where the Instance is in its life.")] = None
    message: Annotated[str, MaxLen(4096), Doc("The phase in one sentence.")] = ""
    blocker: Annotated[Blocker | None, Doc("What holds the Instance back, if anything.")] = None
    conditions: Annotated[
        tuple[Condition, ...], ListMap(("type",)), MaxLen(32), Doc("Statements for programs.")
    ] = ()
    ports: Annotated[
        tuple[PortStatus, ...],
        ListMap(("port", "protocol")),
        MaxLen(32),
        Doc("The ports in force and their node ports; kept while stopped."),
    ] = ()
    portSummary: Annotated[
        str, MaxLen(1024), Doc("The ports as kubectl shows them: port:nodePort/protocol.")
    ] = ""
    nodeName: Annotated[str, MaxLen(253), Doc("Node that runs the Pod.")] = ""
    hostIPs: Annotated[tuple[Address, ...], MaxLen(8), Doc("Addresses of that node.")] = ()
    podIPs: Annotated[tuple[Address, ...], MaxLen(8), Doc("Addresses of the Pod.")] = ()
    accessAddresses: Annotated[
        tuple[Annotated[str, MaxLen(253)], ...],
        MaxLen(8),
        Doc("Where users reach the node ports: by a Setting, else the address of the node."),
    ] = ()
    ssh: Annotated[SSHStatus | None, Doc("How to log in, where there is an SSH key.")] = None
    lastTermination: Annotated[
        LastTermination | None, Doc("How the workload ended last, where nobody asked it to.")
    ] = None
    failures: Annotated[Failures | None, Doc("Pods that failed in a row.")] = None
    podUID: Annotated[str, MaxLen(64), Doc("The Pod that this status speaks of.")] = ""
    image: Annotated[
        str, MaxLen(512), Doc("The image that the Pod was made with, after admission.")
    ] = ""
    restarts: Annotated[int, Doc("How often the workload restarted inside its Pod.")] = 0
    startTime: Annotated[Timestamp | None, Doc("When the kubelet accepted the Pod.")] = None
    usage: Annotated[Usage | None, Doc("How the Instance passed its time, for billing.")] = None
