"""What must be true before a Pod may be made: the first gate that is shut is told."""

from collections.abc import Callable

from gpustack_ctrl.api import names
from gpustack_ctrl.api.instance_status import Blocker
from gpustack_ctrl.api.meta import Object
from gpustack_ctrl.api.validation import violations
from gpustack_ctrl.reconcilers.accelerators.refusal import Refusal
from gpustack_ctrl.reconcilers.claims import Claim, claim, described
from gpustack_ctrl.reconcilers.isolation.cidrs import in_place
from gpustack_ctrl.reconcilers.pod_template import resources
from gpustack_ctrl.reconcilers.settings.catalogue import HOST_PATHS, PRIVILEGED
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot

ADMIN = "admin"
USER = "user"
CLUSTER = "cluster"


def shut_gate(seen: InstanceSnapshot) -> Blocker | None:
    """The first gate that keeps the Pod of *seen* from being made, or None."""
    return next((shut for gate in _GATES if (shut := gate(seen)) is not None), None)


def conflict_message(kind: str, have: Object) -> str:
    """Whose object stands in the way, and the command that solves it."""
    meta = have.metadata
    return (
        f"{kind} {meta.key} is {described(meta)} and not ours, so it is left alone: rename the "
        f"Instance, or remove it with `kubectl delete {kind.lower()} {meta.name} "
        f"-n {meta.namespace}`"
    )


def _pod_name(seen: InstanceSnapshot) -> Blocker | None:
    if seen.pod is None or claim(seen.instance, seen.pod) is not Claim.FOREIGN:
        return None
    message = conflict_message(names.POD.kind, seen.pod)
    return Blocker(gate="name", reason="NameConflict", message=message, owner=USER)


def second_pod(seen: InstanceSnapshot) -> Blocker | None:
    """That another Pod is the Instance's too: neither may be made or deleted on a guess."""
    others = [
        pod.metadata.name
        for pod in seen.pods
        if pod.metadata.key != seen.instance.key and claim(seen.instance, pod) is Claim.OURS
    ]
    if not others:
        return None
    message = f"Pods {', '.join(others)} belong to this Instance too: delete them"
    return Blocker(gate="name", reason="MultiplePods", message=message, owner=USER)


def _valid_spec(seen: InstanceSnapshot) -> Blocker | None:
    broken = violations(seen.instance.spec, "spec")
    if not broken:
        return None
    message = "; ".join(map(str, broken))
    return Blocker(gate="admission", reason="InvalidSpec", message=message, owner=USER)


def _reserved_variables(seen: InstanceSnapshot) -> Blocker | None:
    """An explicit variable beats what the device plugin sets, and would open other cards."""
    rows = seen.settings.manufacturers.values()
    reserved = {names.CONTAINER_MARK, *(name for row in rows for name in row.invisible)}
    spec = seen.instance.spec
    taken = [f"spec.env sets {held.name}" for held in spec.env if held.name in reserved]
    begun = [
        f"spec.envFrom begins names with {source.prefix}"
        for source in spec.envFrom
        if source.prefix and any(name.startswith(source.prefix) for name in reserved)
    ]
    if not taken and not begun:
        return None
    told = ", ".join((*taken, *begun))
    message = f"{told}, by which devices and logins are given out: remove it while stopped"
    return Blocker(gate="admission", reason="ReservedVariable", message=message, owner=USER)


def _type(seen: InstanceSnapshot) -> Blocker | None:
    wanted = seen.instance.spec.type
    if seen.type is None:
        message = f"InstanceType {wanted} does not exist: see `kubectl get instancetypes`"
        return Blocker(gate="type", reason="TypeNotFound", message=message, owner=USER)
    if seen.type.spec.inactive or seen.type.metadata.deleting:
        message = f"InstanceType {wanted} is inactive: it takes no new Instances"
        return Blocker(gate="type", reason="TypeInactive", message=message, owner=ADMIN)
    return None


def _resources(seen: InstanceSnapshot) -> Blocker | None:
    if seen.type is None:
        return None
    asked = resources(seen.type.spec, seen)
    if not isinstance(asked, Refusal):
        return None
    return Blocker(gate="type", reason=asked.reason, message=asked.message, owner=USER)


def _host_access(seen: InstanceSnapshot) -> Blocker | None:
    spec, allowed = seen.instance.spec, seen.settings
    if spec.privileged and not allowed.privileged:
        return _host_access_denied("privileged", PRIVILEGED.name)
    if any(volume.hostPath for volume in spec.additionalVolumes) and not allowed.host_paths:
        return _host_access_denied("hostPath", HOST_PATHS.name)
    return None


def _host_access_denied(field: str, setting: str) -> Blocker:
    message = f"{field} is not allowed: an administrator must set Setting {setting} to true"
    return Blocker(gate="admission", reason="HostAccessDenied", message=message, owner=ADMIN)


def _isolation(seen: InstanceSnapshot) -> Blocker | None:
    cidrs = seen.settings.isolation
    if cidrs is None:
        message = "no good value of Setting instance-isolation-pod-cidrs is in force: correct it"
        return Blocker(gate="isolation", reason="SettingInvalid", message=message, owner=ADMIN)
    if not cidrs or in_place(seen.policy, cidrs):
        return None
    if seen.policy_refusal:
        message = f"NetworkPolicy {names.ISOLATION_POLICY} is refused: {seen.policy_refusal}"
        return Blocker(gate="isolation", reason="PolicyRefused", message=message, owner=ADMIN)
    message = f"NetworkPolicy {names.ISOLATION_POLICY} is not in place yet"
    return Blocker(gate="isolation", reason="PolicyPending", message=message, owner=CLUSTER)


_GATES: tuple[Callable[[InstanceSnapshot], Blocker | None], ...] = (
    _pod_name,
    second_pod,
    _valid_spec,
    _reserved_variables,
    _host_access,
    _type,
    _resources,
    _isolation,
)
