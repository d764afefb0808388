"""Which Pods count for which Instances: by the UID that the Pod says it is part of."""

from collections.abc import Callable, Iterable, Iterator

import attrs

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import Pod
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.meta import ObjectKey

ENDED = frozenset({"Succeeded", "Failed"})

Identity = tuple[str, str, str]
"""Namespace, name and UID of an Instance: the values of `families.IDENTITY`."""


@attrs.frozen
class Member:
    """An Instance and the Pod that runs it now."""

    instance: Instance
    pod: Pod

    @property
    def placed(self) -> tuple[str, str, str, str]:
        """The values of `families.PLACED`."""
        return (*identity(self.instance), self.pod.spec.nodeName)

    @property
    def runs(self) -> bool:
        """Whether the kubelet says that its containers were started."""
        return self.pod.status.phase == "Running"


def identity(instance: Instance) -> Identity:
    """The values of `families.IDENTITY`."""
    return (instance.metadata.namespace, instance.metadata.name, instance.uid)


def members(
    pods: Iterable[Pod], instance_of: Callable[[ObjectKey], Instance | None]
) -> Iterator[Member]:
    """Those of *pods* that run an Instance, in the order of their names.

    An Instance's Pod has its name, and says its UID: that of a deleted Instance counts for
    nobody, and one that ended uses nothing.
    """
    for pod in sorted(pods, key=lambda pod: pod.metadata.key):
        instance = instance_of(pod.metadata.key)
        if instance is not None and _is_of(pod, instance) and pod.status.phase not in ENDED:
            yield Member(instance, pod)


def _is_of(pod: Pod, instance: Instance) -> bool:
    return bool(instance.uid) and pod.metadata.labels.get(names.PART_OF) == instance.uid
