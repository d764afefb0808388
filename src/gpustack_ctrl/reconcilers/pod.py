"""The Pod of an Instance: one, of the same name, made once and never edited in place.

What a running Pod is meant to be is compared by intent, never with the live object:
webhooks and the kubelet change that one, and must not restart a workspace by it.
"""

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.core import Pod, Secret
from gpustack_ctrl.api.meta import ObjectMeta
from gpustack_ctrl.plan.actions import PatchType, Plan, create, delete
from gpustack_ctrl.plan.diff import diff, patched
from gpustack_ctrl.reconcilers.adoption import awaits_adoption
from gpustack_ctrl.reconcilers.claims import Claim, claim, owner_of, owners
from gpustack_ctrl.reconcilers.gates import shut_gate
from gpustack_ctrl.reconcilers.kind import ChildKind
from gpustack_ctrl.reconcilers.pod_template import rendered
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot
from gpustack_ctrl.reconcilers.status.failures import may_be_replaced
from gpustack_ctrl.reconcilers.status.pod_progress import has_ended


def plan(seen: InstanceSnapshot) -> Plan:
    """What to do about the Pod; a foreign one is never touched."""
    if seen.instance.metadata.deleting:
        return ()
    match claim(seen.instance, seen.pod):
        case Claim.ABSENT:
            return _made(seen)
        case Claim.OURS if seen.pod is not None and not seen.pod.metadata.deleting:
            return _kept(seen, seen.pod)
    return ()


def must_go(seen: InstanceSnapshot, pod: Pod) -> str:
    """Why *pod* has to go, or "" if it may stay."""
    if seen.instance.spec.stop:
        return "stopped"
    made_at = pod.metadata.annotations.get(names.RESTARTED_AT)
    if made_at is not None and made_at != seen.instance.spec.restartedAt:
        return "restarted"
    if has_ended(pod) and may_be_replaced(seen, pod):
        return "failed"
    return ""


def _made(seen: InstanceSnapshot) -> Plan:
    if seen.instance.spec.stop or shut_gate(seen):
        return ()
    template = rendered(seen)
    if template is None:
        return ()
    return (
        *_host_key(seen),
        create(names.POD, template.metadata, codec.to_wire(template)),
    )


def _host_key(seen: InstanceSnapshot) -> Plan:
    """The Secret with the host key, without which the SSH server does not start.

    It is asked for again with each Pod, since somebody may have deleted it; if it is
    still there, that is as good. A Secret made from an earlier seed has another name.
    """
    if seen.host_key is None:
        return ()
    metadata = ObjectMeta(
        name=names.host_key_secret(seen.instance.uid, seen.host_key.mark),
        namespace=seen.instance.key.namespace,
        labels={names.PART_OF: seen.instance.uid},
        ownerReferences=(owner_of(seen.instance),),
    )
    secret = Secret(metadata=metadata, stringData={names.HOST_KEY_FILE: seen.host_key.private_key})
    return (create(names.SECRET, metadata, codec.to_wire(secret), vital=True),)


def _kept(seen: InstanceSnapshot, pod: Pod) -> Plan:
    reason = must_go(seen, pod)
    if reason and awaits_adoption(seen):
        return ()
    if reason:
        return (delete(names.POD, pod.metadata, because=reason),)
    return _marked(seen, pod) or _image_put_back(seen, pod)


def _marked(seen: InstanceSnapshot, pod: Pod) -> Plan:
    """Put back what makes the Pod ours, should somebody edit it.

    A Pod that does not say which restart it was made for is of an older generation: it
    stays, and from now on counts as made for the last one.
    """
    want = ObjectMeta(
        labels={names.PART_OF: seen.instance.uid, names.TYPE: names.INSTANCES},
        annotations={names.RESTARTED_AT: seen.instance.spec.restartedAt},
        ownerReferences=owners(seen.instance, pod.metadata),
    )
    have = codec.to_wire(pod.metadata)
    return diff(names.POD, {"metadata": codec.to_wire(want)}, {"metadata": have}, seen=pod.metadata)


def _image_put_back(seen: InstanceSnapshot, pod: Pod) -> Plan:
    """Put back the image that the Pod was made with, where somebody set another.

    It is the image that the API server answered with, so a webhook that rewrites images
    is not fought.
    """
    status, main = seen.instance.status, pod.container(names.MAIN)
    if main is None or status.podUID != pod.metadata.uid or status.image in ("", main.image):
        return ()
    patch = {"spec": {"containers": [{"name": names.MAIN, "image": status.image}]}}
    return patched(names.POD, patch, seen=pod.metadata, how=PatchType.STRATEGIC)


KIND = ChildKind(
    resource=names.POD,
    verbs=("list", "watch", "create", "patch", "delete"),
    plan=plan,
)
