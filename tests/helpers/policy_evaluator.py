"""What NetworkPolicies allow, by the words of the Kubernetes API: an oracle for tests.

Connections have two sides: the egress of their source and the ingress of their
destination; both must be open. Replies are implied.
"""

from collections.abc import Iterable, Mapping
from ipaddress import ip_address, ip_network
from typing import Any

import attrs

Wire = Mapping[str, Any]


@attrs.frozen(kw_only=True)
class Endpoint:
    """A Pod, or with no *namespace* anything else that has an address."""

    ip: str
    namespace: str = ""
    labels: Mapping[str, str] = attrs.field(factory=dict)
    node: str = ""
    host_network: bool = False

    @property
    def selectable(self) -> bool:
        """Whether a policy may select it."""
        return bool(self.namespace) and not self.host_network


@attrs.frozen(kw_only=True)
class Policy:
    """A NetworkPolicy: its namespace and its spec as the API server holds it."""

    namespace: str
    spec: Wire


@attrs.frozen(kw_only=True)
class Cluster:
    """Policies, and the addresses of each node."""

    policies: tuple[Policy, ...] = ()
    nodes: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)

    def allows(self, source: Endpoint, to: Endpoint, *, port: int, protocol: str = "TCP") -> bool:
        """Whether *source* may open a connection to *port* of *to*."""
        if source == to:
            return True
        way = (port, protocol)
        return self._open("Egress", source, to, way) and self._open("Ingress", to, source, way)

    def _open(self, side: str, pod: Endpoint, peer: Endpoint, way: tuple[int, str]) -> bool:
        if side == "Ingress" and peer.ip in self.nodes.get(pod.node, ()):
            return True  # The node that hosts a Pod always reaches it.
        policies = [held for held in self.policies if _selects(held, pod, side)]
        rules = [(held, rule) for held in policies for rule in held.spec.get(side.lower(), ())]
        return not policies or any(
            _matches(held, rule, "to" if side == "Egress" else "from", peer, way)
            for held, rule in rules
        )


def _selects(policy: Policy, pod: Endpoint, side: str) -> bool:
    return (
        pod.selectable
        and pod.namespace == policy.namespace
        and side in policy.spec["policyTypes"]
        and _fits(policy.spec["podSelector"], pod)
    )


def _fits(selector: Wire, pod: Endpoint) -> bool:
    assert set(selector) <= {"matchLabels"}
    wanted: Mapping[str, str] = selector.get("matchLabels", {})
    return wanted.items() <= pod.labels.items()


def _matches(
    policy: Policy, rule: Wire, direction: str, peer: Endpoint, way: tuple[int, str]
) -> bool:
    assert set(rule) <= {direction, "ports"}
    peers: Iterable[Wire] = rule.get(direction, ())
    ports: Iterable[Wire] = rule.get("ports", ())
    return (not peers or any(_is_peer(policy, held, peer) for held in peers)) and (
        not ports or any((held["port"], held.get("protocol", "TCP")) == way for held in ports)
    )


def _is_peer(policy: Policy, held: Wire, peer: Endpoint) -> bool:
    [(kind, told)] = held.items()
    if kind == "ipBlock":
        address = ip_address(peer.ip)
        inside = address in ip_network(told["cidr"])
        return inside and not any(address in ip_network(it) for it in told.get("except", ()))
    assert kind == "podSelector"
    return peer.selectable and peer.namespace == policy.namespace and _fits(told, peer)
