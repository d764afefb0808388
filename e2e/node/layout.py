"""Where a real node keeps what, and which addresses it has.

All names that the machine sees (network namespaces, cgroups) come from the folder's own, so
that several nodes live side by side, with the same addresses in each.
"""

import hashlib
from pathlib import Path

import attrs

from e2e.cluster.layout import Layout

NODE = "n1"
NODE_ADDRESS = "10.77.0.2"
CLIENT_ADDRESS = "10.77.0.3"
POD_RANGE = "10.244.0.0/16"
NODE_POD_RANGE = "10.244.0.0/24"
# Another node, which is a network alone, and this one's address towards it.
OTHER_NODE_ADDRESS = "192.168.50.12"
TO_OTHER_NODE_ADDRESS = "192.168.50.11"
OTHER_NODE_POD_RANGE = "10.244.2.0/24"
OTHER_NODE_TUNNEL = "10.244.2.0"
SERVICE_RANGE = "10.96.0.0/16"
DNS_ADDRESS = "10.96.0.10"
# Every node has a machine of namespaces to itself, so the usual ports are free.
API_PORT, ETCD_PORT, ETCD_PEER_PORT = 6443, 2379, 2380


@attrs.frozen(kw_only=True)
class NodeLayout(Layout):
    """The files of a real node below its directory."""

    host: str = NODE_ADDRESS

    @property
    def name(self) -> str:
        """What everything of this node on the machine is called."""
        return f"gpustack-{hashlib.sha256(str(self.directory).encode()).hexdigest()[:6]}"

    @property
    def node_network(self) -> str:
        """The network namespace of the node, by name."""
        return f"{self.name}-node"

    @property
    def client_network(self) -> str:
        """The network namespace of whoever is outside, by name."""
        return f"{self.name}-client"

    @property
    def other_network(self) -> str:
        """The network namespace that plays another node, by name."""
        return f"{self.name}-other"

    @property
    def networks(self) -> tuple[str, ...]:
        """All network namespaces, by name."""
        return self.node_network, self.client_network, self.other_network

    @property
    def processes(self) -> Path:
        """One file for each process, named after it, with its id as the machine sees it."""
        return self.directory / "pid"

    @property
    def inside(self) -> Path:
        """What lies in the node under names that its programs fix, such as /var/lib/kubelet."""
        return self.directory / "inside"

    @property
    def configuration(self) -> Path:
        """What the daemons are told."""
        return self.directory / "etc"

    @property
    def devices(self) -> Path:
        """What rules the health of simulated devices: see kube/deviceplugin."""
        return self.directory / "devices"

    @property
    def kernel_values(self) -> Path:
        """Machine-wide values of the kernel as they were before the kubelet changed them."""
        return self.directory / "kernel-values"

    def kept(self, name: str) -> Path:
        """Return the file that remembers *name*."""
        return self.directory / f"{name}.kept"

    def kubeconfig_of(self, user: str) -> Path:
        """Return the kubeconfig of *user*."""
        return self.users / user

    def log_of(self, name: str) -> Path:
        """Return what the process *name* says."""
        return self.log / name


def network_path(name: str) -> Path:
    """Return the file that stands for the network namespace *name*."""
    return Path("/run/netns") / name
