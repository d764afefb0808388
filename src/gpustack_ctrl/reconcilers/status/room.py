"""How much of what a Pod asks for the nodes have: figures beside the scheduler's sentence.

A request that no node could ever serve looks like one that waits for others to end. The
figures are those of Nodes and Pods; where they say that there is room and the scheduler
says no, a reader sees both.
"""

from collections.abc import Mapping

import attrs

from gpustack_ctrl.api import names
from gpustack_ctrl.api.instance_status import Blocker
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot
from gpustack_ctrl.reconcilers.types.capacity import NodeUse, extended

LOOK_AGAIN_SECONDS = 60.0
"""No event tells an Instance that another one ended: its figures are this old at most."""


def with_figures(blocker: Blocker, seen: InstanceSnapshot) -> Blocker:
    """*blocker*, and beside the scheduler's refusal what the nodes of the type have."""
    if blocker.gate != "scheduling" or seen.uses is None:
        return blocker
    if not seen.uses:
        message = (
            f"no node that is Ready and takes Pods has the labels of InstanceType "
            f"{seen.instance.spec.type}: {blocker.message}"
        )
        return attrs.evolve(blocker, reason="NoNode", message=message)
    asked = _asked(seen)
    return _never_fits(blocker, seen, asked, seen.uses) or _waits(blocker, asked, seen.uses)


def _asked(seen: InstanceSnapshot) -> Mapping[str, int]:
    main = seen.pod.container(names.MAIN) if seen.pod else None
    return extended(main.resources.requests) if main else {}


def _never_fits(
    blocker: Blocker, seen: InstanceSnapshot, asked: Mapping[str, int], uses: tuple[NodeUse, ...]
) -> Blocker | None:
    for resource, amount in asked.items():
        largest = max(node.offers.get(resource, 0) for node in uses)
        if amount > largest:
            message = (
                f"{amount} {resource} are asked for, but the largest node of InstanceType "
                f"{seen.instance.spec.type} has {largest}: {blocker.message}"
            )
            return attrs.evolve(blocker, reason="NeverFits", message=message, owner="user")
    return None


def _waits(blocker: Blocker, asked: Mapping[str, int], uses: tuple[NodeUse, ...]) -> Blocker:
    figures = [
        f"{amount} {resource} are asked for and at most "
        f"{max(node.free(resource) for node in uses)} free on one node"
        for resource, amount in asked.items()
    ]
    message = "; ".join((blocker.message.rstrip(". "), *figures))
    return attrs.evolve(blocker, message=message)
