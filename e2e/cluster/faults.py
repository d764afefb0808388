"""What may go wrong with the Pods of a node, and how a node is marked for it.

kwok selects on the Pod alone, but the API server copies the region label of a node
to every Pod that is bound to it (admission plugin PodTopologyLabels). So that label
carries the fault: it is put on the node and selected on the Pod.
"""

from enum import StrEnum

from e2e.cluster.errors import ClusterError

LABEL = "topology.kubernetes.io/region"


class Fault(StrEnum):
    """A fault of a node, as the value of its `LABEL`. See stages/faults-*.yaml."""

    SLOW_IMAGE_PULL = "slow-image-pull"
    IMAGE_PULL_BACK_OFF = "image-pull-back-off"
    CRASH_LOOP_BACK_OFF = "crash-loop-back-off"
    UNEXPECTED_ADMISSION_ERROR = "unexpected-admission-error"
    EVICTION = "eviction"
    SLOW_TERMINATION = "slow-termination"

    def lasting(self, duration: str) -> str:
        """Return this fault with a *duration* such as `10s`, for those that take time."""
        if self not in {Fault.SLOW_IMAGE_PULL, Fault.EVICTION}:
            raise ClusterError(f"{self} has no duration: give one to slow-image-pull or eviction")
        return f"{self}.{duration}"


def checked(mark: str) -> str:
    """Return *mark*, a fault with or without a duration, if there is such a fault."""
    if mark.partition(".")[0] not in set(Fault):
        raise ClusterError(f"fault {mark!r} is unknown: use one of {', '.join(Fault)}")
    return mark
