"""S: which Service an Instance should have, and what to do about the one that is there."""

import attrs
import pytest

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.core import Service
from gpustack_ctrl.api.instance_status import InstanceStatus
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.api.ports import InstancePort, Protocol
from gpustack_ctrl.plan.actions import Apply, Create, Delete, Plan
from gpustack_ctrl.reconcilers import service
from tests.helpers.builders import (
    TCP_22,
    TCP_80,
    UDP_80,
    ending,
    instance,
    ports,
    promised,
    remade,
    seen,
    service_of,
    service_port,
)

RUNNING = instance(ports=ports(TCP_80, TCP_22), status=promised(tcp22=30022, tcp80=30080))
STOPPED = attrs.evolve(RUNNING, spec=attrs.evolve(RUNNING.spec, stop=True))
SETTLED = service_of(RUNNING, (TCP_22, 30022), (TCP_80, 30080))


def spec_of(plan: Plan) -> dict[str, object]:
    """The spec that the only action of *plan* writes."""
    [action] = plan
    assert isinstance(action, Create | Apply)
    body = action.body if isinstance(action, Create) else action.patch
    return dict(body["spec"])


def with_ports(**node_ports: int) -> Service:
    """The settled Service after somebody edited its node ports."""
    changed = service_of(RUNNING, (TCP_22, node_ports["tcp22"]), (TCP_80, node_ports["tcp80"]))
    return attrs.evolve(SETTLED, spec=changed.spec)


