"""Which Pods of a node are an Instance's, and which of them a source means."""

from collections.abc import Mapping

import attrs

from gpustack_ctrl.api.core import Pod
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.api.names import INSTANCES, MAIN, PART_OF, TYPE
from gpustack_ctrl.metering.accelerators.grants import Given, Makers
from gpustack_ctrl.metering.accelerators.readings import PodClaim, Reason

_ENDED = {"Succeeded", "Failed"}


@attrs.frozen
class PodRef:
    """A Pod that the kubelet runs now, as it says itself."""

    namespace: str
    name: str
    uid: str


@attrs.frozen(kw_only=True, eq=False)
class Tenant:
    """A Pod that counts for the Instance *instance*, and what its container `main` has."""

    instance: str
    pod: Pod
    given: Given | None

    @property
    def uid(self) -> str:
        """The UID of the Pod."""
        return self.pod.metadata.uid


@attrs.frozen
class Tenants:
    """The tenants of one node by the UID of their Pods, and all that the kubelet runs."""

    by_uid: Mapping[str, Tenant]
    running: Mapping[ObjectKey, frozenset[str]]
    """The UIDs of the Pods that the kubelet runs, by their names."""

    def named(self, namespace: str, name: str) -> Tenant | Reason:
        """The tenant that the kubelet runs under this name, if it runs but one Pod of it.

        While an old Pod ends, the kubelet may run two: then a name says nothing.
        """
        uids = self.running.get(ObjectKey(namespace, name), frozenset())
        if len(uids) != 1:
            return Reason.EXITED
        return self.by_uid.get(next(iter(uids)), Reason.UNKNOWN_POD)

    def runs(self, namespace: str, name: str) -> bool:
        """Whether the kubelet runs a Pod of this name, whichever."""
        return ObjectKey(namespace, name) in self.running

    def claimed(self, claim: PodClaim) -> Tenant | Reason:
        """The tenant that *claim* means: by its UID if that is told, else by its names."""
        if not claim.uid:
            return self.named(claim.namespace, claim.name)
        found = self.by_uid.get(claim.uid)
        if found is None:
            return self._stranger(claim.uid)
        names = (found.pod.metadata.namespace, found.pod.metadata.name)
        told = (claim.namespace or names[0], claim.name or names[1])
        return found if told == names else Reason.UNKNOWN_POD

    def _stranger(self, uid: str) -> Reason:
        runs = any(uid in uids for uids in self.running.values())
        return Reason.UNKNOWN_POD if runs else Reason.EXITED


def tenants(
    pods: tuple[Pod, ...],
    running: tuple[PodRef, ...],
    instances: Mapping[str, ObjectKey],
    makers: Makers,
) -> Tenants:
    """Those of *pods* that are an Instance's and that the kubelet runs now."""
    alive = {ref.uid for ref in running}
    found = (_tenant(pod, instances, makers) for pod in pods if pod.metadata.uid in alive)
    return Tenants({one.uid: one for one in found if one is not None}, _by_name(running))


def _by_name(running: tuple[PodRef, ...]) -> Mapping[ObjectKey, frozenset[str]]:
    named: dict[ObjectKey, set[str]] = {}
    for ref in running:
        named.setdefault(ObjectKey(ref.namespace, ref.name), set()).add(ref.uid)
    return {key: frozenset(uids) for key, uids in named.items()}


def _tenant(pod: Pod, instances: Mapping[str, ObjectKey], makers: Makers) -> Tenant | None:
    """The Pod counts by part-of UID; and only where the Instance of that UID has its name."""
    labels = pod.metadata.labels
    instance = labels.get(PART_OF, "")
    if labels.get(TYPE) != INSTANCES or instances.get(instance) != pod.metadata.key:
        return None
    if pod.status.phase in _ENDED:
        return None
    main = pod.container(MAIN)
    return Tenant(instance=instance, pod=pod, given=makers.given_to(main) if main else None)
