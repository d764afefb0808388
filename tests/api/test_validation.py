"""The bounds of the schema, read again from an object that was stored without them."""

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.api.environment import EnvVar
from gpustack_ctrl.api.instance import Instance, InstanceSpec, SecurityContext
from gpustack_ctrl.api.instance_type import InstanceType, InstanceTypeSpec
from gpustack_ctrl.api.ports import InstancePort, Protocol
from gpustack_ctrl.api.resources import InstanceResources
from gpustack_ctrl.api.setting import Setting
from gpustack_ctrl.api.validation import Violation, violations
from tests.api.strategies import unhurried, values

VALID = InstanceSpec(type="cpu", image="work")


@unhurried
@given(st.one_of(values(Instance), values(InstanceType), values(Setting)))
def test_what_the_annotations_allow_has_no_violation(value: Any) -> None:
    assert () == violations(value)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"type": "a" * 64}, "type: is longer than 63"),
        ({"volumeMount": "work"}, r"volumeMount: 'work' does not match (/[^/]+)+"),
        ({"volumeMount": "/models/"}, r"volumeMount: '/models/' does not match (/[^/]+)+"),
        ({"command": ("",) * 129}, "command: is longer than 128"),
        ({"ports": (InstancePort(port=0),)}, "ports[0].port: must be at least 1"),
        ({"ports": (InstancePort(port=65536),)}, "ports[0].port: must be at most 65535"),
        (
            {"ports": (InstancePort(port=1), InstancePort(port=1, name="again"))},
            "ports: port 1, protocol TCP is listed more than once",
        ),
        ({"env": (EnvVar(name="A"), EnvVar(name="A"))}, "env: name A is listed more than once"),
        ({"securityContext": SecurityContext(runAsUser=-1)},
         "securityContext.runAsUser: must be at least 0"),
        ({"resources": InstanceResources(cpu="-1")}, "resources.cpu: must not be negative"),
        ({"sharedMemory": "much"},
         "sharedMemory: 'much' is not a quantity: write a number such as 2, 500m or 16Gi"),
        ({"env": (EnvVar(name="A B"),)},
         "env[0].name: 'A B' does not match [-._a-zA-Z][-._a-zA-Z0-9]*"),
    ],
)  # fmt: skip
def test_a_broken_bound_is_named_with_its_field(change: dict[str, Any], sentence: str) -> None:
    [violation] = violations(attrs.evolve(VALID, **change))

    assert sentence == str(violation)


def test_every_violation_is_named_below_the_path_given() -> None:
    broken = attrs.evolve(VALID, image="a" * 513, ports=(InstancePort(port=0),))

    assert (
        Violation("spec.image", "is longer than 512"),
        Violation("spec.ports[0].port", "must be at least 1"),
    ) == violations(broken, "spec")


def test_tcp_and_udp_on_one_number_are_two_ports() -> None:
    ports = (InstancePort(port=1), InstancePort(port=1, protocol=Protocol.UDP))

    assert () == violations(attrs.evolve(VALID, ports=ports))


@pytest.mark.parametrize(
    ("spec", "field"),
    [(attrs.evolve(VALID, type=""), "type"), (attrs.evolve(VALID, image=""), "image")],
)
def test_an_empty_text_that_must_not_be_is_a_violation(spec: InstanceSpec, field: str) -> None:
    assert (Violation(field, "is shorter than 1"),) == violations(spec)


def test_the_bounds_of_entries_are_checked_too() -> None:
    [of_list] = violations(attrs.evolve(VALID, args=("a", "a" * 32769)))
    [of_map] = violations(InstanceTypeSpec(nodeSelector={"zone": "a" * 64}))

    assert Violation("args[1]", "is longer than 32768") == of_list
    assert Violation("nodeSelector[zone]", "is longer than 63") == of_map
