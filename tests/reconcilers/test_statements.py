"""T2: what each condition of an Instance says, and what it says why."""

from typing import Any

import attrs
import pytest

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import Pod, PodIP, Service
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.meta import Condition, ObjectKey, condition_of
from gpustack_ctrl.reconcilers.pod_template import rendered
from gpustack_ctrl.reconcilers.settings.in_force import SettingsInForce
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot
from gpustack_ctrl.reconcilers.status.summary import status
from tests.helpers.builders import (
    ON,
    TCP_80,
    condition,
    ending,
    instance,
    meta,
    owner,
    pod_of,
    policy,
    ports,
    promised,
    remade,
    seen,
    service_of,
)

BOX = instance()
WITH_PORT = instance(ports=ports(TCP_80), status=promised(tcp80=30080))
SERVICE = service_of(WITH_PORT, (TCP_80, 30080))
ISOLATED = SettingsInForce(isolation=ON)


def told(snapshot: InstanceSnapshot, kind: str) -> Condition | None:
    """The condition *kind* of what was seen."""
    return condition_of(status(snapshot).conditions, kind)


def brief(snapshot: InstanceSnapshot, kind: str) -> tuple[str, str]:
    """Status and reason of the condition *kind*."""
    found = told(snapshot, kind)
    assert found is not None
    return found.status, found.reason


SCHEDULED: dict[str, tuple[Pod | None, tuple[str, str]]] = {
    "no Pod": (None, ("False", "NoPod")),
    "placed": (pod_of(BOX), ("True", "Scheduled")),
    "nothing said": (pod_of(BOX, node="", conditions=()), ("False", "Scheduling")),
    "said no": (
        pod_of(BOX, node="", conditions=(condition("PodScheduled", "False", "Unschedulable"),)),
        ("False", "Unschedulable"),
    ),
}


@pytest.mark.parametrize(("pod", "expected"), SCHEDULED.values(), ids=SCHEDULED)
def test_t2_pod_scheduled(pod: Pod | None, expected: tuple[str, str]) -> None:
    assert expected == brief(seen(BOX, pod=pod), "PodScheduled")


