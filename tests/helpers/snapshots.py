"""Arbitrary snapshots of one Instance, odd ones included: whatever caches may ever show."""

from typing import Any

import attrs
from hypothesis import strategies as st

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import (
    ContainerState,
    ContainerStatus,
    ContainerTerminated,
    ContainerWaiting,
    Node,
    Pod,
    PodIP,
    SchedulingGate,
    Service,
)
from gpustack_ctrl.api.errors import ApiError, ConflictError, ForbiddenError, InvalidError
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_status import InstanceStatus
from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.plan.actions import Refused, create
from gpustack_ctrl.reconcilers.isolation.cidrs import OFF
from gpustack_ctrl.reconcilers.settings.in_force import SettingsInForce
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot
from tests.helpers.builders import (
    ON,
    TCP_22,
    TCP_80,
    condition,
    ending,
    instance,
    instance_type,
    meta,
    node,
    owner,
    pod_of,
    policy,
    ports,
    promised,
    remade,
    seen,
    service_of,
)

LONG = "long " * 1000
_EARLIER = owner(uid="uid-of-an-earlier-box")
_words = st.sampled_from(("", "why", LONG))

_waiting = st.sampled_from(("", "ContainerCreating", "ImagePullBackOff", "CrashLoopBackOff"))
_ends = st.none() | st.builds(
    ContainerTerminated,
    exitCode=st.sampled_from((0, 1, 137)),
    reason=st.sampled_from(("", "OOMKilled", "Error")),
    message=_words,
    finishedAt=st.sampled_from((None, "2026-11-30T10:00:00Z")),
)
_states = st.builds(
    ContainerState,
    waiting=st.none() | st.builds(ContainerWaiting, reason=_waiting, message=_words),
    terminated=_ends,
)
_containers = st.builds(
    ContainerStatus,
    name=st.sampled_from(("main", "sshd")),
    ready=st.booleans(),
    restartCount=st.integers(0, 3),
    state=_states,
    lastState=_states,
)
_unplaced = st.builds(
    lambda reason, message: condition("PodScheduled", "False", reason, message),
    st.sampled_from(("", "Unschedulable", "SchedulingGated")),
    _words,
)
_disrupted = st.sampled_from(("PreemptionByScheduler", "DeletionByPodGC")).map(
    lambda reason: condition("DisruptionTarget", "True", reason, LONG)
)
_more = st.lists(_unplaced | _disrupted, max_size=1).map(tuple)
_addresses = st.sampled_from(((), ("10.244.1.9",), ("10.9.0.1", "fd00::1"), ("",)))


@st.composite
def own_pods(draw: st.DrawFn, of: Instance) -> Pod:
    """A Pod of *of* at any point of its life."""
    held = pod_of(
        of,
        phase=draw(st.sampled_from(("", "Pending", "Running", "Failed", "Succeeded", "Unknown"))),
        ready=draw(st.booleans()),
        node=draw(st.sampled_from(("", "node-1"))),
        reason=draw(st.sampled_from(("", "Evicted", "NodeLost", "UnexpectedAdmissionError"))),
        message=draw(_words),
        podIPs=tuple(PodIP(ip=address) for address in draw(_addresses)),
        containerStatuses=tuple(draw(st.lists(_containers, max_size=2))),
        startTime=draw(st.sampled_from((None, "2026-11-30T09:00:00Z"))),
    )
    told = attrs.evolve(held.status, conditions=(*draw(_more), *held.status.conditions))
    gates = tuple(SchedulingGate(name="queue") for _ in range(draw(st.integers(0, 1))))
    held = attrs.evolve(held, status=told, spec=attrs.evolve(held.spec, schedulingGates=gates))
    pod: Pod = _perhaps_ending(draw, held)
    return pod


def _perhaps_ending(draw: st.DrawFn, held: Any) -> Any:
    return ending(held) if draw(st.sampled_from((False, False, True))) else held


@st.composite
def _pods(draw: st.DrawFn, of: Instance) -> Pod | None:
    whose = draw(st.sampled_from(("ours", "ours", "ours", "nobody's", "an earlier one's", "")))
    if not whose:
        return None
    held = draw(own_pods(of))
    if whose == "ours":
        return held
    owners = () if whose == "nobody's" else (_EARLIER,)
    foreign: Pod = remade(held, labels={}, ownerReferences=owners)
    return foreign


@st.composite
def _services(draw: st.DrawFn, of: Instance) -> Service | None:
    numbers = {TCP_22: 30022, TCP_80: draw(st.sampled_from((30080, 31000, None)))}
    listed = draw(st.sampled_from(((TCP_22,), (TCP_22, TCP_80))))
    settled = service_of(of, *((identity, numbers[identity]) for identity in listed))
    foreign = remade(settled, labels={}, ownerReferences=())
    held = draw(st.sampled_from((None, settled, settled, foreign)))
    return None if held is None else _perhaps_ending(draw, held)


_before = st.sampled_from(
    (
        InstanceStatus(),
        promised(tcp22=30022),
        promised(tcp22=30022, tcp80=30080),
        InstanceStatus(podUID="uid-of-pod", image="mirror.example/work:1"),
    )
)
_settings = st.sampled_from(
    (
        SettingsInForce(isolation=OFF),
        SettingsInForce(isolation=ON),
        SettingsInForce(isolation=None),
    )
)
_types = st.sampled_from((None, instance_type(), instance_type(InstanceTypeSpec(inactive=True))))
_nodes: st.SearchStrategy[Node | None] = st.sampled_from((None, node(), node(ready="Unknown")))
_errors: st.SearchStrategy[ApiError] = st.sampled_from(
    (ConflictError("changed"), ForbiddenError("exceeded quota: x"), InvalidError(LONG))
)
refusals = st.lists(
    st.builds(Refused, st.just(create(names.POD, meta(), {})), _errors), max_size=1
).map(tuple)


@st.composite
def snapshots(draw: st.DrawFn) -> InstanceSnapshot:
    """Whatever a pass may see of one Instance."""
    of = instance(
        stop=draw(st.sampled_from((False, False, True))),
        deleting=draw(st.sampled_from((False, False, False, True))),
        ports=ports(*draw(st.sampled_from(((), (TCP_22,), (TCP_22, TCP_80))))),
        status=draw(_before),
    )
    held = draw(st.sampled_from((None, policy(ON), policy(OFF))))
    return seen(
        of,
        pod=draw(_pods(of)),
        service=draw(_services(of)),
        settings=draw(_settings),
        type=draw(_types),
        node=draw(_nodes),
        policy=held,
        holders=draw(st.sampled_from(({}, {30080: ObjectKey("other", "web")}))),
    )
