"""Between bytes and types: what is written is read as the same value."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.api.codec import decode, encode, from_wire, reader, to_wire
from gpustack_ctrl.api.instance import Instance, InstanceSpec
from gpustack_ctrl.api.instance_status import Blocker
from gpustack_ctrl.api.instance_type import InstanceType
from gpustack_ctrl.api.meta import ObjectMeta
from gpustack_ctrl.api.ports import InstancePort, Protocol
from gpustack_ctrl.api.setting import Setting
from gpustack_ctrl.api.ssh_public_key import InstanceSSHPublicKey
from gpustack_ctrl.api.volumes import EphemeralVolume, WorkspaceVolume
from tests.api.strategies import unhurried, values

KINDS = (Instance, InstanceType, InstanceSSHPublicKey, Setting)
MINIMAL = {"metadata": {"name": "work"}, "spec": {"type": "cpu", "image": "work"}}


@unhurried
@given(st.one_of([values(kind) for kind in KINDS]))
def test_any_object_is_read_as_it_was_written(value: Any) -> None:
    kind: Any = type(value)

    assert value == reader(kind)(encode(to_wire(value)))
    assert value == from_wire(to_wire(value), kind)


@unhurried
@given(st.one_of([values(kind) for kind in KINDS]))
def test_the_wire_form_is_plain_json(value: Any) -> None:
    wire = to_wire(value)

    assert wire == json.loads(json.dumps(wire))
    assert "null" not in json.dumps(wire).replace('"null', "")


def test_absent_fields_are_read_as_their_defaults() -> None:
    instance = from_wire(MINIMAL, Instance)

    assert InstanceSpec(type="cpu", image="work") == instance.spec
    assert instance.status.phase is None


def test_what_is_none_or_empty_is_left_out() -> None:
    assert {"port": 80, "protocol": "TCP"} == to_wire(InstancePort(port=80))


def test_zero_and_false_are_written() -> None:
    wire = to_wire(InstanceSpec(type="cpu", image="work"))

    assert wire["stop"] is False


def test_an_empty_object_is_written_because_it_says_something() -> None:
    assert {"ephemeral": {}} == to_wire(WorkspaceVolume(ephemeral=EphemeralVolume()))


def test_a_required_field_is_written_though_empty() -> None:
    assert {"gate": "", "reason": "", "message": "", "owner": "user"} == to_wire(
        Blocker(gate="", reason="", message="")
    )


def test_members_of_enums_are_written_as_plain_strings() -> None:
    [wire] = to_wire(InstanceSpec(type="a", image="b", ports=(InstancePort(port=1),)))["ports"]

    assert "str" == type(wire["protocol"]).__name__


def test_unknown_fields_are_ignored() -> None:
    body = {**MINIMAL, "metadata": {"name": "work", "managedFields": [{"x": 1}]}, "more": 1}

    assert ObjectMeta(name="work") == reader(Instance)(json.dumps(body).encode()).metadata


@pytest.mark.parametrize(
    ("spec", "where"),
    [
        ({"image": "work"}, "missing required field `type`"),
        ({"type": 1, "image": "work"}, r"`\$.spec.type`"),
        ({"type": "a", "image": "b", "ports": [{"port": 1, "protocol": "ICMP"}]},
         r"Invalid enum value 'ICMP' - at `\$.spec.ports\[0\].protocol`"),
    ],
)  # fmt: skip
def test_what_is_no_instance_is_an_error_that_says_where(spec: dict[str, Any], where: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=where):
        from_wire({**MINIMAL, "spec": spec}, Instance)


def test_bytes_are_canonical() -> None:
    assert b'{"a":[1,"x"],"b":null}' == encode({"b": None, "a": [1, "x"]})
    assert {"a": Protocol.TCP} == decode('{"a": "TCP"}')
