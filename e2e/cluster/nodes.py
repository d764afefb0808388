"""Node objects as a kubelet with accelerators would register them."""

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Any

from e2e.cluster.errors import ClusterError

# kwok plays the kubelet of a node with this label; without it, the node has none.
SIMULATED = "gpustack-ctrl.test/simulated"
BASES: Mapping[str, str] = {
    "amd": "amd.com/gpu",
    "ascend": "huawei.com/npu",
    "cambricon": "cambricon.com/mlu",
    "hygon": "hygon.com/dcu",
    "iluvatar": "iluvatar.com/gpu",
    "metax": "metax-tech.com/gpu",
    "mthreads": "mthreads.com/gpu",
    "nvidia": "nvidia.com/gpu",
    "thead": "alibabacloud.com/ppu",
}
MACHINE: Mapping[str, str] = {
    "cpu": "64",
    "memory": "512Gi",
    "pods": "110",
    "ephemeral-storage": "2Ti",
}
# What a kubelet reports, and what is unknown when it does not.
KUBELET_CONDITIONS = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
_VERSION = "v1.37.2"
# Ranges for documentation and for benchmarks: nobody answers there.
_ADDRESSES = (ipaddress.ip_network("192.0.2.0/24"), ipaddress.ip_network("198.18.0.0/15"))


def accelerators(count: int, manufacturer: str) -> Mapping[str, str]:
    """Return the capacity of *count* cards, in every way a device manager offers them.

    A card is ten shares, a hundred percent or 80 GiB to slice, and seven
    partitions, of which two may be `mig-3g.40gb`.
    """
    base = BASES.get(manufacturer)
    if base is None:
        raise ClusterError(
            f"manufacturer {manufacturer!r} is unknown: use one of {', '.join(BASES)}"
        )
    amounts = {
        base: count,
        f"{base}.shared": 10 * count,
        f"{base}.sliced": 10 * count,
        f"{base}.sliced.memory-percentage": 100 * count,
        f"{base}.sliced.cores-percentage": 100 * count,
        f"{base}.sliced.memory-mib": 81920 * count,
        f"{base}.partitioned": 7 * count,
        f"{base}.partitioned.mig-3g.40gb": 2 * count,
        f"device.gpustack.ai/{manufacturer}.visibility": 10 * count,
    }
    return {name: str(amount) for name, amount in amounts.items()} if count else {}


def all_addresses() -> Iterator[str]:
    """Yield the addresses nodes may have, in order."""
    return (str(address) for network in _ADDRESSES for address in network.hosts())


def node(
    name: str,
    *,
    capacity: Mapping[str, str],
    address: str,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    schedulable: bool = True,
) -> Mapping[str, Any]:
    """Return the Node *name* with *capacity*, all of it allocatable."""
    well_known = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        SIMULATED: "true",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {**well_known, **(labels or {})},
            "annotations": dict(annotations or {}),
        },
        "spec": {"unschedulable": not schedulable},
        "status": {
            "capacity": dict(capacity),
            "allocatable": dict(capacity),
            "addresses": [
                {"type": "InternalIP", "address": address},
                {"type": "Hostname", "address": name},
            ],
            "nodeInfo": _node_info(name),
        },
    }


def _node_info(name: str) -> Mapping[str, str]:
    return {
        "architecture": "amd64",
        "operatingSystem": "linux",
        "osImage": "simulated",
        "kernelVersion": "simulated",
        "containerRuntimeVersion": "simulated://1",
        "kubeletVersion": _VERSION,
        "kubeProxyVersion": "",
        "machineID": name,
        "systemUUID": name,
        "bootID": name,
    }
