"""N6: a good value that covers more than Pods is obeyed, with a warning that says what."""

import pytest

from gpustack_ctrl.api.core import Node, NodeAddress, NodeStatus, Service, ServiceSpec
from gpustack_ctrl.reconcilers.isolation.coverage import Surroundings, warning
from gpustack_ctrl.reconcilers.settings.catalogue import ISOLATION, OVERCOMMIT
from tests.helpers.builders import meta, node, setting

AROUND = Surroundings.of(
    [node("n1", addresses=["192.168.50.11"]), node("n2", addresses=["192.168.50.12", "fd01::2"])],
    [Service(metadata=meta("dns"), spec=ServiceSpec(clusterIP="10.96.0.10"))],
)


def warned(value: str, *, last_good: str | None = None) -> str:
    return warning(setting(ISOLATION.name, value, last_good=last_good), AROUND)


@pytest.mark.parametrize("value", ["", "10.244.0.0/16", "10.244.0.0/16,fd00::/16", "bad"])
def test_n6_pods_alone_are_no_reason_to_warn(value: str) -> None:
    assert "" == warned(value)


def test_n6_a_node_that_is_covered_is_named() -> None:
    assert (
        "the CIDRs also cover the address 192.168.50.12 of node n2: Instances cannot reach it"
    ) == warned("192.168.50.12/32")


def test_n6_a_node_is_covered_by_its_other_family_too() -> None:
    assert "fd01::2 of node n2" in warned("fd01::/64")


def test_n6_the_service_range_is_told_by_a_service_that_lies_in_it() -> None:
    assert "the Service range (as 10.96.0.10 of team/dns)" in warned("10.96.0.0/12")


def test_n6_both_are_told_in_one_sentence() -> None:
    told = warned("10.0.0.0/8,192.168.0.0/16")

    assert "of node n1 and the Service range" in told


def test_n6_what_is_warned_of_is_the_value_in_force() -> None:
    assert "node n1" in warned("bad", last_good="192.168.50.11/32")


def test_other_settings_have_no_cidrs() -> None:
    assert "" == warning(setting(OVERCOMMIT.name, "true"), AROUND)


@pytest.mark.parametrize("address", ["None", ""])
def test_a_service_without_an_address_covers_nothing(address: str) -> None:
    held = Service(metadata=meta(), spec=ServiceSpec(clusterIP=address))

    assert () == Surroundings.of([], [held]).services


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("InternalIP", 1), ("ExternalIP", 1), ("Hostname", 0), ("InternalDNS", 0)],
)
def test_of_a_node_only_addresses_count(kind: str, expected: int) -> None:
    told = NodeStatus(addresses=(NodeAddress(type=kind, address="192.0.2.1"),))

    assert expected == len(Surroundings.of([Node(metadata=meta("n"), status=told)], []).nodes)


def test_an_address_that_is_none_does_not_stop_the_pass() -> None:
    around = Surroundings.of([node(addresses=["not an address"])], [])

    assert "" == warning(setting(ISOLATION.name, "10.0.0.0/8"), around)
