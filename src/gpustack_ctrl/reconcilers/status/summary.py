"""What to tell of an Instance: a pure function of what one pass saw.

Nothing is carried over from the last status but times and what was promised to users,
their node ports. So it cannot go stale while somebody looks.
"""

from collections.abc import Iterable

import attrs

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import Pod
from gpustack_ctrl.api.instance_status import Address, Blocker, Failures, InstanceStatus, Phase
from gpustack_ctrl.api.ports import PortStatus
from gpustack_ctrl.plan.actions import Refused
from gpustack_ctrl.reconcilers.adoption import service_claim
from gpustack_ctrl.reconcilers.claims import Claim, claim
from gpustack_ctrl.reconcilers.conditions import LONGEST, stated, timestamp
from gpustack_ctrl.reconcilers.gates import second_pod, shut_gate
from gpustack_ctrl.reconcilers.service import identities_in_force, node_ports
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot
from gpustack_ctrl.reconcilers.status.failures import failures, last_termination
from gpustack_ctrl.reconcilers.status.overdue import lingering, not_set_up
from gpustack_ctrl.reconcilers.status.pod_progress import (
    has_ended,
    is_gated,
    is_lost,
    is_ready,
    is_scheduled,
    restarts,
    trouble,
)
from gpustack_ctrl.reconcilers.status.refusals import blocker_of
from gpustack_ctrl.reconcilers.status.remedies import with_remedy
from gpustack_ctrl.reconcilers.status.room import with_figures
from gpustack_ctrl.reconcilers.status.ssh import access_addresses, ssh_status
from gpustack_ctrl.reconcilers.status.statements import Outlook, statements
from gpustack_ctrl.reconcilers.usage.account import usage

LONGEST_IMAGE = 512


def status(seen: InstanceSnapshot, refusals: Iterable[Refused] = ()) -> InstanceStatus:
    """The status of the Instance, *refusals* being what the API server just said no to."""
    instance = seen.instance
    pod = own_pod(seen)
    counted = failures(seen, pod)
    blocker = _told(_blocker(seen, pod, tuple(refusals)), seen, counted)
    ports = _ports(seen)
    addresses = access_addresses(seen, pod)
    outlook = Outlook(pod=pod, blocker=blocker, ports=ports)
    told = statements(seen, outlook)
    ready = next(said for said in told if said.type == "Ready")
    before = instance.status
    told_without_pod = InstanceStatus(
        observedGeneration=instance.metadata.generation,
        phase=phase(seen, pod, ready=ready.status == "True"),
        message=ready.message[:LONGEST],
        blocker=blocker,
        conditions=stated(
            told, before.conditions, generation=instance.metadata.generation, now=seen.now
        ),
        ports=ports,
        portSummary=_summary(ports),
        accessAddresses=addresses,
        ssh=ssh_status(seen, pod, ports, addresses),
        lastTermination=last_termination(seen, pod),
        failures=counted,
        usage=usage(instance, pod, seen.node, seen.now),
    )
    return _of_pod(told_without_pod, seen, pod) if pod else told_without_pod


def own_pod(seen: InstanceSnapshot) -> Pod | None:
    """The Pod of the Instance, by UID; anybody else's under its name counts for nothing."""
    return seen.pod if claim(seen.instance, seen.pod) is Claim.OURS else None


def phase(seen: InstanceSnapshot, pod: Pod | None, *, ready: bool) -> Phase:  # noqa: PLR0911
    """Where the Instance is in its life: the first line that fits."""
    if seen.instance.metadata.deleting:
        return Phase.DELETING
    if seen.instance.spec.stop:
        return Phase.STOPPING if pod else Phase.STOPPED
    if pod is None or pod.metadata.deleting:
        return Phase.PENDING
    if has_ended(pod):
        return Phase.FAILED
    if is_lost(pod, seen.node):
        return Phase.UNKNOWN
    if ready:
        return Phase.READY
    return _on_the_way(pod)


def _on_the_way(pod: Pod) -> Phase:
    if is_gated(pod):
        return Phase.QUEUED
    return Phase.STARTING if is_scheduled(pod) else Phase.PENDING


def _blocker(
    seen: InstanceSnapshot, pod: Pod | None, refusals: tuple[Refused, ...]
) -> Blocker | None:
    refused = blocker_of(refusals)
    if seen.instance.spec.stop or seen.instance.metadata.deleting:
        return refused or lingering(seen)
    if pod is None:
        return shut_gate(seen) or refused or lingering(seen)
    return second_pod(seen) or refused or lingering(seen) or _of_running(seen, pod)


def _of_running(seen: InstanceSnapshot, pod: Pod) -> Blocker | None:
    """What keeps a Pod that is there from being Ready."""
    if is_ready(pod) or pod.metadata.deleting:
        return None
    held = trouble(pod) or not_set_up(seen, pod)
    return with_figures(held, seen) if held else None


def _told(
    blocker: Blocker | None, seen: InstanceSnapshot, counted: Failures | None
) -> Blocker | None:
    """*blocker* with its remedy, and the time since when the same gate is shut."""
    if blocker is None:
        return None
    before = seen.instance.status.blocker
    same = before is not None and before.gate == blocker.gate and before.reason == blocker.reason
    since = before.since if same and before else timestamp(seen.now)
    return with_remedy(attrs.evolve(blocker, since=since), counted)


def _ports(seen: InstanceSnapshot) -> tuple[PortStatus, ...]:
    """The ports in force. A promised node port is told for as long as it is promised."""
    instance = seen.instance
    ours = seen.service if service_claim(seen) is Claim.OURS else None
    numbers = dict(node_ports(instance, ours))
    labels = {port.identity: port.name for port in instance.spec.ports}
    return tuple(
        PortStatus(
            port=identity[0],
            protocol=identity[1],
            name=labels.get(identity, ""),
            nodePort=numbers.get(identity),
        )
        for identity in identities_in_force(instance, ours)
    )


def _summary(ports: Iterable[PortStatus]) -> str:
    return ",".join(f"{port.port}:{port.nodePort or '?'}/{port.protocol}" for port in ports)


def _of_pod(told: InstanceStatus, seen: InstanceSnapshot, pod: Pod) -> InstanceStatus:
    return attrs.evolve(
        told,
        nodeName=pod.spec.nodeName,
        hostIPs=tuple(Address(ip=held.ip) for held in pod.status.hostIPs),
        podIPs=tuple(Address(ip=held.ip) for held in pod.status.podIPs),
        podUID=pod.metadata.uid,
        image=_image(seen, pod),
        restarts=restarts(pod),
        startTime=pod.status.startTime,
    )


def _image(seen: InstanceSnapshot, pod: Pod) -> str:
    """The image that the Pod was made with: noted once for each Pod.

    One that somebody made longer than an Instance may name is not: a status that is too
    long would not be taken at all.
    """
    before = seen.instance.status
    if before.podUID == pod.metadata.uid and before.image:
        return before.image
    main = pod.container(names.MAIN)
    return main.image if main and len(main.image) <= LONGEST_IMAGE else ""