def test_s1_the_first_start_makes_a_node_port_service_of_the_instance_s_name() -> None:
    [action] = service.plan(seen(instance(ports=ports(TCP_80, UDP_80, TCP_22))))

    assert isinstance(action, Create)
    assert ObjectKey("team", "box") == action.key
    assert {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "box",
            "namespace": "team",
            "labels": {names.PART_OF: "uid-of-box", names.TYPE: "instances"},
            "annotations": {names.PORTS: "22/TCP,80/TCP,80/UDP"},
            "ownerReferences": [
                {
                    "apiVersion": "worker.gpustack.ai/v1",
                    "kind": "Instance",
                    "name": "box",
                    "uid": "uid-of-box",
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": {
            "type": "NodePort",
            "selector": {names.PART_OF: "uid-of-box"},
            "ports": [
                {"name": "tcp-22", "port": 22, "protocol": "TCP", "targetPort": 22},
                {"name": "tcp-80", "port": 80, "protocol": "TCP", "targetPort": 80},
                {"name": "udp-80", "port": 80, "protocol": "UDP", "targetPort": 80},
            ],
            "publishNotReadyAddresses": False,
        },
    } == action.body


def test_s1_without_ports_there_is_no_service() -> None:
    assert () == service.plan(seen(instance()))


def test_s1_a_settled_service_is_left_alone() -> None:
    assert () == service.plan(seen(RUNNING, service=SETTLED))


def test_s2_a_stop_keeps_the_service_as_it_is() -> None:
    assert () == service.plan(seen(STOPPED, service=SETTLED))


def test_s2_an_instance_that_never_started_has_no_service() -> None:
    assert () == service.plan(seen(instance(ports=ports(TCP_80), stop=True)))


def test_s2_a_service_that_its_status_does_not_tell_of_yet_is_kept_through_a_stop() -> None:
    unheard = attrs.evolve(STOPPED, status=InstanceStatus())

    assert () == service.plan(seen(unheard, service=SETTLED))


@pytest.mark.parametrize("now", [(), (TCP_22,), (TCP_22, UDP_80), (UDP_80,)])
def test_s4_ports_edited_while_stopped_do_not_reach_the_service(
    now: tuple[tuple[int, Protocol], ...],
) -> None:
    edited = attrs.evolve(STOPPED, spec=attrs.evolve(STOPPED.spec, ports=ports(*now)))

    assert () == service.plan(seen(edited, service=SETTLED))


def test_s4_at_the_start_kept_ports_keep_their_number_and_new_ones_ask_for_none() -> None:
    edited = attrs.evolve(RUNNING, spec=attrs.evolve(RUNNING.spec, ports=ports(UDP_80, TCP_22)))

    [action] = service.plan(seen(edited, service=SETTLED))

    assert isinstance(action, Apply)
    assert {
        "metadata": {"annotations": {names.PORTS: "22/TCP,80/UDP"}},
        "spec": {
            "ports": [
                codec.to_wire(service_port(TCP_22, 30022)),
                codec.to_wire(service_port(UDP_80, None)),
            ]
        },
    } == action.patch


def test_s4_a_cleared_list_deletes_the_service_at_the_start() -> None:
    cleared = attrs.evolve(RUNNING, spec=attrs.evolve(RUNNING.spec, ports=()))

    assert (
        Delete(resource=names.SERVICE, key=RUNNING.key, uid="uid-of-service", because="no ports"),
    ) == service.plan(seen(cleared, service=SETTLED))


def test_s4_renaming_and_reordering_change_nothing() -> None:
    renamed = (InstancePort(port=22, name="login"), InstancePort(port=80, name="web"))
    edited = attrs.evolve(RUNNING, spec=attrs.evolve(RUNNING.spec, ports=renamed))

    assert () == service.plan(seen(edited, service=SETTLED))


def test_s4_the_order_in_which_the_server_returns_ports_means_nothing() -> None:
    backwards = attrs.evolve(SETTLED.spec, ports=SETTLED.spec.ports[::-1])

    assert () == service.plan(seen(RUNNING, service=attrs.evolve(SETTLED, spec=backwards)))


@pytest.mark.parametrize("of", [RUNNING, STOPPED])
def test_s5_a_deleted_service_comes_back_with_the_node_ports_of_the_status(of: object) -> None:
    held = RUNNING if of is RUNNING else STOPPED

    spec = spec_of(service.plan(seen(held)))

    assert [30022, 30080] == [port["nodePort"] for port in spec["ports"]]  # type: ignore[attr-defined]


def test_s5_the_node_ports_of_the_status_beat_those_that_somebody_set() -> None:
    spec = spec_of(service.plan(seen(RUNNING, service=with_ports(tcp22=31000, tcp80=30080))))

    assert {"ports": [codec.to_wire(held) for held in SETTLED.spec.ports]} == spec


def test_s5_while_another_service_holds_the_node_port_nothing_is_asked_for() -> None:
    holder = {30080: ObjectKey("other", "web")}

    assert () == service.plan(seen(RUNNING, holders=holder))


def test_s5_a_holder_of_a_port_that_is_not_wanted_any_more_is_no_obstacle() -> None:
    fewer = attrs.evolve(RUNNING, spec=attrs.evolve(RUNNING.spec, ports=ports(TCP_22)))

    spec = spec_of(service.plan(seen(fewer, holders={30080: ObjectKey("other", "web")})))

    assert [codec.to_wire(service_port(TCP_22, 30022))] == spec["ports"]


@pytest.mark.parametrize("held", [None, SETTLED])
def test_s6_an_instance_that_is_being_deleted_leaves_its_service_to_the_collector(
    held: Service | None,
) -> None:
    assert () == service.plan(seen(ending(RUNNING), service=held))


@pytest.mark.parametrize("wanted", [RUNNING, instance()])
def test_s5_a_service_that_is_going_is_waited_for(wanted: object) -> None:
    of = RUNNING if wanted is RUNNING else instance()

    assert () == service.plan(seen(of, service=ending(with_ports(tcp22=1, tcp80=2))))


@pytest.mark.parametrize(
    "written",
    [
        *("", "80", "80/HTTP", "x/TCP", "0/TCP", "70000/TCP", "80/TCP,80/TCP", ",", "80/TCP/"),
        ",".join(f"{port}/TCP" for port in range(1, 34)),
    ],
)
def test_s5_a_note_that_somebody_spoiled_is_put_right_from_the_status(written: str) -> None:
    spoiled = remade(SETTLED, annotations={names.PORTS: written})

    [action] = service.plan(seen(STOPPED, service=spoiled))

    assert isinstance(action, Apply)
    assert {"metadata": {"annotations": {names.PORTS: "22/TCP,80/TCP"}}} == action.patch
