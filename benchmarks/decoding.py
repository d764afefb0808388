"""A Pod from bytes into what we read of it, against the standard library's parser."""

import gc
import json
import time
from collections.abc import Callable, Iterator

import msgspec

from gpustack_ctrl.api import codec
from gpustack_ctrl.api.core import Pod

ROUNDS = 7
EACH = 2000


def decoding() -> Iterator[str]:
    """Ratios of CPU time, the median of rounds that alternate."""
    body = _pod()
    read = codec.reader(Pod)
    rounds = [(_cpu(read, body), _cpu(json.loads, body), _cpu(msgspec.json.decode, body))
              for _ in range(ROUNDS)]  # fmt: skip
    ours, standard, untyped = (sorted(column)[ROUNDS // 2] for column in zip(*rounds, strict=True))
    yield f"decode a Pod of {len(body)} bytes: {ours / standard:.2f} of json.loads"
    yield f"decode a Pod of {len(body)} bytes: {ours / untyped:.2f} of msgspec into dicts"


def _cpu(read: Callable[[bytes], object], body: bytes) -> float:
    gc.disable()
    started = time.process_time()
    for _ in range(EACH):
        read(body)
    spent = time.process_time() - started
    gc.enable()
    return spent


def _pod() -> bytes:
    """A Pod of the size that a real one has, managed fields and all."""
    fields: dict[str, object] = {
        f"f:field{number}": {"f:name": {}, "f:value": {}} for number in range(40)
    }
    container = {
        "name": "main",
        "image": "registry.example/workload:1",
        "env": [{"name": f"NAME_{number}", "value": "value"} for number in range(12)],
        "resources": {"limits": {"cpu": "8", "memory": "48Gi", "nvidia.com/gpu": "1"}},
        "volumeMounts": [{"name": "workspace", "mountPath": "/workspace"}],
    }
    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady",
                     "PodScheduled")
    ]  # fmt: skip
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "workspace",
            "namespace": "team",
            "uid": "0f0e8b5c-0000-4000-8000-000000000000",
            "resourceVersion": "123456",
            "labels": {
                "app.kubernetes.io/part-of": "uid",
                "resource.gpustack.ai/type": "instances",
            },
            "managedFields": [{"manager": "kubelet", "fieldsV1": fields}],
        },
        "spec": {"nodeName": "node-0", "containers": [container, {**container, "name": "sshd"}]},
        "status": {
            "phase": "Running",
            "conditions": conditions,
            "podIPs": [{"ip": "10.244.0.5"}],
            "hostIPs": [{"ip": "192.0.2.1"}],
            "containerStatuses": [{"name": "main", "ready": True, "restartCount": 0}],
        },
    }
    return codec.encode(pod)
