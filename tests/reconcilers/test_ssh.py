"""I3, I4: whether one can log in, what is missing, and the words to paste."""

from typing import Any

import attrs
import pytest

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import ContainerStatus, Pod, PodContainer, PodIP
from gpustack_ctrl.api.instance_type import Dialect
from gpustack_ctrl.api.meta import Condition, condition_of
from gpustack_ctrl.api.references import LocalReference
from gpustack_ctrl.api.resources import InstanceResources
from gpustack_ctrl.api.ssh_public_key import (
    AcceptedKey,
    InstanceSSHPublicKey,
    InstanceSSHPublicKeySpec,
    InstanceSSHPublicKeyStatus,
)
from gpustack_ctrl.reconcilers.isolation.cidrs import OFF
from gpustack_ctrl.reconcilers.login.host_key import host_key
from gpustack_ctrl.reconcilers.settings.in_force import SettingsInForce
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot
from gpustack_ctrl.reconcilers.status.ssh import access_addresses
from gpustack_ctrl.reconcilers.status.summary import status
from tests.helpers.builders import (
    NVIDIA,
    TCP_22,
    ending,
    instance,
    instance_type,
    meta,
    pod_of,
    ports,
    promised,
    seen,
)

HELD = host_key(b"s" * 32, "uid-of-box")
ME = LocalReference(name="me")
LISTED = instance(sshPublicKey=ME, ports=ports(TCP_22), status=promised(tcp22=30022))
UNLISTED = instance(sshPublicKey=ME)


def key(*accepted: str) -> InstanceSSHPublicKey:
    """The key object, with so many good lines."""
    keys = tuple(AcceptedKey(type="ssh-ed25519", fingerprint=name) for name in accepted)
    return InstanceSSHPublicKey(
        metadata=meta("me"),
        spec=InstanceSSHPublicKeySpec(data="x"),
        status=InstanceSSHPublicKeyStatus(keys=keys),
    )


def serving_inside(*, ready: bool = True) -> Pod:
    """A running Pod whose SSH server runs in `main`."""
    notes = {names.RESTARTED_AT: "", names.HOST_KEY: HELD.fingerprint}
    told = (ContainerStatus(name="main", ready=ready),)
    pod = pod_of(LISTED, annotations=notes, containerStatuses=told)
    programs = (PodContainer(name="ssh-programs"),)
    return attrs.evolve(pod, spec=attrs.evolve(pod.spec, initContainers=programs))


def serving(*, ready: bool = True, shown: str = HELD.fingerprint, sidecar: bool = True) -> Pod:
    """A running Pod, by default with an SSH server that is ready."""
    told = (ContainerStatus(name="sshd", ready=ready),) if sidecar else ()
    notes = {names.RESTARTED_AT: "", names.HOST_KEY: shown} if sidecar else None
    pod = pod_of(
        LISTED, annotations=notes, containerStatuses=told, hostIPs=(PodIP(ip="192.0.2.7"),)
    )
    containers = (*pod.spec.containers, PodContainer(name="sshd")) if sidecar else ()
    return attrs.evolve(pod, spec=attrs.evolve(pod.spec, containers=containers))


def looking(of: Any = LISTED, **rest: Any) -> InstanceSnapshot:
    """What a pass sees where all is well, but for *rest*."""
    usual = {"pod": serving(), "ssh_key": key("a"), "host_key": HELD}
    return seen(of, **(usual | rest))


def told(snapshot: InstanceSnapshot) -> Condition:
    """The condition `SSHReady`."""
    found = condition_of(status(snapshot).conditions, "SSHReady")
    assert found is not None
    return found


CARD = instance(sshPublicKey=ME, ports=ports(TCP_22), resources=InstanceResources(accelerator="1"))
NO_CARD = instance(
    sshPublicKey=ME, ports=ports(TCP_22), resources=InstanceResources(accelerator="0")
)
PLAIN = instance_type(attrs.evolve(NVIDIA, dialect=Dialect.NVIDIA))

