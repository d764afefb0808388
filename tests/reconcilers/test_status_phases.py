"""T2: the phase of an Instance and its condition Ready, for each stage of its life."""

from typing import Any

import attrs
import pytest

from gpustack_ctrl.api.core import Pod, PodContainer, PodIP, SchedulingGate
from gpustack_ctrl.api.instance_status import InstanceStatus, Phase
from gpustack_ctrl.api.meta import Condition, ObjectKey, condition_of
from gpustack_ctrl.reconcilers.settings.in_force import SettingsInForce
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot
from gpustack_ctrl.reconcilers.status.summary import status
from tests.helpers.builders import (
    ON,
    TCP_80,
    UDP_80,
    ending,
    instance,
    meta,
    node,
    owner,
    pod_of,
    policy,
    ports,
    promised,
    seen,
    service_of,
)

BOX = instance()
STOPPED = instance(stop=True)
DELETED = instance(deleting=True)
WITH_PORT = instance(ports=ports(TCP_80), status=promised(tcp80=30080))
SERVICE = service_of(WITH_PORT, (TCP_80, 30080))
RUNNING = pod_of(BOX)
STARTING = pod_of(BOX, phase="Pending", ready=False)
UNPLACED = pod_of(BOX, phase="Pending", ready=False, node="")
FOREIGN = Pod(metadata=meta())
PASSING = Pod(metadata=meta(ownerReferences=(owner(uid="uid-of-an-earlier-box"),)))
GATED = attrs.evolve(
    UNPLACED, spec=attrs.evolve(UNPLACED.spec, schedulingGates=(SchedulingGate(name="kueue"),))
)
FAILED = pod_of(BOX, phase="Failed", ready=False, reason="Evicted", message="disk pressure")
ISOLATED = SettingsInForce(isolation=ON)

Row = tuple[InstanceSnapshot, Phase, str, str]
LIFE: dict[str, Row] = {
    "no Pod yet": (seen(BOX), Phase.PENDING, "False", "PodMissing"),
    "an earlier Pod of the name is ending": (
        seen(BOX, pod=PASSING), Phase.PENDING, "False", "Waiting",
    ),
    "somebody else's Pod": (seen(BOX, pod=FOREIGN), Phase.PENDING, "False", "NameConflict"),
    "no such type": (seen(BOX, type=None), Phase.PENDING, "False", "TypeNotFound"),
    "not placed yet": (seen(BOX, pod=UNPLACED), Phase.PENDING, "False", "Scheduling"),
    "in a queue": (seen(BOX, pod=GATED), Phase.QUEUED, "False", "SchedulingGated"),
    "placed": (seen(BOX, pod=STARTING), Phase.STARTING, "False", "Starting"),
    "Ready": (seen(BOX, pod=RUNNING), Phase.READY, "True", "Ready"),
    "Ready, with its ports": (
        seen(WITH_PORT, pod=RUNNING, service=SERVICE), Phase.READY, "True", "Ready",
    ),
    "Ready, without its Service": (
        seen(WITH_PORT, pod=RUNNING), Phase.STARTING, "False", "ServicePending",
    ),
    "Ready, its Service on the way out": (
        seen(WITH_PORT, pod=RUNNING, service=ending(SERVICE)),
        Phase.STARTING, "False", "ServicePending",
    ),
    "Ready, isolated": (
        seen(BOX, pod=RUNNING, settings=ISOLATED, policy=policy(ON)), Phase.READY, "True", "Ready",
    ),
    "Ready, not isolated yet": (
        seen(BOX, pod=RUNNING, settings=ISOLATED), Phase.STARTING, "False", "PolicyPending",
    ),
    "Ready, isolation unknown": (
        seen(BOX, pod=RUNNING, settings=SettingsInForce(isolation=None)),
        Phase.STARTING, "False", "SettingInvalid",
    ),
    "the Pod is being replaced": (
        seen(BOX, pod=ending(RUNNING)), Phase.PENDING, "False", "Replacing",
    ),
    "the Pod failed": (seen(BOX, pod=FAILED), Phase.FAILED, "False", "Evicted"),
    "the Pod failed, told as Ready": (
        seen(BOX, pod=pod_of(BOX, phase="Failed", reason="Evicted")),
        Phase.FAILED, "False", "Evicted",
    ),
    "the node is silent": (
        seen(BOX, pod=RUNNING, node=node(ready="Unknown")), Phase.UNKNOWN, "Unknown", "NodeLost",
    ),
    "the Pod is lost": (
        seen(BOX, pod=pod_of(BOX, reason="NodeLost")), Phase.UNKNOWN, "Unknown", "NodeLost",
    ),
    "the node is not Ready, but answers": (
        seen(BOX, pod=RUNNING, node=node(ready="False")), Phase.READY, "True", "Ready",
    ),
    "stopping": (seen(STOPPED, pod=RUNNING), Phase.STOPPING, "False", "Stopping"),
    "the Pod is ending": (seen(STOPPED, pod=ending(RUNNING)), Phase.STOPPING, "False", "Stopping"),
    "stopped": (seen(STOPPED), Phase.STOPPED, "False", "Stopped"),
    "stopped, its type is gone": (seen(STOPPED, type=None), Phase.STOPPED, "False", "Stopped"),
    "stopped beside a foreign Pod": (
        seen(STOPPED, pod=FOREIGN), Phase.STOPPED, "False", "Stopped",
    ),
    "deleting": (seen(DELETED, pod=RUNNING), Phase.DELETING, "False", "Deleting"),
    "deleting while stopped": (
        seen(instance(deleting=True, stop=True)), Phase.DELETING, "False", "Deleting",
    ),
}  # fmt: skip


