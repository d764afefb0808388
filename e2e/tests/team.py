"""A tenant's namespace: what a user does there, and what she sees."""

import json
import secrets
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import attrs

from e2e.cluster import until
from e2e.cluster.api import ApiStatusError
from e2e.node import RealNode
from e2e.node.images.catalogue import BUSYBOX

Wire = dict[str, Any]
SLEEP = ["sh", "-c", "trap 'exit 0' TERM; sleep infinity & wait"]


@attrs.frozen(kw_only=True)
class Team:
    """A namespace in which the operator runs Instances."""

    node: RealNode
    namespace: str

    def create(self, name: str = "box", **spec: Any) -> Wire:
        """Create an Instance; *spec* is what differs from one that sleeps without a card."""
        plain = {"type": "cpu", "image": BUSYBOX, "command": SLEEP}
        kind = {"apiVersion": "worker.gpustack.ai/v1", "kind": "Instance"}
        given = {key: value for key, value in {**plain, **spec}.items() if value is not None}
        made: Wire = self.node.api().post(
            self._collection("instances"), {**kind, "metadata": {"name": name}, "spec": given}
        )
        return made

    def edit(self, name: str = "box", **spec: Any) -> None:
        """Change the spec of an Instance."""
        self.node.api().patch(f"{self._collection('instances')}/{name}", {"spec": spec})

    def delete(self, name: str = "box") -> None:
        """Delete an Instance without waiting for its end."""
        self.node.api().delete(f"{self._collection('instances')}/{name}")

    def instance(self, name: str = "box") -> Wire:
        """Return an Instance, which exists."""
        found: Wire = self.node.api().get(f"{self._collection('instances')}/{name}")
        return found

    def wait(
        self, condition: Callable[[Wire], bool], name: str = "box", *, seconds: float = 60
    ) -> Wire:
        """Return the Instance once *condition* holds of it and its status is of its latest spec."""
        seen: list[Wire] = []

        def holds() -> bool:
            seen[:] = [self.instance(name)]
            return is_current(seen[0]) and condition(seen[0])

        try:
            until(holds, "not so", seconds=seconds)
        except Exception as error:
            told = json.dumps(seen[0].get("status") if seen else None)
            raise AssertionError(f"{error}: {name} says {told}") from error
        return seen[0]

    def wait_for(self, phase: str, name: str = "box", *, seconds: float = 60) -> Wire:
        """Return the Instance once it is in *phase*."""
        return self.wait(lambda one: one["status"]["phase"] == phase, name, seconds=seconds)

    def running(self, name: str = "box", **spec: Any) -> Wire:
        """Create an Instance and return it once it is Ready."""
        self.create(name, **spec)
        return self.wait_for("Ready", name)

    def pod(self, name: str = "box") -> Wire | None:
        """Return the Pod of an Instance, if there is one."""
        found: Wire | None = self.node.api().find(f"{self._core('pods')}/{name}")
        return found

    def pods(self) -> list[Wire]:
        """Return all Pods."""
        found: list[Wire] = self.node.api().get(self._core("pods"))["items"]
        return found

    def find(self, plural: str, name: str = "box") -> Wire | None:
        """Return the object *name* of a core kind, if it is there."""
        found: Wire | None = self.node.api().find(f"{self._core(plural)}/{name}")
        return found

    def make(self, plural: str, body: Mapping[str, Any]) -> Wire:
        """Create an object of a core kind."""
        made: Wire = self.node.api().post(self._core(plural), body)
        return made

    def exec(self, *command: str, name: str = "box", container: str = "main") -> str:
        """Return what *command* prints in a container, as `kubectl exec` runs it."""
        where = ("exec", "--namespace", self.namespace, name, "-c", container, "--")
        return self.node.kubectl(*where, *command)

    def kubectl(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run kubectl in the namespace, whatever its exit code."""
        program = (str(self.node.layout.bin / "kubectl"), "--kubeconfig", str(self.node.kubeconfig))
        return subprocess.run(
            (*program, "--namespace", self.namespace, *arguments),
            capture_output=True,
            text=True,
            check=False,
        )

    def gone(self, plural: str, name: str = "box", *, seconds: float = 60) -> None:
        """Return once no object of a core kind has that name."""
        until(lambda: self.find(plural, name) is None, f"{plural} {name} stays", seconds=seconds)

    def add_keys(self, name: str, *lines: str) -> None:
        """Create or change an InstanceSSHPublicKey."""
        collection = self._collection("instancesshpublickeys")
        body = {
            "apiVersion": "worker.gpustack.ai/v1",
            "kind": "InstanceSSHPublicKey",
            "metadata": {"name": name},
            "spec": {"data": "\n".join(lines)},
        }
        try:
            self.node.api().post(collection, body)
        except ApiStatusError:
            self.node.api().patch(f"{collection}/{name}", {"spec": body["spec"]})

    def _collection(self, plural: str) -> str:
        return f"/apis/worker.gpustack.ai/v1/namespaces/{self.namespace}/{plural}"

    def _core(self, plural: str) -> str:
        return f"/api/v1/namespaces/{self.namespace}/{plural}"


@contextmanager
def tenancy(node: RealNode) -> Iterator[Team]:
    """Have a team for the length of the block."""
    name = f"test-{secrets.token_hex(3)}"
    node.add_namespace(name)
    yield Team(node=node, namespace=name)
    node.api().delete(f"/api/v1/namespaces/{name}")


def is_current(instance: Wire) -> bool:
    """Whether the status speaks of the latest spec."""
    told = instance.get("status", {})
    return bool(told.get("observedGeneration") == instance["metadata"]["generation"])


def condition(instance: Wire, kind: str) -> Wire:
    """Return the condition *kind*, or one that says nothing."""
    told = instance["status"].get("conditions", [])
    silent = {"status": "", "reason": "", "message": ""}
    return next((one for one in told if one["type"] == kind), silent)


def node_ports(instance: Wire) -> dict[tuple[int, str], int]:
    """Return the node port of each (port, protocol)."""
    told = instance["status"].get("ports", [])
    return {(port["port"], port["protocol"]): port["nodePort"] for port in told}