PORTS: dict[str, tuple[InstanceSnapshot, tuple[str, str]]] = {
    "none listed": (seen(BOX), ("False", "NoPorts")),
    "all there": (seen(WITH_PORT, service=SERVICE), ("True", "Allocated")),
    "not made": (seen(WITH_PORT), ("False", "ServicePending")),
    "somebody else's": (
        seen(WITH_PORT, service=Service(metadata=meta())), ("False", "NameConflict"),
    ),
    "taken": (
        seen(WITH_PORT, holders={30080: ObjectKey("other", "web")}), ("False", "NodePortTaken"),
    ),
    "edited by hand": (
        seen(WITH_PORT, service=remade(SERVICE, ownerReferences=())), ("False", "ServicePending"),
    ),
    "on its way out": (seen(WITH_PORT, service=ending(SERVICE)), ("False", "ServicePending")),
    "of an earlier Instance": (
        seen(WITH_PORT, service=remade(SERVICE, ownerReferences=(owner(uid="old"),))),
        ("False", "ServicePending"),
    ),
    "kept while stopped": (
        seen(instance(stop=True, status=promised(tcp80=30080)), service=SERVICE),
        ("True", "Allocated"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("snapshot", "expected"), PORTS.values(), ids=PORTS)
def test_t2_ports_ready(snapshot: InstanceSnapshot, expected: tuple[str, str]) -> None:
    assert expected == brief(snapshot, "PortsReady")


def test_s5_a_taken_node_port_is_told_with_its_holder_and_the_remedy() -> None:
    held = told(seen(WITH_PORT, holders={30080: ObjectKey("other", "web")}), "PortsReady")

    assert held is not None
    assert "30080 by Service other/web" in held.message
    assert "free them" in held.message


def running(*addresses: str, **rest: Any) -> InstanceSnapshot:
    """A running Pod with these addresses, under the isolation that is asked for."""
    pod = pod_of(BOX, podIPs=tuple(PodIP(ip=address) for address in addresses))
    return seen(BOX, pod=pod, **({"settings": ISOLATED, "policy": policy(ON)} | rest))


ISOLATION: dict[str, tuple[InstanceSnapshot, tuple[str, str]]] = {
    "off": (seen(BOX), ("False", "NotAskedFor")),
    "not known": (
        running("10.244.1.9", settings=SettingsInForce(isolation=None)),
        ("Unknown", "SettingInvalid"),
    ),
    "in place": (running("10.244.1.9"), ("True", "PolicyInPlace")),
    "in place, no Pod": (
        seen(BOX, settings=ISOLATED, policy=policy(ON)), ("True", "PolicyInPlace"),
    ),
    "missing": (running("10.244.1.9", policy=None), ("False", "PolicyPending")),
    "edited": (
        running("10.244.1.9", policy=attrs.evolve(policy(ON), spec={"podSelector": {}})),
        ("False", "PolicyPending"),
    ),
    "a Pod outside": (running("10.9.0.1"), ("False", "PodIPOutsideConfiguredCIDRs")),
    "half of a Pod outside": (
        running("10.244.1.9", "fd00::9"), ("False", "PodIPOutsideConfiguredCIDRs"),
    ),
    "no address yet": (running(), ("True", "PolicyInPlace")),
}  # fmt: skip


@pytest.mark.parametrize(("snapshot", "expected"), ISOLATION.values(), ids=ISOLATION)
def test_n2_network_isolated(snapshot: InstanceSnapshot, expected: tuple[str, str]) -> None:
    assert expected == brief(snapshot, "NetworkIsolated")


def test_n6_an_address_outside_is_named_with_the_setting_that_lacks_it() -> None:
    found = told(running("10.244.1.9", "fd00::9"), "NetworkIsolated")

    assert found is not None
    assert "has address fd00::9, which no CIDR" in found.message
    assert "instance-isolation-pod-cidrs" in found.message


STOP: dict[str, tuple[InstanceSnapshot, tuple[str, str]]] = {
    "running": (seen(BOX, pod=pod_of(BOX)), ("False", "Running")),
    "not yet running": (seen(BOX), ("False", "Running")),
    "stopping": (seen(instance(stop=True), pod=pod_of(BOX)), ("False", "Stopping")),
    "stopped": (seen(instance(stop=True)), ("True", "Stopped")),
    "stopped beside a foreign Pod": (
        seen(instance(stop=True), pod=Pod(metadata=meta())), ("True", "Stopped"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("snapshot", "expected"), STOP.values(), ids=STOP)
def test_t2_stopped(snapshot: InstanceSnapshot, expected: tuple[str, str]) -> None:
    assert expected == brief(snapshot, "Stopped")


def made(of: Instance, **edit: Any) -> InstanceSnapshot:
    """A Pod that was made for *of*, and the Instance after an edit."""
    template = rendered(seen(of))
    assert template is not None
    pod = pod_of(of, annotations=dict(template.metadata.annotations))
    return seen(attrs.evolve(of, spec=attrs.evolve(of.spec, **edit)), pod=pod)


def test_t5_a_pod_as_it_would_be_made_now_has_no_restart_pending() -> None:
    assert ("False", "UpToDate") == brief(made(BOX), "RestartPending")
    assert ("False", "UpToDate") == brief(made(BOX, displayName="mine"), "RestartPending")


def test_t5_a_pod_that_would_be_made_otherwise_now_has_a_restart_pending() -> None:
    assert ("True", "IntentChanged") == brief(made(BOX, args=("-v",)), "RestartPending")


@pytest.mark.parametrize("edit", [{"stop": True}, {"type": "gone"}])
def test_t5_nothing_is_pending_for_what_stops_or_cannot_be_made(edit: dict[str, Any]) -> None:
    held = made(BOX, **edit)
    held = attrs.evolve(held, type=None) if "type" in edit else held

    assert ("False", "UpToDate") == brief(held, "RestartPending")


def test_t5_nothing_is_pending_for_a_pod_that_is_on_its_way_out() -> None:
    held = made(BOX, args=("-v",))

    assert ("False", "UpToDate") == brief(
        attrs.evolve(held, pod=ending(held.pod)), "RestartPending"
    )


FOREIGN = meta(ownerReferences=(owner("ReplicaSet", "web", "rs"),))


def test_s6_a_name_conflict_is_stated_only_where_there_is_one() -> None:
    assert told(seen(WITH_PORT, pod=pod_of(WITH_PORT), service=SERVICE), "NameConflict") is None
    assert told(seen(BOX, service=Service(metadata=FOREIGN)), "NameConflict") is None
    assert ("True", "PodNotOurs") == brief(seen(BOX, pod=Pod(metadata=FOREIGN)), "NameConflict")
    assert ("True", "ServiceNotOurs") == brief(
        seen(WITH_PORT, service=Service(metadata=FOREIGN)), "NameConflict"
    )


def test_s6_a_name_conflict_names_the_owner_and_the_command() -> None:
    found = told(seen(WITH_PORT, service=Service(metadata=FOREIGN)), "NameConflict")

    assert found is not None
    assert "Service team/box is controlled by ReplicaSet web" in found.message
    assert "`kubectl delete service box -n team`" in found.message
    assert names.SERVICE.kind in found.message