def ready_of(told: InstanceStatus) -> Condition:
    ready = condition_of(told.conditions, "Ready")
    assert ready is not None
    return ready


@pytest.mark.parametrize(("snapshot", "phase", "ready", "reason"), LIFE.values(), ids=LIFE)
def test_t2_phase_and_ready_say_where_the_instance_is(
    snapshot: InstanceSnapshot, phase: Phase, ready: str, reason: str
) -> None:
    told = status(snapshot)

    assert (phase, ready, reason) == (told.phase, ready_of(told).status, ready_of(told).reason)
    assert ready_of(told).message == told.message != ""


def test_t2_a_running_pod_is_told_with_its_place_and_its_past() -> None:
    run = pod_of(BOX, startTime="2026-11-30T11:30:00Z", hostIPs=(PodIP(ip="192.0.2.7"),))

    told = status(seen(BOX, pod=run))

    assert ("node-1", "uid-of-pod") == (told.nodeName, told.podUID)
    assert ["10.244.1.9"] == [held.ip for held in told.podIPs]
    assert ["192.0.2.7"] == [held.ip for held in told.hostIPs]
    assert "2026-11-30T11:30:00Z" == told.startTime
    assert BOX.spec.image == told.image


@pytest.mark.parametrize("pod", [FOREIGN, PASSING, None])
def test_t1_nothing_is_told_of_a_pod_that_is_not_ours(pod: Any) -> None:
    told = status(seen(instance(status=InstanceStatus(podUID="old", nodeName="old")), pod=pod))

    assert ("", "", "", 0, None) == (
        told.nodeName, told.podUID, told.image, told.restarts, told.startTime,
    )  # fmt: skip


def test_t1_the_image_is_noted_once_for_each_pod() -> None:
    noted = InstanceStatus(podUID="uid-of-pod", image="mirror.example/work:1")
    of_another = InstanceStatus(podUID="uid-of-an-earlier-pod", image="mirror.example/work:1")

    assert "mirror.example/work:1" == status(seen(instance(status=noted), pod=RUNNING)).image
    assert BOX.spec.image == status(seen(instance(status=of_another), pod=RUNNING)).image


def test_t1_an_image_that_somebody_made_too_long_is_not_noted() -> None:
    main = PodContainer(name="main", image="x" * 513)
    long = attrs.evolve(RUNNING, spec=attrs.evolve(RUNNING.spec, containers=(main,)))

    assert "" == status(seen(BOX, pod=long)).image


def test_t1_the_status_speaks_of_the_generation_that_was_seen() -> None:
    told = status(seen(BOX, pod=RUNNING))

    assert {3} == {told.observedGeneration, *(it.observedGeneration for it in told.conditions)}


def test_s1_status_tells_the_node_port_of_each_port_and_protocol_with_its_name() -> None:
    held = instance(ports=(attrs.evolve(ports(TCP_80)[0], name="web"), *ports(UDP_80)))
    service = service_of(held, (TCP_80, 30080), (UDP_80, None))

    told = status(seen(held, service=service))

    assert [(TCP_80, "web", 30080), (UDP_80, "", None)] == [
        (port.identity, port.name, port.nodePort) for port in told.ports
    ]
    assert "80:30080/TCP,80:?/UDP" == told.portSummary


def test_t1_a_message_that_is_too_long_for_the_api_server_is_cut() -> None:
    many = promised(**{f"tcp{number}": 30000 + number for number in range(1, 33)})
    box = instance(ports=ports(*(held.identity for held in many.ports)), status=many)
    holders = {30000 + number: ObjectKey("n" * 63, "s" * 63) for number in range(1, 33)}

    told = status(seen(box, pod=pod_of(box), holders=holders))

    assert "NodePortTaken" == ready_of(told).reason
    assert 4096 == len(told.message)


def test_s2_a_stopped_instance_still_tells_its_ports() -> None:
    stopped = instance(stop=True, status=promised(tcp80=30080))

    assert [(TCP_80, 30080)] == [
        (port.identity, port.nodePort) for port in status(seen(stopped)).ports
    ]


def test_s6_nothing_is_told_of_a_foreign_service_s_node_ports() -> None:
    foreign = attrs.evolve(SERVICE, metadata=meta())

    told = status(seen(instance(ports=ports(TCP_80)), service=foreign))

    assert [None] == [port.nodePort for port in told.ports]


STATED = {"Ready", "PodScheduled", "PortsReady", "NetworkIsolated", "Stopped", "RestartPending"}


@pytest.mark.parametrize("snapshot", [row[0] for row in LIFE.values()], ids=LIFE)
def test_t1_every_condition_is_stated_once_at_every_stage(snapshot: InstanceSnapshot) -> None:
    kinds = [told.type for told in status(snapshot).conditions]

    assert STATED <= set(kinds)
    assert len(kinds) == len(set(kinds))
