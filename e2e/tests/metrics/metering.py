"""The exporter on the node as deploy/ installs it, and the door that Prometheus has to it."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import attrs

from e2e.cluster import until
from e2e.node import RealNode, machine
from e2e.node.layout import NODE_ADDRESS
from e2e.tests.metrics.cards import SOURCE
from e2e.tests.metrics.prometheus import Prometheus, watching
from e2e.tests.shop import NAME, NAMESPACE
from e2e.tests.team import Team
from monitoring.outputs import rules

EXPORTER = "gpustack-ctrl-exporter"
READER = "prometheus"
# How often the exporter reads the kubelet here, so that nobody waits for long.
PERIOD_SECONDS = 3
REQUEST_SECONDS = 2
_MOST_SHARES = 1 << 18
# Our own rules ask for hours and quarters of an hour; here seconds are enough.
_SHORTER = {
    "[10m]": "[10s]",
    "[15m]": "[15s]",
    "offset 15m": "offset 15s",
    "> bool 900": "> bool 15",
    "[1h]": "[10s]",
    "[4h]": "[30s]",
    "offset 4h": "offset 30s",
    "> 14400": "> 30",
}
_PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
_SERVICES = f"/api/v1/namespaces/{NAMESPACE}/services"
_BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"


@attrs.frozen(kw_only=True)
class Door:
    """How the metrics of a Deployment are reached from outside."""

    job: str
    port: int

    def scraped(self, token: Path) -> dict[str, Any]:
        """How Prometheus is told of it."""
        return {
            "job_name": self.job,
            "scheme": "https",
            # The certificate is one of the exporter's own making.
            "tls_config": {"insecure_skip_verify": True},
            "authorization": {"credentials_file": str(token)},
            "static_configs": [{"targets": [f"{NODE_ADDRESS}:{self.port}"]}],
        }


@contextmanager
def measured(node: RealNode, folder: Path) -> Iterator[Prometheus]:
    """Have a Prometheus that scrapes a quick exporter, and the operator, for the block."""
    with ExitStack() as stack:
        stack.enter_context(undisturbed(node))
        stack.enter_context(quick_exporter(node))
        token = stack.enter_context(reader(node, folder))
        jobs = [door.scraped(token) for door in stack.enter_context(doors(node))]
        started = stack.enter_context(watching(folder, jobs, squeezed(rules())))
        started.wait("sum(up) == 2")
        yield started


def squeezed(told: Mapping[str, Any]) -> dict[str, Any]:
    """The rules, with alerts that fire as soon as what they are about lasts for seconds."""
    groups = [
        {**group, "interval": "1s", "rules": [_impatient(rule) for rule in group["rules"]]}
        for group in told["groups"]
    ]
    return {"groups": groups}


def _impatient(rule: Mapping[str, Any]) -> Mapping[str, Any]:
    expr = rule["expr"]
    for long, short in _SHORTER.items():
        expr = expr.replace(long, short)
    at_once = {"for": "0s"} if "alert" in rule else {}
    return {**rule, "expr": expr, **at_once}


@contextmanager
def scaled(node: RealNode, deployment: str, count: int) -> Iterator[None]:
    """Have *count* Pods of a Deployment of ours, instead of one, for the length of the block."""
    scale(node, deployment, count)
    try:
        yield
    finally:
        scale(node, deployment, 1)


def scale(node: RealNode, deployment: str, count: int) -> None:
    """Have *count* Pods of a Deployment of ours, and return when they are ready."""
    where = ("--namespace", NAMESPACE)
    node.kubectl("scale", f"deployment/{deployment}", f"--replicas={count}", *where)
    node.kubectl("rollout", "status", f"deployment/{deployment}", "--timeout=90s", *where)


@contextmanager
def undisturbed(node: RealNode) -> Iterator[None]:
    """Let Pods have their processor time before all else on this machine, for the block.

    Who is to burn a third of a core, and does not get it, shows less.
    """
    (shares,) = (path for one in machine.cgroups(node.layout) for path in one.glob("cpu.shares"))
    before = shares.read_text()
    shares.write_text(str(_MOST_SHARES))
    try:
        yield
    finally:
        shares.write_text(before)


@contextmanager
def quick_exporter(node: RealNode) -> Iterator[None]:
    """Let the exporter read more often, and of cards, too, for the length of the block."""
    faster = (
        f"GPUSTACK_PERIOD_SECONDS={PERIOD_SECONDS}",
        f"GPUSTACK_REQUEST_SECONDS={REQUEST_SECONDS}",
        f"GPUSTACK_ACCELERATOR_SOURCES={SOURCE}",
    )
    set_exporter(node, *faster)
    try:
        yield
    finally:
        set_exporter(node, *(f"{one.partition('=')[0]}-" for one in faster))


def set_exporter(node: RealNode, *variables: str) -> None:
    """Set *variables* of the exporter, or unset those that end in a dash; return when it runs."""
    where = ("--namespace", NAMESPACE)
    node.kubectl("set", "env", f"deployment/{EXPORTER}", *variables, *where)
    node.kubectl("rollout", "status", f"deployment/{EXPORTER}", "--timeout=90s", *where)


@contextmanager
def doors(node: RealNode) -> Iterator[tuple[Door, ...]]:
    """Have node ports to operator and exporter."""
    made = []
    for name in (NAME, EXPORTER):
        spec = {
            "type": "NodePort",
            "selector": {"app.kubernetes.io/name": name},
            "ports": [{"port": 8080, "targetPort": "metrics"}],
        }
        body = {"metadata": {"name": f"{name}-outside"}, "spec": spec}
        told = node.api().post(_SERVICES, body)
        made.append(Door(job=name, port=told["spec"]["ports"][0]["nodePort"]))
    try:
        yield tuple(made)
    finally:
        for door in made:
            node.api().delete(f"{_SERVICES}/{door.job}-outside")


@contextmanager
def reader(node: RealNode, folder: Path) -> Iterator[Path]:
    """Have an account that may read protected pages and nothing else; its token is in a file."""
    accounts = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts"
    node.api().post(accounts, {"metadata": {"name": READER}})
    bound = {
        "metadata": {"name": READER},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "gpustack-metrics-reader",
        },
        "subjects": [{"kind": "ServiceAccount", "name": READER, "namespace": NAMESPACE}],
    }
    node.api().post(_BINDINGS, bound)
    token = folder / "token"
    token.touch(mode=0o600)
    token.write_text(token_of(node, READER))
    try:
        yield token
    finally:
        node.api().delete(f"{_BINDINGS}/{READER}")
        node.api().delete(f"{accounts}/{READER}")


def token_of(node: RealNode, account: str) -> str:
    """Return a token of an account in the operator's namespace."""
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{account}/token"
    return str(node.api().post(path, {"spec": {}})["status"]["token"])


def replace(node: RealNode, deployment: str) -> None:
    """Delete the Pod of a Deployment of ours, and return when another one is ready."""
    where = f"{_PODS}?labelSelector=app.kubernetes.io/name={deployment}"
    before = _uids(node, where)
    for pod in node.api().get(where)["items"]:
        node.api().delete(f"{_PODS}/{pod['metadata']['name']}")
    until(lambda: not before & _uids(node, where), f"{deployment} is still there")
    wanted = ("rollout", "status", f"deployment/{deployment}", "--timeout=90s")
    node.kubectl(*wanted, "--namespace", NAMESPACE)


def _uids(node: RealNode, where: str) -> set[str]:
    return {pod["metadata"]["uid"] for pod in node.api().get(where)["items"]}


def named(family: str, team: Team, name: str = "box", **labels: str) -> str:
    """The series of *family* of an Instance."""
    told = {"namespace": team.namespace, "instance_name": name, **labels}
    inside = ",".join(f'{key}="{value}"' for key, value in told.items())
    return f"gpustack_instance_{family}{{{inside}}}"
