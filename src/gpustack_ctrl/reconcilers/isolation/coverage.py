"""Whether the Pod CIDRs of the isolation Setting cover more than Pods."""

from collections.abc import Iterable

import attrs

from gpustack_ctrl.api.core import Node, Service
from gpustack_ctrl.api.setting import Setting
from gpustack_ctrl.reconcilers.isolation.cidrs import PodCIDRs
from gpustack_ctrl.reconcilers.settings.catalogue import ISOLATION
from gpustack_ctrl.reconcilers.settings.in_force import in_force

_HEADLESS = "None"


@attrs.frozen(kw_only=True)
class Surroundings:
    """Addresses of the cluster that are no Pods', each with what it belongs to."""

    nodes: tuple[tuple[str, str], ...] = ()
    services: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, nodes: Iterable[Node], services: Iterable[Service]) -> "Surroundings":
        """What *nodes* and *services* tell of their addresses."""
        return cls(
            nodes=tuple(pair for node in nodes for pair in _addresses(node)),
            services=tuple(
                (service.spec.clusterIP, str(service.key))
                for service in services
                if service.spec.clusterIP not in ("", _HEADLESS)
            ),
        )


def warning(setting: Setting, around: Surroundings) -> str:
    """What the value in force closes off besides Pods, or "": it is obeyed all the same."""
    if setting.metadata.name != ISOLATION.name:
        return ""
    cidrs = in_force(ISOLATION, setting)
    if not cidrs:
        return ""
    covered = (
        _first(cidrs, around.nodes, "the address {0} of node {1}"),
        _first(cidrs, around.services, "the Service range (as {0} of {1})"),
    )
    told = " and ".join(filter(None, covered))
    return f"the CIDRs also cover {told}: Instances cannot reach it" if told else ""


def _addresses(node: Node) -> Iterable[tuple[str, str]]:
    for held in node.status.addresses:
        if held.type in ("InternalIP", "ExternalIP"):
            yield held.address, node.metadata.name


def _first(cidrs: PodCIDRs, places: Iterable[tuple[str, str]], sentence: str) -> str:
    found = next((place for place in places if cidrs.cover(place[0])), None)
    return sentence.format(*found) if found else ""
