"""The conditions of an Instance, one function each."""

from collections.abc import Iterator

import attrs

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import Pod
from gpustack_ctrl.api.instance_status import Blocker
from gpustack_ctrl.api.meta import condition_of
from gpustack_ctrl.api.ports import PortStatus
from gpustack_ctrl.reconcilers import service
from gpustack_ctrl.reconcilers.adoption import service_claim
from gpustack_ctrl.reconcilers.claims import Claim, claim
from gpustack_ctrl.reconcilers.conditions import Statement
from gpustack_ctrl.reconcilers.gates import conflict_message
from gpustack_ctrl.reconcilers.isolation.cidrs import in_place
from gpustack_ctrl.reconcilers.pod_template import rendered
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot
from gpustack_ctrl.reconcilers.status.pod_progress import SCHEDULED, is_lost, is_ready, is_scheduled
from gpustack_ctrl.reconcilers.status.ssh import ssh_ready


@attrs.frozen(kw_only=True)
class Outlook:
    """What was found out already: the own Pod, what holds it back, and the ports in force."""

    pod: Pod | None
    blocker: Blocker | None
    ports: tuple[PortStatus, ...]


def statements(seen: InstanceSnapshot, outlook: Outlook) -> tuple[Statement, ...]:
    """All conditions of the Instance, `Ready` first, which is drawn from the others."""
    scheduled = _scheduled(outlook)
    ports = _ports_ready(seen, outlook)
    isolated = _isolated(seen, outlook)
    rest = (
        _stopped(seen, outlook),
        _restart_pending(seen, outlook),
        *ssh_ready(seen, outlook.pod, outlook.ports),
        *_conflict(seen, outlook),
    )
    ready = _ready(seen, outlook, needed=(ports, isolated))
    return (ready, scheduled, ports, isolated, *rest)


def _ready(seen: InstanceSnapshot, outlook: Outlook, *, needed: tuple[Statement, ...]) -> Statement:
    """Ready is what users wait for: the Pod is Ready, and so is all that was asked for."""
    not_yet = _not_ready(seen, outlook)
    if not_yet:
        return not_yet
    for said in needed:
        if said.status != "True" and said.reason not in _NOT_ASKED_FOR:
            return Statement("Ready", "False", said.reason, said.message)
    return Statement("Ready", "True", "Ready", "the workload is Ready")


def _not_ready(seen: InstanceSnapshot, outlook: Outlook) -> Statement | None:
    if seen.instance.metadata.deleting:
        return Statement("Ready", "False", "Deleting", "the Instance is being deleted")
    if seen.instance.spec.stop:
        return _halting(outlook)
    if outlook.blocker:
        return Statement("Ready", "False", outlook.blocker.reason, outlook.blocker.message)
    return _unmade(seen) if outlook.pod is None else _underway(seen, outlook.pod)


def _halting(outlook: Outlook) -> Statement:
    if outlook.pod is not None:
        message = outlook.blocker.message if outlook.blocker else "the Pod is ending"
        return Statement("Ready", "False", "Stopping", message)
    return Statement("Ready", "False", "Stopped", "stopped by spec.stop")


def _unmade(seen: InstanceSnapshot) -> Statement:
    if claim(seen.instance, seen.pod) is Claim.PASSING:
        return Statement("Ready", "False", "Waiting", "an earlier Pod of this name is ending")
    return Statement("Ready", "False", "PodMissing", "the Pod is being made")


def _underway(seen: InstanceSnapshot, pod: Pod) -> Statement | None:
    if pod.metadata.deleting:
        return Statement("Ready", "False", "Replacing", "the previous Pod is ending")
    if is_lost(pod, seen.node):
        message = f"node {pod.spec.nodeName} does not answer: nothing is known of the workload"
        return Statement("Ready", "Unknown", "NodeLost", message)
    if is_ready(pod):
        return None
    if is_scheduled(pod):
        return Statement("Ready", "False", "Starting", "the containers are starting")
    return Statement("Ready", "False", "Scheduling", "the Pod waits for a node")


def _scheduled(outlook: Outlook) -> Statement:
    pod = outlook.pod
    if pod is None:
        return Statement(SCHEDULED, "False", "NoPod")
    if is_scheduled(pod):
        return Statement(SCHEDULED, "True", "Scheduled")
    told = condition_of(pod.status.conditions, SCHEDULED)
    return Statement(
        SCHEDULED, "False", told.reason if told else "Scheduling", told.message if told else ""
    )


