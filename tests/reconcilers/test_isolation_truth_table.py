"""N3: who may talk to whom, row by row, by an evaluator of the API's own words.

The rows are numbered; those about real packets alone are tested on the real node.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.reconcilers.isolation.cidrs import parse_cidrs, render
from tests.helpers.policy_evaluator import Cluster, Endpoint, Policy
from tests.reconcilers.resource_strategies import unhurried

BOTH = "10.244.0.0/16,fd00:10:244::/48"
NODES = {
    "n1": ("192.168.50.11", "10.244.1.1"),
    "n2": ("192.168.50.12", "10.244.2.0"),
}
INSTANCE = {"resource.gpustack.ai/type": "instances"}


def isolated(text: str) -> Cluster:
    """The cluster with the policy of *text* in both namespaces that hold Instances."""
    spec = render(parse_cidrs(text))
    policies = tuple(Policy(namespace=name, spec=spec) for name in ("team-a", "team-b"))
    return Cluster(policies=policies, nodes=NODES)


def v6(pod: Endpoint) -> Endpoint:
    """*pod* by its other address."""
    return Endpoint(
        ip=f"fd00:10:244::{pod.ip.rpartition('.')[2]}",
        namespace=pod.namespace,
        labels=pod.labels,
        node=pod.node,
    )


A1 = Endpoint(ip="10.244.1.11", namespace="team-a", labels=INSTANCE, node="n1")
A2 = Endpoint(ip="10.244.2.12", namespace="team-a", labels=INSTANCE, node="n2")
A3 = Endpoint(ip="10.244.1.13", namespace="team-a", node="n1")
B1 = Endpoint(ip="10.244.1.21", namespace="team-b", labels=INSTANCE, node="n1")
B2 = Endpoint(ip="10.244.2.22", namespace="team-b", node="n2")
DNS = Endpoint(ip="10.244.2.53", namespace="kube-system", node="n2")
PROM = Endpoint(ip="10.244.2.90", namespace="monitoring", node="n2")
HOST_B = Endpoint(ip="192.168.50.12", namespace="team-b", node="n2", host_network=True)
UNLABELLED = Endpoint(ip="10.244.1.11", namespace="team-a", node="n1")


def at(address: str) -> Endpoint:
    """Anything that is no Pod."""
    return Endpoint(ip=address)


Row = tuple[Endpoint, Endpoint, str, bool]
ROWS: dict[str, Row] = {
    "1 same namespace": (A1, A2, "TCP 8080", True),
    "2 a plain Pod of the namespace": (A3, A1, "TCP 22", True),
    "3 to a plain Pod of the namespace": (A1, A3, "TCP 5432", True),
    "4 another tenant": (A1, B1, "TCP 22", False),
    "5 another tenant, UDP": (B1, A1, "UDP 4000", False),
    "6 a plain Pod of another tenant": (A1, B2, "TCP 80", False),
    "7 from a plain Pod of another tenant": (B2, A1, "TCP 80", False),
    "8 no Instance on either side": (B2, A3, "TCP 80", True),
    "9 a scraper": (PROM, A1, "TCP 9400", False),
    "10 DNS": (A1, DNS, "UDP 53", True),
    "11 DNS over TCP": (A1, DNS, "TCP 53", True),
    "12 the metrics of DNS": (A1, DNS, "TCP 9153", False),
    "13 port 53 of another protocol": (A1, DNS, "SCTP 53", False),
    "14 port 53 of an Instance": (A1, B1, "UDP 53", False),
    "15 port 53 of a plain Pod": (A1, B2, "TCP 53", True),
    "16 port 53 inwards": (B2, A1, "UDP 53", False),
    "17 from outside": (at("203.0.113.10"), A1, "TCP 22", True),
    "18 to outside": (A1, at("203.0.113.10"), "TCP 443", True),
    "19 to outside, UDP": (A1, at("203.0.113.10"), "UDP 4500", True),
    "20 the hosting node": (at("192.168.50.11"), A1, "TCP 8080", True),
    "21 the bridge of the hosting node": (at("10.244.1.1"), A1, "TCP 8080", True),
    "22 another node": (at("192.168.50.12"), A1, "TCP 8080", True),
    "23 the tunnel of another node": (at("10.244.2.0"), A1, "TCP 8080", False),
    "24 a kubelet": (A1, at("192.168.50.12"), "TCP 10250", True),
    "25 the metadata service": (A1, at("169.254.169.254"), "TCP 80", True),
    "26 DNS on the node": (A1, at("169.254.20.10"), "UDP 53", True),
    "27 an unused address inside": (A1, at("10.244.9.9"), "TCP 80", False),
    "28 same namespace over IPv6": (v6(A1), v6(A2), "TCP 8080", True),
    "29 another tenant over IPv6": (v6(A1), v6(B1), "TCP 22", False),
    "30 from outside over IPv6": (at("2001:db8::10"), v6(A1), "TCP 22", True),
    "31 DNS over IPv6": (v6(A1), v6(DNS), "UDP 53", True),
    "32 a Pod on the network of its host": (HOST_B, A1, "TCP 22", True),
    "33 oneself": (A1, A1, "TCP 1", True),
    "34 no Instance involved": (PROM, B2, "TCP 80", True),
    "35 a new flow from DNS": (DNS, A1, "TCP 40000", False),
    "39 the label removed, to another tenant": (UNLABELLED, B1, "TCP 22", False),
    "39 the label removed, from another tenant": (B1, UNLABELLED, "TCP 22", False),
    "39 the label removed, to its plain Pod": (UNLABELLED, B2, "TCP 22", True),
    "39 the label removed, from its plain Pod": (B2, UNLABELLED, "TCP 22", True),
}


def verdict(cluster: Cluster, row: Row) -> bool:
    source, to, way, _ = row
    protocol, port = way.split()
    return cluster.allows(source, to, port=int(port), protocol=protocol)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_n3_the_policy_allows_and_denies_as_the_table_says(row: Row) -> None:
    assert row[3] is verdict(isolated(BOTH), row)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("28 same namespace over IPv6", True),
        ("29 another tenant over IPv6", False),
        ("30 from outside over IPv6", False),
    ],
)
def test_n3_row_38_a_family_that_is_not_named_fails_closed(row: str, *, expected: bool) -> None:
    assert expected is verdict(isolated("10.244.0.0/16"), ROWS[row])


def test_n3_row_40_without_a_policy_everything_is_allowed() -> None:
    assert [True] * len(ROWS) == [verdict(Cluster(nodes=NODES), row) for row in ROWS.values()]


pools = st.lists(
    st.sampled_from(
        ("10.244.0.0/16", "10.244.1.0/24", "203.0.113.0/24", "169.254.169.254/32", "192.168.0.0/16",
         "fd00:10:244::/48", "2001:db8::/32", "0.0.0.0/1")
    ),
    min_size=1, max_size=4,
)  # fmt: skip
FAMILIES = ("10.0.0.1/32", "fd00::1/128")


@given(entries=pools, more=pools)
@unhurried
def test_n3_adding_a_cidr_never_allows_more(entries: list[str], more: list[str]) -> None:
    """A family that was not named at all gets a way out when it first is: that apart."""
    before = isolated(",".join((*FAMILIES, *entries)))
    after = isolated(",".join((*FAMILIES, *entries, *more)))

    opened = [
        name for name, row in ROWS.items() if verdict(after, row) and not verdict(before, row)
    ]

    assert [] == opened


PODS = (A1, A2, A3, B1, B2, DNS, PROM)
ways = st.tuples(st.sampled_from(("TCP", "UDP", "SCTP")), st.sampled_from((22, 53, 80, 65535)))


@given(source=st.sampled_from(PODS), to=st.sampled_from(PODS), way=ways, wide=st.booleans())
@unhurried
def test_n3_tenants_meet_only_where_no_instance_is_or_at_port_53_of_a_plain_pod(
    *, source: Endpoint, to: Endpoint, way: tuple[str, int], wide: bool
) -> None:
    protocol, port = way
    cluster = isolated("10.0.0.0/8" if wide else BOTH)
    instances = [pod for pod in (source, to) if pod.labels == INSTANCE]
    resolution = port == 53 and protocol != "SCTP" and instances == [source]

    expected = source.namespace == to.namespace or not instances or resolution

    assert expected is cluster.allows(source, to, port=port, protocol=protocol)
