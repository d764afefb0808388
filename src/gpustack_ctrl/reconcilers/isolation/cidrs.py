"""The isolation policy of a namespace: what it says, and the CIDRs that it names.

Same namespace and everything outside the Pod CIDRs is allowed both ways, Pods of other
namespaces are blocked both ways, and port 53 stays open outwards.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_address
from typing import Any

import attrs

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import NetworkPolicy
from gpustack_ctrl.plan.diff import EVERYTHING, merge_patch
from gpustack_ctrl.reconcilers.excerpt import excerpt

Network = IPv4Network | IPv6Network

MOST_NETWORKS = 256
_SHAPE = re.compile(r"[0-9A-Fa-f:.]+/[0-9]{1,3}")
_MAPPED = IPv6Network("::ffff:0:0/96")


class CIDRError(ValueError):
    """The value names no usable list of CIDRs; the message says what to write instead."""


@attrs.frozen
class PodCIDRs:
    """The addresses of Pods, per family; none at all means that isolation is off."""

    v4: tuple[IPv4Network, ...] = ()
    v6: tuple[IPv6Network, ...] = ()

    @property
    def networks(self) -> tuple[Network, ...]:
        """All networks, IPv4 first."""
        return (*self.v4, *self.v6)

    def __bool__(self) -> bool:
        """Whether isolation is asked for."""
        return bool(self.networks)

    def cover(self, address: str) -> bool:
        """Whether *address* lies inside one of the networks; what is no address does not."""
        try:
            held = ip_address(address)
        except ValueError:
            return False
        return any(held in network for network in self.networks)

    def __str__(self) -> str:
        """The networks as the Setting takes them."""
        return ",".join(map(str, self.networks))


OFF = PodCIDRs()


def parse_cidrs(text: str) -> PodCIDRs:
    """Read a comma-separated list of CIDRs into its minimal cover; blank means off.

    Raises CIDRError for anything else: a value is taken as a whole or not at all,
    because a dropped entry would open what it was to close.
    """
    if not text.strip():
        return OFF
    networks = [_network(entry.strip()) for entry in text.split(",")]
    v4 = tuple(collapse_addresses(net for net in networks if isinstance(net, IPv4Network)))
    v6 = tuple(collapse_addresses(net for net in networks if isinstance(net, IPv6Network)))
    _check_cover((*v4, *v6))
    return PodCIDRs(v4, v6)


def render(cidrs: PodCIDRs) -> dict[str, Any]:
    """The spec of the policy. A family without a CIDR gets no way out: it fails closed."""
    peers = [{"podSelector": {}}, *_outside("0.0.0.0/0", cidrs.v4), *_outside("::/0", cidrs.v6)]
    dns = [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")]
    return {
        "podSelector": {"matchLabels": {names.TYPE: names.INSTANCES}},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": peers}],
        "egress": [{"to": peers}, {"ports": dns}],
    }


def in_place(policy: NetworkPolicy | None, cidrs: PodCIDRs) -> bool:
    """Whether *policy* isolates exactly as *cidrs* ask."""
    if policy is None or policy.metadata.deleting:
        return False
    return not merge_patch(render(cidrs), normal(policy.spec), whole=EVERYTHING)


def normal(spec: Mapping[str, Any]) -> dict[str, Any]:
    """*spec* without the empty lists that mean the same as their absence."""
    return {name: value for name, value in spec.items() if value != []}


def _outside(everything: str, inside: Iterable[Network]) -> Iterator[dict[str, Any]]:
    excepted = [str(network) for network in inside]
    if excepted:
        yield {"ipBlock": {"cidr": everything, "except": excepted}}


def _network(entry: str) -> Network:
    if not _SHAPE.fullmatch(entry):
        raise CIDRError(
            f"{excerpt(entry)} is not a CIDR: write address/length, such as 10.244.0.0/16"
        )
    try:
        network = (IPv6Network if ":" in entry else IPv4Network)(entry, strict=False)
    except ValueError as error:
        raise CIDRError(f"{excerpt(entry)} is not a CIDR: {error}") from error
    if isinstance(network, IPv6Network) and network.subnet_of(_MAPPED):
        raise CIDRError(f"{entry!r} is an IPv4-mapped address: write it as IPv4")
    return network


def _check_cover(networks: tuple[Network, ...]) -> None:
    everything = next((network for network in networks if network.prefixlen == 0), None)
    if everything is not None:
        raise CIDRError(f"{everything} leaves nothing outside: name the Pod CIDRs only")
    if len(networks) > MOST_NETWORKS:
        raise CIDRError(
            f"{len(networks)} separate networks are more than {MOST_NETWORKS}: "
            "name the pool that they come from"
        )