SAID: dict[str, tuple[InstanceSnapshot, str, str, str]] = {
    "all is well": (looking(), "True", "Ready", ""),
    "no key": (looking(instance(ports=ports(TCP_22))), "False", "NoKey", "set spec.sshPublicKey"),
    "key missing": (looking(ssh_key=None), "False", "KeyNotFound", "no restart is needed"),
    "no good line": (looking(ssh_key=key()), "False", "NoGoodKey", "holds no good key yet"),
    "no Pod": (looking(pod=None), "False", "NoPod", "no Pod to log in to"),
    "Pod is ending": (looking(pod=ending(serving())), "False", "NoPod", "no Pod to log in to"),
    "Pod of before the key": (
        looking(pod=serving(sidecar=False)), "False", "RestartPending", "stop and start",
    ),
    "server starts": (looking(pod=serving(ready=False)), "False", "Starting", "is starting"),
    "port not listed": (
        looking(UNLISTED), "False", "PortNotListed",
        "kubectl port-forward -n team pod/box 2222:22` and `ssh -p 2222",
    ),
    "a device under nvidia": (
        looking(CARD, type=PLAIN, pod=serving_inside()), "True", "Ready", "",
    ),
    "the workload starts, and the server in it": (
        looking(CARD, type=PLAIN, pod=serving_inside(ready=False)), "False", "Starting", "starting",
    ),
    "no device, for the Pod is of an older operator": (
        looking(CARD, type=PLAIN), "False", "RestartPending", "does not see the accelerator",
    ),
    "the type is gone, the server is not": (
        looking(CARD, type=None, pod=serving_inside()), "True", "Ready", "",
    ),
    "no device, none asked for": (looking(NO_CARD, type=PLAIN), "True", "Ready", ""),
    "a device under gpustack": (looking(CARD, type=instance_type(NVIDIA)), "True", "Ready", ""),
}  # fmt: skip


@pytest.mark.parametrize(("snapshot", "state", "reason", "words"), SAID.values(), ids=SAID)
def test_i4_whether_a_login_works_is_told_before_anyone_tries(
    snapshot: InstanceSnapshot, state: str, reason: str, words: str
) -> None:
    found = told(snapshot)

    assert (state, reason) == (found.status, found.reason)
    assert words in found.message


def test_i4_without_key_and_port_nothing_is_said_of_logins() -> None:
    assert condition_of(status(seen(instance())).conditions, "SSHReady") is None


def test_i4_the_lines_to_paste_name_port_alias_and_address() -> None:
    found = status(looking()).ssh

    assert found is not None
    assert "ssh -p 30022 -o HostKeyAlias=uid-of-box root@192.0.2.7" == found.command
    assert HELD.fingerprint == found.fingerprint
    kind, blob = HELD.public_line.split()[:2]
    assert f"uid-of-box {kind} {blob}" == found.knownHosts


def test_i4_a_pod_with_another_host_key_tells_that_ones_fingerprint_and_no_line() -> None:
    older = f"SHA256:{'o' * 43}"
    found = status(looking(pod=serving(shown=older))).ssh

    assert found is not None
    assert (older, "") == (found.fingerprint, found.knownHosts)


@pytest.mark.parametrize("written", ["", "SHA256:short", f"SHA256:{'o' * 300}", "nonsense"])
def test_i4_what_is_no_fingerprint_is_not_told_as_one(written: str) -> None:
    assert status(looking(pod=serving(shown=written))).ssh is None


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ("192.0.2.7",)),
        ({"wildcard_dns": "node.example"}, ("192-0-2-7.node.example",)),
        ({"static_address": "gpu.example", "wildcard_dns": "node.example"}, ("gpu.example",)),
    ],
)
def test_users_are_sent_where_the_settings_say(
    settings: dict[str, str], expected: tuple[str, ...]
) -> None:
    held = SettingsInForce(isolation=OFF, **settings)  # type: ignore[arg-type]

    assert expected == access_addresses(looking(settings=held), serving())


def test_without_a_pod_only_a_static_address_is_known() -> None:
    fixed = SettingsInForce(isolation=OFF, static_address="gpu.example", wildcard_dns="x")
    floating = SettingsInForce(isolation=OFF, wildcard_dns="x")

    assert ("gpu.example",) == access_addresses(looking(settings=fixed), None)
    assert () == access_addresses(looking(settings=floating), None)


def test_an_ipv6_address_becomes_a_dns_label() -> None:
    pod = attrs.evolve(
        serving(), status=attrs.evolve(serving().status, hostIPs=(PodIP(ip="fd00::7"),))
    )
    held = SettingsInForce(isolation=OFF, wildcard_dns="x")

    assert ("fd00--7.x",) == access_addresses(looking(settings=held), pod)
