"""A real Kubernetes node on this machine: kubelet, container runtime, packets and policies.

As a command: `python -m e2e.node --help`. As a library: `running` and `RealNode`.
"""

from e2e.node.lifecycle import down, reboot, running, up
from e2e.node.real_node import RealNode
from e2e.node.requirements import missing

__all__ = ["RealNode", "down", "missing", "reboot", "running", "up"]
