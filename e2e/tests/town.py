"""Two tenants, a DNS server and a scraper, and machines elsewhere: who sends packets to whom."""

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import attrs

from e2e.cluster import until
from e2e.node import RealNode
from e2e.node.images.catalogue import DNS, PROBE
from e2e.node.images.small import probe as probe_layer
from e2e.node.layout import (
    DNS_ADDRESS,
    NODE_ADDRESS,
    NODE_POD_RANGE,
    OTHER_NODE_ADDRESS,
    OTHER_NODE_TUNNEL,
)
from e2e.node.network import inside, ip
from e2e.tests.packets import (
    Answer,
    Verdict,
    probe,
    probe_from_network,
    probe_from_node,
    probe_from_pod,
)
from e2e.tests.team import Team, node_ports, tenancy

# Addresses of machines that are not here; the client outside answers for them.
ELSEWHERE = ("203.0.113.10", "169.254.169.254", "169.254.20.10", "10.244.9.9")
ANOTHER_NODE = (OTHER_NODE_ADDRESS, OTHER_NODE_TUNNEL)
GATEWAY = "10.244.0.1"
NAME = "a.example.test"
_TCP_PORTS = (22, 53, 80, 5432, 8080, 9400, 40000)
_UDP_PORTS = (53, 4000, 8080)
_SERVE = ["serve", *(f"tcp:{port}" for port in _TCP_PORTS), *(f"udp:{port}" for port in _UDP_PORTS)]
_SERVE_ELSEWHERE = ("tcp:53", "tcp:80", "tcp:443", "tcp:8080", "tcp:10250", "udp:53", "udp:4500")
# A question for the address of `NAME`, as it is sent over TCP.
_QUESTION = (
    r"\000\040\022\064\001\000\000\001\000\000\000\000\000\000"
    r"\001a\007example\004test\000\000\001\000\001"
)
_SMALL = {"type": "cpu-tiny", "resources": {"cpu": "100m"}}


@attrs.frozen(kw_only=True)
class Town:
    """Everybody by name: Pods as (team, name), their addresses, and node ports of Instances."""

    node: RealNode
    teams: Mapping[str, Team]
    pods: Mapping[str, tuple[str, str]]
    addresses: Mapping[str, str]
    doors: Mapping[str, int]

    def send(self, source: str, target: str, way: str) -> Answer:
        """Return what came of a packet; *way* reads `TCP 22`, *target* `door of b1` or a name."""
        protocol, _, port = way.lower().partition(" ")
        if target == "dns" and port == "53":
            return self._ask_for_name(source, protocol)
        address, number = self._at(target, int(port))
        if source in self.pods:
            return probe_from_pod(self.node, self.pods[source], protocol, address, number)
        if source in ("node", "gateway"):
            own = GATEWAY if source == "gateway" else NODE_ADDRESS
            return probe_from_node(self.node, protocol, address, number, source=own)
        if source in ANOTHER_NODE:
            network = self.node.layout.other_network
            return probe_from_network(network, protocol, address, number, source=source)
        return probe(protocol, address, number, source="" if source == "outside" else source)

    def _at(self, target: str, port: int) -> tuple[str, int]:
        if target.startswith("door of "):
            return NODE_ADDRESS, self.doors[target.removeprefix("door of ")]
        return self.addresses.get(target, target), port

    def _ask_for_name(self, source: str, protocol: str) -> Answer:
        server = self.addresses["dns"]
        by_udp = f"nslookup -type=a {NAME} {server} | grep -q 192.0.2.7"
        by_tcp = f"printf '{_QUESTION}' | nc -w 2 {server} 53 | grep -q example"
        question = by_udp if protocol == "udp" else by_tcp
        team, name = self.pods[source]
        answer = f"{question} && echo dns sees {source} || echo no answer"
        where = ("exec", "--namespace", team, name, "--", "sh", "-c")
        return Answer(text=self.node.kubectl(*where, answer).strip())


@contextmanager
def town(node: RealNode) -> Iterator[Town]:
    """Have the town for the length of the block."""
    with ExitStack() as stack:
        teams = {name: stack.enter_context(tenancy(node)) for name in ("a", "b", "infra")}
        stack.enter_context(_elsewhere(node))
        _settle(teams)
        yield _seen(node, teams)


def _settle(teams: Mapping[str, Team]) -> None:
    for name, team in (("a1", "a"), ("a2", "a"), ("b1", "b")):
        command = {"image": PROBE, "command": None, "args": _SERVE, "ports": [{"port": 22}]}
        teams[team].create(name, **_SMALL, **command)
    for name, team in (("a3", "a"), ("b2", "b"), ("prom", "infra")):
        teams[team].make("pods", _pod(name, {"name": "main", "image": PROBE, "args": _SERVE}))
    server = {"name": "dns", "image": DNS}
    metrics = {"name": "main", "image": PROBE, "args": ["serve", "tcp:9153"]}
    teams["infra"].make("pods", _pod("dns", server, metrics))
    teams["infra"].make("services", _dns_service())
    host = {"name": "main", "image": PROBE, "args": ["serve", "tcp:18999"]}
    teams["b"].make("pods", _pod("host", host, on_host=True))


def _seen(node: RealNode, teams: Mapping[str, Team]) -> Town:
    """The town, once everybody is Ready."""
    pods = {}
    for name, key in HOMES.items():
        teams[key].kubectl("wait", "--for=condition=Ready", f"pod/{name}", "--timeout=60s")
        pods[name] = (teams[key].namespace, name)
    addresses = {}
    for name, key in HOMES.items():
        pod = teams[key].pod(name)
        addresses[name] = pod["status"]["podIP"] if pod else ""
    instances = {name: teams[HOMES[name]].wait_for("Ready", name) for name in ("a1", "a2", "b1")}
    doors = {name: node_ports(one)[22, "TCP"] for name, one in instances.items()}
    return Town(node=node, teams=teams, pods=pods, addresses=addresses, doors=doors)


HOMES = {
    "a1": "a",
    "a2": "a",
    "a3": "a",
    "b1": "b",
    "b2": "b",
    "host": "b",
    "dns": "infra",
    "prom": "infra",
}


@contextmanager
def _elsewhere(node: RealNode) -> Iterator[None]:
    """Let another node answer, and the client outside for machines that are not here."""
    client = node.layout.client_network
    for address in ELSEWHERE:
        ip("-n", client, "address", "replace", f"{address}/32", "dev", "lo")
    ip("-n", client, "route", "replace", NODE_POD_RANGE, "via", NODE_ADDRESS)
    with _serving(client), _serving(node.layout.other_network):
        until(lambda: probe("tcp", ELSEWHERE[0], 80).verdict is Verdict.ALLOW, "nobody is there")
        yield


@contextmanager
def _serving(network: str) -> Iterator[None]:
    """Have a server in *network* for the length of the block."""
    program = str(probe_layer().made() / "probe")
    server = subprocess.Popen((*inside(network), program, "serve", *_SERVE_ELSEWHERE))
    try:
        yield
    finally:
        server.kill()
        server.wait()


def _pod(name: str, *containers: Mapping[str, Any], on_host: bool = False) -> Mapping[str, Any]:
    return {
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "containers": containers,
            "hostNetwork": on_host,
            "terminationGracePeriodSeconds": 1,
        },
    }


def _dns_service() -> Mapping[str, Any]:
    ports = [{"name": kind, "port": 53, "protocol": kind.upper()} for kind in ("udp", "tcp")]
    spec = {"clusterIP": DNS_ADDRESS, "selector": {"app": "dns"}, "ports": ports}
    return {"metadata": {"name": "dns"}, "spec": spec}
