"""A real Kubernetes control plane on loopback, with simulated accelerator nodes.

As a command: `python -m e2e.cluster --help`. As a library: `running` and `Cluster`.
"""

from e2e.cluster.api import Api, ApiStatusError
from e2e.cluster.cluster import Cluster
from e2e.cluster.credentials import TENANTS, USERS
from e2e.cluster.errors import ClusterError
from e2e.cluster.faults import Fault
from e2e.cluster.lifecycle import Fleet, down, running, up
from e2e.cluster.programs import Programs, build
from e2e.cluster.waiting import until

__all__ = [
    "TENANTS",
    "USERS",
    "Api",
    "ApiStatusError",
    "Cluster",
    "ClusterError",
    "Fault",
    "Fleet",
    "Programs",
    "build",
    "down",
    "running",
    "until",
    "up",
]
