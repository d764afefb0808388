"""I3 T5: what holds of every Pod that is rendered, whatever was asked for and offered."""

from typing import Any

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.instance import Instance, InstanceSpec
from gpustack_ctrl.api.instance_type import Dialect, InstanceTypeSpec
from gpustack_ctrl.api.manufacturers import MANUFACTURERS
from gpustack_ctrl.reconcilers.accelerators.request import AcceleratorRequest, request
from gpustack_ctrl.reconcilers.login.host_key import host_key
from gpustack_ctrl.reconcilers.pod_template import rendered
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot
from tests.helpers.builders import (
    instance,
    instance_type,
    node,
    pod_of,
    promised,
    remade,
    seen,
)
from tests.helpers.strategies import served

Wire = dict[str, Any]
Case = tuple[InstanceTypeSpec, InstanceSpec, InstanceSpec]
unhurried = settings(deadline=None, max_examples=60)

HOST_KEY = host_key(bytes(32), "uid-of-box")
VISIBILITY = {
    variable: nothing
    for row in MANUFACTURERS.values()
    for variable, nothing in row.invisible.items()
}


def snapshot(offered: InstanceTypeSpec, spec: InstanceSpec) -> InstanceSnapshot:
    """What a pass saw of an Instance that asks for *spec* on a type that gives *offered*."""
    held: Instance = attrs.evolve(instance(), spec=spec)
    classes = frozenset({"nvidia", "ascend"})
    shown = HOST_KEY if spec.sshPublicKey else None
    return seen(held, type=instance_type(offered), runtime_classes=classes, host_key=shown)


def pod(of: InstanceSnapshot) -> Wire:
    """The Pod as it is sent."""
    template = rendered(of)
    assert template is not None
    return codec.to_wire(template)


def meant(wire: Wire) -> Wire:
    """A Pod without its fingerprint and what else is noted on it."""
    held = dict(wire["metadata"]["annotations"])
    del held[names.INTENT], held[names.RESTARTED_AT], held[names.CHARGE]
    return wire | {"metadata": wire["metadata"] | {"annotations": held}}


def way(offered: InstanceTypeSpec, one: InstanceSpec) -> str:
    """Where the SSH server has to be to see what main sees; "" for no server."""
    if one.sshPublicKey is None:
        return ""
    asked = request(offered, one.resources)
    assert isinstance(asked, AcceleratorRequest)
    plain = offered.dialect is not Dialect.GPUSTACK
    return "inside" if plain and asked.count else "beside"


def fingerprint(wire: Wire) -> str:
    return str(wire["metadata"]["annotations"][names.INTENT])


@given(case=served)
@unhurried
def test_t5_the_intent_changes_exactly_when_the_pod_does(case: Case) -> None:
    offered, one, other = case
    first, second = pod(snapshot(offered, one)), pod(snapshot(offered, other))

    assert (meant(first) == meant(second)) == (fingerprint(first) == fingerprint(second))


@given(case=served, field=st.sampled_from([held.name for held in attrs.fields(InstanceSpec)]))
@unhurried
def test_t5_an_edit_of_one_field_changes_the_intent_exactly_when_it_changes_the_pod(
    case: Case, field: str
) -> None:
    offered, one, other = case
    edited = attrs.evolve(one, **{field: getattr(other, field)})

    first, second = pod(snapshot(offered, one)), pod(snapshot(offered, edited))

    assert (meant(first) == meant(second)) == (fingerprint(first) == fingerprint(second))
    if field in ("displayName", "description", "stop", "restartedAt", "type"):
        assert fingerprint(first) == fingerprint(second)


@given(case=served)
@unhurried
def test_t5_the_pod_depends_on_neither_status_nor_time_nor_what_runs(case: Case) -> None:
    offered, one, _ = case
    before = snapshot(offered, one)
    after = attrs.evolve(
        before,
        instance=attrs.evolve(before.instance, status=promised(tcp22=30022)),
        now=before.now.replace(year=2030),
        pod=pod_of(before.instance),
        node=node(),
    )

    assert pod(before) == pod(after)


@given(case=served)
@unhurried
def test_no_pod_shares_the_host_or_carries_a_token_or_more_privilege_than_asked(
    case: Case,
) -> None:
    offered, one, _ = case
    held = pod(snapshot(offered, one))["spec"]
    privileged = [it.get("securityContext", {}).get("privileged") for it in held["containers"]]

    assert not held.keys() & {"hostIPC", "hostNetwork", "hostPID", "serviceAccountName"}
    assert held["automountServiceAccountToken"] is False
    assert held["enableServiceLinks"] is False
    assert "nodeName" not in held  # A pin goes through the scheduler.
    assert [one.privileged or None] * len(privileged) == privileged


@given(case=served)
@unhurried
def test_without_an_accelerator_every_card_is_hidden_whatever_the_user_sets(case: Case) -> None:
    offered, one, _ = case
    asked = request(offered, one.resources)
    assert isinstance(asked, AcceleratorRequest)

    for container in pod(snapshot(offered, one))["spec"]["containers"]:
        last = {held["name"]: held.get("value", "") for held in container.get("env", ())}
        chosen = {held.name: held.value for held in one.env if container["name"] == names.MAIN}
        hidden = VISIBILITY if asked.count == 0 else {}
        last.pop(names.CONTAINER_MARK, None)

        assert chosen | hidden == last


