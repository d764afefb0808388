"""Whether one can log in to an Instance, and the words to paste."""

import re
from collections.abc import Iterator, Sequence

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import Pod
from gpustack_ctrl.api.instance_status import SSHStatus
from gpustack_ctrl.api.ports import PortStatus, Protocol
from gpustack_ctrl.reconcilers.accelerators.request import AcceleratorRequest, request
from gpustack_ctrl.reconcilers.conditions import Statement
from gpustack_ctrl.reconcilers.pod_template.login import is_inside
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot

SSH_READY = "SSHReady"
SSH_PORT = (22, Protocol.TCP)
_LOCAL_PORT = 2222
_FINGERPRINT = re.compile(r"SHA256:[A-Za-z0-9+/]{43}")


def ssh_ready(
    seen: InstanceSnapshot, pod: Pod | None, ports: Sequence[PortStatus]
) -> Iterator[Statement]:
    """The condition `SSHReady`, where there is a key or the port of SSH."""
    listed = any(port.identity == SSH_PORT for port in ports)
    if seen.instance.spec.sshPublicKey is None:
        if listed:
            message = "port 22 is listed, but nobody may log in: set spec.sshPublicKey"
            yield Statement(SSH_READY, "False", "NoKey", message)
        return
    fault = _key_fault(seen) or _server_fault(seen, pod)
    if fault:
        yield fault
    elif not listed:
        yield Statement(SSH_READY, "False", "PortNotListed", _by_port_forward(seen))
    else:
        yield Statement(SSH_READY, "True", "Ready")


def ssh_status(
    seen: InstanceSnapshot, pod: Pod | None, ports: Sequence[PortStatus], addresses: Sequence[str]
) -> SSHStatus | None:
    """How to log in to the running Pod; the key is the one that this Pod was given."""
    shown = pod.metadata.annotations.get(names.HOST_KEY, "") if pod else ""
    if not _FINGERPRINT.fullmatch(shown):
        return None  # There is none, or somebody wrote it.
    return SSHStatus(
        fingerprint=shown,
        command=_command(seen, ports, addresses),
        knownHosts=_known_hosts(seen, shown),
    )


def access_addresses(seen: InstanceSnapshot, pod: Pod | None) -> tuple[str, ...]:
    """Where users reach the node ports: as the Settings say, else the node's own address."""
    if seen.settings.static_address:
        return (seen.settings.static_address,)
    first = next((held.ip for held in pod.status.hostIPs if held.ip), "") if pod else ""
    if first and seen.settings.wildcard_dns:
        dashed = first.replace(".", "-").replace(":", "-")
        return (f"{dashed}.{seen.settings.wildcard_dns}",)
    return (first,) if first else ()


def _key_fault(seen: InstanceSnapshot) -> Statement | None:
    wanted = seen.instance.spec.sshPublicKey
    name = wanted.name if wanted else ""
    if seen.ssh_key is None:
        message = f"InstanceSSHPublicKey {name} does not exist: create it; no restart is needed"
        return Statement(SSH_READY, "False", "KeyNotFound", message)
    if not seen.ssh_key.status.keys:
        message = f"InstanceSSHPublicKey {name} holds no good key yet: see its status"
        return Statement(SSH_READY, "False", "NoGoodKey", message)
    return None


def _server_fault(seen: InstanceSnapshot, pod: Pod | None) -> Statement | None:
    if pod is None or pod.metadata.deleting:
        return Statement(SSH_READY, "False", "NoPod", "there is no Pod to log in to")
    home = _home_of_server(pod)
    if home is None:
        return _restart("has no SSH server")
    if home == names.SSHD and _belongs_inside(seen):
        return _restart("has an SSH server that does not see the accelerator")
    told = pod.container_status(home)
    if told is None or not told.ready:
        return Statement(SSH_READY, "False", "Starting", "the SSH server is starting")
    return None


def _home_of_server(pod: Pod) -> str | None:
    """The container that the SSH server of *pod* runs in."""
    if any(held.name == names.SSH_PROGRAMS for held in pod.spec.initContainers):
        return names.MAIN
    return names.SSHD if pod.container(names.SSHD) else None


def _belongs_inside(seen: InstanceSnapshot) -> bool:
    """Whether the next Pod will have its SSH server inside `main`."""
    if seen.type is None:
        return False
    asked = request(seen.type.spec, seen.instance.spec.resources, seen.settings.manufacturers)
    return isinstance(asked, AcceleratorRequest) and is_inside(asked)


def _restart(fault: str) -> Statement:
    message = f"the running Pod {fault}: stop and start, or set spec.restartedAt"
    return Statement(SSH_READY, "False", "RestartPending", message)


def _by_port_forward(seen: InstanceSnapshot) -> str:
    key = seen.instance.key
    return (
        "port 22 is not in spec.ports: add it while stopped, or log in through "
        f"`kubectl port-forward -n {key.namespace} pod/{key.name} {_LOCAL_PORT}:22` and "
        f"`{_line(seen, '127.0.0.1', _LOCAL_PORT)}`"
    )


def _command(seen: InstanceSnapshot, ports: Sequence[PortStatus], addresses: Sequence[str]) -> str:
    number = next((port.nodePort for port in ports if port.identity == SSH_PORT), None)
    if number is None or not addresses:
        return ""
    return _line(seen, addresses[0], number)


def _line(seen: InstanceSnapshot, address: str, port: int) -> str:
    return f"ssh -p {port} -o HostKeyAlias={seen.instance.uid} root@{address}"


def _known_hosts(seen: InstanceSnapshot, shown: str) -> str:
    held = seen.host_key
    if held is None or held.fingerprint != shown:
        return ""
    kind, blob, *_ = held.public_line.split()
    return f"{seen.instance.uid} {kind} {blob}"
