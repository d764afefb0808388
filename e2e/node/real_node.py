"""A real node that is up, seen from outside."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

from e2e.cluster.cluster import Cluster
from e2e.cluster.errors import ClusterError
from e2e.cluster.parts import Part
from e2e.cluster.waiting import until
from e2e.node import configuration, daemons
from e2e.node.box import Box
from e2e.node.layout import NODE, NODE_ADDRESS, NodeLayout
from e2e.node.network import entered

_NODE_PATH = f"/api/v1/nodes/{NODE}"


@attrs.frozen(kw_only=True)
class Holding:
    """The devices that one container has of one resource, by the kubelet's own word."""

    namespace: str
    pod: str
    container: str
    resource: str
    devices: tuple[str, ...]


@attrs.frozen(kw_only=True)
class RealNode(Cluster):
    """A real node and its control plane, which can be talked to from `outside` alone."""

    address: str = NODE_ADDRESS

    @property
    def layout(self) -> NodeLayout:
        """Where its files lie."""
        return NodeLayout(directory=self.directory)

    @property
    def box(self) -> Box:
        """The namespaces that it lives in."""
        return Box(layout=self.layout)

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Let this thread, and what it starts, be the client at the other end of the cable.

        Nothing else can be reached from there, not even this machine.
        """
        with entered(self.layout.client_network):
            yield

    def answers(self) -> bool:
        """Whether the API server is ready."""
        try:
            return self.api().text("/readyz") == "ok"
        except ClusterError:
            return False

    def is_registered(self) -> bool:
        """Whether the kubelet has made its Node."""
        return self.api().find(_NODE_PATH) is not None

    def allocatable(self) -> dict[str, str]:
        """Return what the node offers, of each resource."""
        found: dict[str, str] = self.api().get(_NODE_PATH)["status"].get("allocatable", {})
        return found

    def offers_devices(self) -> bool:
        """Whether every simulated resource is there in full."""
        offered = self.allocatable()
        wanted = (*daemons.offers("nvidia"), *daemons.offers("amd"))
        return all(offered.get(name) == str(count) for name, count, _ in wanted)

    def import_images(self, archive: Path) -> None:
        """Give the container runtime the images of *archive*."""
        ctr = (*self.box.prefix(), "ctr", "-n", "k8s.io")
        until(lambda: _succeeds(*ctr, "version"), "the container runtime does not answer")
        self.box.run("ctr", "-n", "k8s.io", "images", "import", str(archive))

    def holdings(self) -> tuple[Holding, ...]:
        """Return who holds which devices, from the kubelet's pod-resources API."""
        told: list[dict[str, Any]] = json.loads(self.box.run(str(self.layout.bin / "podresources")))
        return tuple(Holding(**{**one, "devices": tuple(one["devices"])}) for one in told)

    def allocations(self) -> list[dict[str, Any]]:
        """Return what the simulated device plugin was asked to allocate, oldest first."""
        lines = self.layout.log_of("deviceplugin").read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def sicken(self, resource: str, *devices: str) -> None:
        """Make *devices* of *resource* unhealthy, and all its others healthy."""
        self._rule(resource, "unhealthy").write_text("\n".join(devices))

    @contextmanager
    def refusing(self, resource: str, why: str) -> Iterator[None]:
        """Let the device plugin refuse allocations of *resource* for the block."""
        rule = self._rule(resource, "refuse")
        rule.write_text(why)
        try:
            yield
        finally:
            rule.unlink()

    def stop(self, name: str) -> None:
        """End the daemon *name*."""
        self.box.stop(name)

    def restart_kubelet(self) -> None:
        """Start the kubelet that was stopped; its Pods may have gone on without it."""
        self._start(daemons.kubelet(self.layout))

    def restart_api_server(self) -> None:
        """Start the API server that was stopped, and return when it is ready."""
        self._start(daemons.api_server(self.layout))
        until(self.answers, "the API server is not ready")

    def _start(self, part: Part) -> None:
        self.box.start(part.name, str(self.layout.bin / part.name), *part.arguments)

    @contextmanager
    def short_of_memory(self) -> Iterator[None]:
        """Have a kubelet that finds too little memory free, and evicts Pods, for the block.

        What is free does not change: only the threshold moves, to half of what is used.
        """
        told = self.api().get(f"{_NODE_PATH}/proxy/stats/summary")["node"]["memory"]
        free, used = told["availableBytes"], told["workingSetBytes"]
        self._replace_kubelet(str(free + used // 2))
        try:
            yield
        finally:
            self._replace_kubelet("0%")

    def has_memory(self) -> bool:
        """Whether the kubelet finds enough memory free."""
        told = self.api().get(_NODE_PATH)["status"]["conditions"]
        return any(one["type"] == "MemoryPressure" and one["status"] == "False" for one in told)

    def _replace_kubelet(self, memory_to_keep: str) -> None:
        self.stop("kubelet")
        configuration.write_kubelet(self.layout, memory_to_keep=memory_to_keep)
        self.restart_kubelet()

    def _rule(self, resource: str, kind: str) -> Path:
        return self.layout.devices / f"{resource.replace('/', '-')}.{kind}"


def _succeeds(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