@given(case=served)
@unhurried
def test_i3_main_comes_first_and_alone_asks_for_cards(case: Case) -> None:
    offered, one, _ = case
    wire = pod(snapshot(offered, one))["spec"]
    first, *rest = wire["containers"]
    asked = request(offered, one.resources)
    assert isinstance(asked, AcceleratorRequest)

    assert names.MAIN == first["name"]
    assert asked.main.items() <= first["resources"]["limits"].items()
    assert asked.main.items() <= first["resources"]["requests"].items()
    assert [names.SSHD] * (way(offered, one) == "beside") == [held["name"] for held in rest]
    for sidecar in rest:
        assert asked.sidecar == sidecar.get("resources", {}).get("limits", {})
        assert all(name.endswith(".visibility") for name in asked.sidecar)
    for carrier in wire.get("initContainers", ()):
        for kind in ("limits", "requests"):
            held = carrier["resources"].get(kind, {})
            assert held.items() == first["resources"][kind].items() - asked.main.items()


@given(case=served)
@unhurried
def test_i4_a_login_has_one_server_where_it_sees_the_card(case: Case) -> None:
    offered, one, _ = case
    wire = pod(snapshot(offered, one))["spec"]
    main, expected = wire["containers"][0], way(offered, one)
    readers = {
        held["name"]: it["name"]
        for it in wire["containers"]
        for held in it["volumeMounts"]
        if held["name"] in ("ssh-authorized-keys", "ssh-host-key")
    }

    assert (expected == "beside") == wire.get("shareProcessNamespace", False)
    assert (expected == "inside") == ("lifecycle" in main)
    assert ["ssh-programs"] * (expected == "inside") == [
        held["name"] for held in wire.get("initContainers", ())
    ]
    assert {"beside": {"sshd"}, "inside": {"main"}, "": set()}[expected] == set(readers.values())


@given(case=served)
@unhurried
def test_i4_keys_are_mounted_only_for_a_login_and_only_to_be_read(case: Case) -> None:
    offered, one, _ = case
    wire = pod(snapshot(offered, one))
    secrets = [held["secret"]["secretName"] for held in wire["spec"]["volumes"] if "secret" in held]
    ours = [
        held
        for it in wire["spec"]["containers"]
        for held in it["volumeMounts"]
        if held["name"].startswith("ssh-")
    ]

    login = one.sshPublicKey is not None
    assert login == any(name.startswith("ssh-host-key-uid-of-box-") for name in secrets)
    assert login == (names.HOST_KEY in wire["metadata"]["annotations"])
    assert all(held["readOnly"] for held in ours)
    assert login == bool(ours)


@given(case=served)
@unhurried
def test_no_pod_asks_for_more_than_level_baseline_allows_its_network(case: Case) -> None:
    offered, one, _ = case
    held = pod(snapshot(offered, one))["spec"].get("securityContext", {}).get("sysctls", [])

    safe = [{"name": "net.ipv4.ip_unprivileged_port_start", "value": "22"}]
    assert safe * (way(offered, one) == "inside") == held


@given(case=served)
@unhurried
def test_every_mount_has_its_volume_and_no_name_or_path_is_used_twice(case: Case) -> None:
    offered, one, _ = case
    wire = pod(snapshot(offered, one))["spec"]
    volumes = [held["name"] for held in wire["volumes"]]
    containers = (*wire["containers"], *wire.get("initContainers", ()))
    mounts = [(it["name"], held) for it in containers for held in it["volumeMounts"]]

    assert set(volumes) == {held["name"] for _, held in mounts}
    assert len(volumes) == len(set(volumes))
    assert len(mounts) == len({(name, held["mountPath"]) for name, held in mounts})


def test_i1_the_pod_is_the_instance_s_in_name_owner_and_labels() -> None:
    held = pod(snapshot(InstanceTypeSpec(), instance().spec))["metadata"]

    assert ("box", "team") == (held["name"], held["namespace"])
    assert [("uid-of-box", True)] == [
        (owner["uid"], owner["controller"]) for owner in held["ownerReferences"]
    ]
    assert {names.PART_OF: "uid-of-box", names.TYPE: "instances"} == held["labels"]


def test_a_pin_is_the_hostname_label_of_the_node_or_its_name() -> None:
    pinned = instance(nodeName="node-1")
    known = seen(pinned, pinned=remade(node(), labels={names.HOSTNAME: "host-1"}))

    assert {names.HOSTNAME: "host-1"} == pod(known)["spec"]["nodeSelector"]
    assert {names.HOSTNAME: "node-1"} == pod(seen(pinned))["spec"]["nodeSelector"]


def test_a_runtime_class_is_asked_for_only_where_it_exists() -> None:
    wanted = InstanceTypeSpec(runtimeClassName="kata")
    there = attrs.evolve(snapshot(wanted, instance().spec), runtime_classes=frozenset({"kata"}))

    assert "kata" == pod(there)["spec"]["runtimeClassName"]
    assert "runtimeClassName" not in pod(snapshot(wanted, instance().spec))["spec"]
