"""Services that an older generation made: they belong to the Pod, and become the Instance's."""

from gpustack_ctrl.api import names
from gpustack_ctrl.reconcilers.claims import Claim, claim
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot


def service_claim(seen: InstanceSnapshot) -> Claim:
    """Whose the Service is; one that the Instance's own Pod owns is ours to adopt."""
    standing = claim(seen.instance, seen.service)
    return Claim.OURS if standing is Claim.FOREIGN and awaits_adoption(seen) else standing


def awaits_adoption(seen: InstanceSnapshot) -> bool:
    """Whether the Service was made by an older generation, which gave it to the Pod.

    It must change hands before the Pod goes: the garbage collector would take it along.
    """
    if seen.service is None or seen.service.metadata.deleting:
        return False
    owner = seen.service.metadata.controller or next(
        iter(seen.service.metadata.ownerReferences), None
    )
    if owner is None or owner.kind != names.POD.kind or owner.name != seen.instance.key.name:
        return False
    ours = claim(seen.instance, seen.pod) is Claim.OURS
    of_our_pod = ours and seen.pod is not None and seen.pod.metadata.uid == owner.uid
    return of_our_pod or seen.service.spec.selector.get(names.PART_OF) == seen.instance.uid
