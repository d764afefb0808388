"""A running cluster, seen from outside."""

import os
import subprocess
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

import attrs

from e2e.cluster import faults, nodes
from e2e.cluster.api import STRATEGIC_PATCH, Api, ApiStatusError
from e2e.cluster.credentials import ADMIN, kubeconfig, read_token
from e2e.cluster.errors import ClusterError
from e2e.cluster.layout import Layout
from e2e.cluster.waiting import until

_NODES = "/api/v1/nodes"


@attrs.frozen(kw_only=True)
class Cluster:
    """An embedded cluster that is up, by the directory it was started with."""

    directory: Path

    @property
    def layout(self) -> Layout:
        """Where its files lie."""
        return Layout(directory=self.directory)

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig of its administrator."""
        return self.layout.kubeconfig

    @property
    def server(self) -> str:
        """The URL of its API server."""
        return f"https://{self.layout.host}:{self.layout.read_ports().api_server}"

    def api(self, user: str = ADMIN) -> Api:
        """Return the API server as *user* sees it."""
        return Api(layout=self.layout, user=user)

    def token(self, user: str = ADMIN) -> str:
        """Return the bearer token of *user*, one of `credentials.USERS`."""
        return read_token(self.layout, user)

    def kubeconfig_for(self, user: str) -> Path:
        """Return the kubeconfig of *user*, one of `credentials.USERS`."""
        path = self.layout.users / user
        if not path.exists():
            raise ClusterError(f"user {user!r} is unknown: use one of e2e.cluster.USERS")
        return path

    def kubeconfig_for_service_account(self, namespace: str, name: str) -> Path:
        """Return a kubeconfig with a fresh token of an existing ServiceAccount."""
        token = self.kubectl("create", "token", name, "--namespace", namespace).strip()
        path = self.layout.users / f"{namespace}.{name}"
        path.touch(mode=0o600)
        path.write_text(kubeconfig(self.layout, token=token))
        return path

    def environment(self, user: str = ADMIN) -> Mapping[str, str]:
        """Return the variables that make Kubernetes programs talk to this cluster as *user*."""
        return {
            "KUBECONFIG": str(self.kubeconfig_for(user)),
            "KUBECACHEDIR": str(self.layout.cache),
            "KUBERC": "off",
            "PATH": f"{self.layout.bin}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        }

    def kubectl(
        self,
        *arguments: str,
        input: str | None = None,  # noqa: A002  The name subprocess.run gives it.
        check: bool = True,
        user: str = ADMIN,
    ) -> str:
        """Return what kubectl prints for *user*; what it complains of too, unless *check*.

        Raises ClusterError when kubectl fails and *check* is set.
        """
        done = subprocess.run(
            [self.layout.bin / "kubectl", *arguments],
            env={**os.environ, **self.environment(user)},
            input=input or "",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if check else subprocess.STDOUT,
            text=True,
            check=False,
        )
        if check and done.returncode != 0:
            raise ClusterError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def add_namespace(self, name: str, *, labels: Mapping[str, str] | None = None) -> None:
        """Add a namespace and return when Pods can be made in it."""
        body = {"metadata": {"name": name, "labels": dict(labels or {})}}
        self.api().post("/api/v1/namespaces", body)
        self.wait_for_service_account(name)

    def remove_namespace(self, name: str) -> None:
        """Order the end of a namespace, which may have come to it already."""
        try:
            self.api().delete(f"/api/v1/namespaces/{name}")
        except ApiStatusError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise

    def wait_for_service_account(self, namespace: str) -> None:
        """Return when *namespace* has its default ServiceAccount, without which no Pod starts."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/default"
        until(lambda: self.api().find(path) is not None, f"{namespace} has no ServiceAccount")

    def add_node(
        self,
        name: str,
        *,
        capacity: Mapping[str, str] | None = None,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        schedulable: bool = True,
    ) -> None:
        """Add a simulated node and return when it is Ready.

        *capacity* adds to that of `nodes.MACHINE`: see also `nodes.accelerators`.
        One that is not *schedulable* runs only Pods that name it.
        """
        self.register_node(
            name,
            capacity=capacity,
            labels=labels,
            annotations=annotations,
            schedulable=schedulable,
        )
        self.wait_for_node(name)

    def register_node(
        self,
        name: str,
        *,
        capacity: Mapping[str, str] | None = None,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        schedulable: bool = True,
    ) -> None:
        """Add a simulated node as `add_node` does, without waiting."""
        used = {address["address"] for node in self._nodes() for address in _addresses(node)}
        node = nodes.node(
            name,
            capacity={**nodes.MACHINE, **(capacity or {})},
            address=next(free for free in nodes.all_addresses() if free not in used),
            labels=labels,
            annotations=annotations,
            schedulable=schedulable,
        )
        self.api().post(_NODES, node)

    def wait_for_node(self, name: str, *, status: str = "True") -> None:
        """Return when the Ready condition of the node *name* is *status*."""
        until(lambda: status == self._readiness(name), f"node {name} is not Ready={status}")

    def remove_node(self, name: str) -> None:
        """Delete the node *name*; the Pod garbage collector then deletes its Pods."""
        self.api().delete(f"{_NODES}/{name}")

    def set_fault(self, name: str, mark: str | None) -> None:
        """Let Pods bound to the node *name* from now on suffer a `Fault`, or none."""
        value = mark and faults.checked(mark)
        self.api().patch(f"{_NODES}/{name}", {"metadata": {"labels": {faults.LABEL: value}}})
        until(lambda: value == self._fault_of_new_pod(name), f"{name} does not get its fault")

    def lose_node(self, name: str) -> None:
        """Let the kubelet of the node *name* fall silent: its Pods are stuck as they are.

        Its conditions are set to what the node controller would set after its
        period of grace; the taints that follow are that controller's own work.
        """
        self._simulate(name, simulated=None)
        lost = {
            "status": "Unknown",
            "reason": "NodeStatusUnknown",
            "message": "Kubelet stopped posting node status.",
        }
        conditions = [{"type": kind, **lost} for kind in nodes.KUBELET_CONDITIONS]
        self._patch_status(f"{_NODES}/{name}", conditions)
        for pod in self.api().get(f"/api/v1/pods?fieldSelector=spec.nodeName={name}")["items"]:
            path = (
                f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
            )
            self._patch_status(path, [{"type": "Ready", "status": "False"}])

    def recover_node(self, name: str) -> None:
        """Undo `lose_node` and return when the node is Ready."""
        self._simulate(name, simulated="true")
        self.wait_for_node(name)

    def _simulate(self, name: str, *, simulated: str | None) -> None:
        labels = {nodes.SIMULATED: simulated}
        self.api().patch(f"{_NODES}/{name}", {"metadata": {"labels": labels}})

    def _patch_status(self, path: str, conditions: list[dict[str, str]]) -> None:
        body = {"status": {"conditions": conditions}}
        self.api().patch(f"{path}/status", body, kind=STRATEGIC_PATCH)

    def _fault_of_new_pod(self, node: str) -> str | None:
        """Return the fault that a Pod on *node* would get, by the API server's own word."""
        container = {"name": "main", "image": "none"}
        pod = {
            "metadata": {"generateName": "probe-"},
            "spec": {"nodeName": node, "containers": [container]},
        }
        created = self.api().post("/api/v1/namespaces/default/pods?dryRun=All", pod)
        found: str | None = created["metadata"].get("labels", {}).get(faults.LABEL)
        return found

    def _readiness(self, name: str) -> str:
        node = self.api().find(f"{_NODES}/{name}") or {"status": {}}
        found = [c["status"] for c in node["status"].get("conditions", ()) if c["type"] == "Ready"]
        return str(found[0]) if found else "Unreported"

    def _nodes(self) -> list[Any]:
        found: list[Any] = self.api().get(_NODES)["items"]
        return found


def _addresses(node: Mapping[str, Any]) -> list[Mapping[str, str]]:
    found: list[Mapping[str, str]] = node["status"].get("addresses", [])
    return found