_NOT_ASKED_FOR = frozenset({"NoPorts", "NotAskedFor"})


def _ports_ready(seen: InstanceSnapshot, outlook: Outlook) -> Statement:
    standing = service_claim(seen)
    if not outlook.ports:
        return Statement("PortsReady", "False", "NoPorts", "no ports are listed")
    if standing is Claim.FOREIGN and seen.service is not None:
        message = conflict_message(names.SERVICE.kind, seen.service)
        return Statement("PortsReady", "False", "NameConflict", message)
    held = _held_by_others(seen)
    if held:
        return Statement("PortsReady", "False", "NodePortTaken", held)
    if standing is not Claim.OURS or service.is_going(seen.service) or service.plan(seen):
        return Statement("PortsReady", "False", "ServicePending", "the Service is being made")
    return Statement("PortsReady", "True", "Allocated")


def _held_by_others(seen: InstanceSnapshot) -> str:
    want = service.desired(seen.instance, seen.service)
    held = service.taken(want, seen.holders) if want else {}
    told = ", ".join(f"{number} by Service {holder}" for number, holder in sorted(held.items()))
    return (
        f"node ports are taken: {told}: free them, or drop the port from spec.ports, start, "
        "and add it again for another number"
        if told
        else ""
    )


def _isolated(seen: InstanceSnapshot, outlook: Outlook) -> Statement:
    cidrs = seen.settings.isolation
    if cidrs is None:
        message = "the Setting instance-isolation-pod-cidrs has no good value"
        return Statement("NetworkIsolated", "Unknown", "SettingInvalid", message)
    if not cidrs:
        return Statement("NetworkIsolated", "False", "NotAskedFor", "isolation is switched off")
    if not in_place(seen.policy, cidrs):
        message = f"NetworkPolicy {names.ISOLATION_POLICY} is not in place yet"
        return Statement("NetworkIsolated", "False", "PolicyPending", message)
    addresses = outlook.pod.status.podIPs if outlook.pod else ()
    outside = [held.ip for held in addresses if held.ip and not cidrs.cover(held.ip)]
    if outside:
        message = (
            f"the Pod has address {', '.join(outside)}, which no CIDR of the Setting "
            "instance-isolation-pod-cidrs covers: an admin must add its network"
        )
        return Statement("NetworkIsolated", "False", "PodIPOutsideConfiguredCIDRs", message)
    return Statement("NetworkIsolated", "True", "PolicyInPlace")


def _stopped(seen: InstanceSnapshot, outlook: Outlook) -> Statement:
    if not seen.instance.spec.stop:
        return Statement("Stopped", "False", "Running")
    if outlook.pod is not None:
        return Statement("Stopped", "False", "Stopping", "the Pod is ending")
    return Statement("Stopped", "True", "Stopped", "the Pod is gone; ports and volumes are kept")


def _restart_pending(seen: InstanceSnapshot, outlook: Outlook) -> Statement:
    template = rendered(seen) if outlook.pod and not seen.instance.spec.stop else None
    if outlook.pod is None or template is None or outlook.pod.metadata.deleting:
        return Statement("RestartPending", "False", "UpToDate")
    built_as = outlook.pod.metadata.annotations.get(names.INTENT, "")
    if built_as == template.metadata.annotations[names.INTENT]:
        return Statement("RestartPending", "False", "UpToDate")
    message = "the Pod was made from other settings: stop and start, or set spec.restartedAt"
    return Statement("RestartPending", "True", "IntentChanged", message)


def _conflict(seen: InstanceSnapshot, outlook: Outlook) -> Iterator[Statement]:
    """Named only where there is one: somebody else's object under our name."""
    if claim(seen.instance, seen.pod) is Claim.FOREIGN and seen.pod is not None:
        message = conflict_message(names.POD.kind, seen.pod)
        yield Statement("NameConflict", "True", "PodNotOurs", message)
    elif outlook.ports and service_claim(seen) is Claim.FOREIGN and seen.service is not None:
        message = conflict_message(names.SERVICE.kind, seen.service)
        yield Statement("NameConflict", "True", "ServiceNotOurs", message)
