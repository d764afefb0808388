"""T3: the first gate that holds an Instance back is told, with the remedy."""

from typing import Any

import attrs
import pytest

from gpustack_ctrl.api.core import Pod
from gpustack_ctrl.api.instance_status import Blocker
from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.api.resources import InstanceResources
from gpustack_ctrl.api.volumes import AdditionalVolume, HostPath
from gpustack_ctrl.reconcilers.gates import conflict_message, shut_gate
from gpustack_ctrl.reconcilers.isolation.cidrs import OFF
from gpustack_ctrl.reconcilers.settings.in_force import SettingsInForce
from tests.helpers.builders import (
    ON,
    ending,
    instance,
    instance_type,
    meta,
    owner,
    pod_of,
    policy,
    remade,
    seen,
)

HOST = AdditionalVolume(mountPath="/host", hostPath=HostPath(path="/opt"))
BOX = instance()
NO_POLICY = SettingsInForce(isolation=ON)

# Each line shuts one gate; together with all lines below it, it is still the first to be told.
SHUT: tuple[tuple[str, str, dict[str, Any], dict[str, Any]], ...] = (
    ("name", "NameConflict", {}, {"pod": Pod(metadata=meta())}),
    ("name", "MultiplePods", {}, {"pods": (remade(pod_of(BOX), name="box-2"),)}),
    ("admission", "InvalidSpec", {"volumeMount": "relative"}, {}),
    ("admission", "HostAccessDenied", {"privileged": True}, {}),
    ("type", "TypeInactive", {}, {"type": instance_type(InstanceTypeSpec(inactive=True))}),
    ("type", "NoAccelerator", {"resources": InstanceResources(accelerator="1")}, {}),
    ("isolation", "PolicyPending", {}, {"settings": NO_POLICY}),
)


@pytest.mark.parametrize("line", range(len(SHUT)), ids=[reason for _, reason, _, _ in SHUT])
def test_t3_the_first_gate_that_is_shut_is_told(line: int) -> None:
    gate, reason, _, _ = SHUT[line]
    spec: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for _, _, asked, around in SHUT[line:]:
        spec, rest = spec | asked, rest | around

    told = shut_gate(seen(instance(**spec), **rest))

    assert told is not None
    assert (gate, reason) == (told.gate, told.reason)


@pytest.mark.parametrize("line", range(len(SHUT)), ids=[reason for _, reason, _, _ in SHUT])
def test_t3_each_gate_is_shut_by_its_own_reason_alone(line: int) -> None:
    gate, reason, spec, rest = SHUT[line]

    told = shut_gate(seen(instance(**spec), **rest))

    assert told is not None
    assert (gate, reason) == (told.gate, told.reason)


def only(spec: dict[str, Any] | None = None, **rest: Any) -> Blocker:
    """The gate that is shut."""
    told = shut_gate(seen(instance(**(spec or {})), **rest))
    assert told is not None
    return told


def test_no_gate_is_shut_for_an_ordinary_instance() -> None:
    assert shut_gate(seen(BOX)) is None
    assert shut_gate(seen(BOX, settings=NO_POLICY, policy=policy(ON))) is None


def test_t3_a_foreign_pod_is_named_with_its_owner_and_the_command_that_solves_it() -> None:
    foreign = Pod(metadata=meta(ownerReferences=(owner("ReplicaSet", "web", "rs"),)))

    assert Blocker(
        gate="name",
        reason="NameConflict",
        message="Pod team/box is controlled by ReplicaSet web and not ours, so it is left alone: "
        "rename the Instance, or remove it with `kubectl delete pod box -n team`",
        owner="user",
    ) == only(pod=foreign)


def test_t3_an_object_without_an_owner_is_described_so() -> None:
    assert "Service team/box is without an owner and not ours" in conflict_message(
        "Service", Pod(metadata=meta())
    )


def test_t3_a_passing_pod_shuts_no_gate() -> None:
    passing = Pod(metadata=meta(ownerReferences=(owner(uid="uid-of-an-earlier-box"),)))

    assert shut_gate(seen(BOX, pod=passing)) is None
    assert shut_gate(seen(BOX, pod=ending(pod_of(BOX)))) is None


def test_t3_every_fault_of_a_spec_is_named_by_its_field() -> None:
    told = only({"volumeMount": "relative", "nodeName": "x" * 254})

    assert "spec.volumeMount: 'relative' does not match" in told.message
    assert "spec.nodeName: is longer than 253" in told.message


@pytest.mark.parametrize(
    ("offered", "reason", "owner_of_it"),
    [
        (None, "TypeNotFound", "user"),
        (instance_type(InstanceTypeSpec(inactive=True)), "TypeInactive", "admin"),
        (ending(instance_type()), "TypeInactive", "admin"),
    ],
)
def test_t3_a_type_that_cannot_be_had_is_named(offered: Any, reason: str, owner_of_it: str) -> None:
    told = only(type=offered)

    assert ("type", reason, owner_of_it) == (told.gate, told.reason, told.owner)
    assert "InstanceType small" in told.message


@pytest.mark.parametrize(
    ("spec", "allowed", "setting"),
    [
        (
            {"privileged": True},
            SettingsInForce(isolation=OFF, privileged=True),
            "instance-privileged-allowed",
        ),
        (
            {"additionalVolumes": (HOST,)},
            SettingsInForce(isolation=OFF, host_paths=True),
            "instance-host-path-volume-allowed",
        ),
    ],
)
def test_host_access_needs_the_setting_that_is_named(
    spec: dict[str, Any], allowed: SettingsInForce, setting: str
) -> None:
    assert setting in only(spec).message
    assert shut_gate(seen(instance(**spec), settings=allowed)) is None


def test_n6_while_no_good_value_is_known_no_pod_is_let_through() -> None:
    told = only(settings=SettingsInForce(isolation=None), policy=policy(ON))

    assert ("isolation", "SettingInvalid", "admin") == (told.gate, told.reason, told.owner)


@pytest.mark.parametrize(
    "held", [None, ending(policy(ON)), attrs.evolve(policy(ON), spec={"podSelector": {}})]
)
def test_n2_a_policy_that_does_not_isolate_as_asked_is_waited_for(held: Any) -> None:
    told = only(settings=NO_POLICY, policy=held)

    assert ("isolation", "PolicyPending", "cluster") == (told.gate, told.reason, told.owner)


def test_t3_a_policy_that_is_refused_is_told_in_the_words_of_the_api_server() -> None:
    told = shut_gate(seen(BOX, settings=NO_POLICY, policy_refusal="exceeded quota: policies"))

    assert told is not None
    assert ("isolation", "PolicyRefused", "admin") == (told.gate, told.reason, told.owner)
    assert "exceeded quota: policies" in told.message
