"""Answers of a kubelet, as it writes them, and Pods of Instances that they speak of."""

import json
from typing import Any

import attrs

from gpustack_ctrl.api.core import (
    ClaimReference,
    EmptyDir,
    Pod,
    PodContainer,
    PodVolume,
    ResourceRequirements,
)
from gpustack_ctrl.metering.exposition import Sample
from gpustack_ctrl.metering.members import Member
from tests.helpers.builders import instance, pod_of, remade

TIME = "2026-11-30T12:00:00Z"
MIB = 1 << 20
UID = "uid-of-pod"


def container(name: str = "main", *, cores: float = 0.297, memory: int = 50 * MIB) -> Any:
    """A container that runs."""
    return {
        "name": name,
        "startTime": TIME,
        "cpu": cpu(cores),
        "memory": {"time": TIME, "workingSetBytes": memory, "rssBytes": memory // 2},
        "rootfs": {"time": TIME, "availableBytes": 1, "capacityBytes": 2, "usedBytes": 38_800_000},
        "logs": {"time": TIME, "usedBytes": 4096},
        "swap": {"time": TIME, "swapUsageBytes": 0},
    }


def cpu(cores: float) -> Any:
    """Processor time as the kubelet writes it."""
    nano = round(cores * 1_000_000_000)
    return {"time": TIME, "usageNanoCores": nano, "usageCoreNanoSeconds": 100 * nano}


def pod_stats(uid: str = UID, **other: Any) -> Any:
    """All that is told of a Pod that runs; *other* stands in its place, None removes it."""
    told = {
        "podRef": {"name": "box", "namespace": "team", "uid": uid},
        "startTime": TIME,
        "containers": [container(), container("sshd", cores=0.003, memory=2 * MIB)],
        "cpu": cpu(0.3),
        "memory": {"time": TIME, "workingSetBytes": 53 * MIB, "rssBytes": 26 * MIB},
        "network": {
            "time": TIME,
            "name": "eth0",
            "rxBytes": 20_000_000,
            "txBytes": 3000,
            "interfaces": [
                {"name": "eth0", "rxBytes": 20_000_000, "rxErrors": 0, "txBytes": 3000},
                {"name": "net1", "rxBytes": 7, "txBytes": 5},
            ],
        },
        "volume": [
            volume("workspace", used=40 * MIB, capacity=1000 * MIB),
            volume("data", used=9 * MIB, capacity=2000 * MIB),
            volume("keys", used=4096, capacity=32 * MIB),
        ],
        "ephemeral-storage": {"time": TIME, "usedBytes": 41 * MIB, "capacityBytes": 9000 * MIB},
        "process_stats": {"process_count": 4},
    } | other
    return {name: value for name, value in told.items() if value is not None}


def volume(name: str, *, used: int, capacity: int) -> Any:
    """A volume as the kubelet writes it."""
    return {
        "time": TIME, "name": name, "usedBytes": used, "capacityBytes": capacity,
        "availableBytes": capacity - used, "inodes": 10, "inodesUsed": 1,
    }  # fmt: skip


def summary(*pods: Any) -> bytes:
    """The answer of a node with these *pods*."""
    return json.dumps({"node": {"nodeName": "node-1", "cpu": cpu(2)}, "pods": list(pods)}).encode()


def resources(**held: str) -> ResourceRequirements:
    """Limits: `resources(cpu="1", memory="2Gi")`."""
    return ResourceRequirements(
        limits={name.replace("_", "-"): value for name, value in held.items()}
    )


def member(name: str = "box", **pod: Any) -> Member:
    """An Instance and its Pod; *pod* says how that differs from one that runs."""
    return placed(name, "node-1", uid=UID if name == "box" else f"uid-of-pod-{name}", **pod)


def placed(name: str, node: str, *, uid: str = UID, **pod: Any) -> Member:
    """The same on another node, or with another UID of the Pod."""
    held = instance(name=name, uid=f"uid-of-{name}")
    return Member(held, remade(pod_of(held, node=node, **pod), uid=uid))


def holding(of: Member, *containers: PodContainer, volumes: tuple[PodVolume, ...] = ()) -> Member:
    """*of*, whose Pod has these *containers* and *volumes*."""
    spec = attrs.evolve(of.pod.spec, containers=containers, volumes=volumes)
    return attrs.evolve(of, pod=attrs.evolve(of.pod, spec=spec))


def scratch(name: str = "workspace", limit: str | None = None) -> PodVolume:
    """A share of the node's disk."""
    return PodVolume(name=name, emptyDir=EmptyDir(sizeLimit=limit))


def claimed(name: str = "data") -> PodVolume:
    """A volume behind a claim."""
    return PodVolume(name=name, persistentVolumeClaim=ClaimReference(claimName="mine"))


def values(samples: Any) -> dict[str, float]:
    """The value of each series, by its name alone: there is only one of each."""
    told: list[Sample] = list(samples)
    named = {held.family.name: held.value for held in told}
    assert len(named) == len(told), told
    return named


def with_uid(pod: Pod, uid: str) -> Pod:
    """The Pod with another UID."""
    return attrs.evolve(pod, metadata=attrs.evolve(pod.metadata, uid=uid))
