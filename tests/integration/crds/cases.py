"""Writes that the API server must accept or refuse, and the words it must refuse with.

A case is a merge patch of `SPEC`; the words are whole sentences of the answer, field included.
"""

from collections.abc import Mapping
from typing import Any

import attrs

from tests.integration.crds.sentences import (
    ENV_FROM,
    ENV_SOURCES,
    NO_SLICE,
    ONE_CARD,
    ONE_SOURCE,
    ONE_VOLUME,
    RESERVED,
    TWO_FAMILIES,
)

Patch = Mapping[str, Any]

SPEC: Mapping[str, Any] = {
    "type": "h100-sxm-80g",
    "image": "registry.example/work:1",
    "imagePullPolicy": "IfNotPresent",
    "imagePullSecret": {"name": "pull"},
    "command": ["sleep"],
    "args": ["1h"],
    "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
    "envFrom": [{"configMapRef": {"name": "settings"}}],
    "ports": [{"port": 80}, {"port": 80, "protocol": "UDP", "name": "voice"}],
    "resources": {"cpu": 1, "ram": "1Gi", "localStorage": "2Gi", "accelerator": 1},
    "volume": {"ephemeral": {"capacity": "10Gi"}},
    "volumeMount": "/workspace",
    "sharedMemory": "1Gi",
    "securityContext": {"runAsUser": 1000},
    "nodeName": "node-0",
}


@attrs.frozen
class Refused:
    """A patch of the spec, and what the API server says to it."""

    patch: Patch
    says: str


def frozen(path: str) -> str:
    """The refusal of an edit of *path* while the Instance runs."""
    remedy = "may change only while the Instance is stopped: set spec.stop to true first"
    return f"spec.{path}: Forbidden: {path} {remedy}"


FROZEN: Mapping[str, Patch] = {
    "type": {"type": "other"},
    "image": {"image": "registry.example/work:2"},
    "imagePullPolicy": {"imagePullPolicy": "Always"},
    "imagePullSecret": {"imagePullSecret": {"name": "other"}},
    "command": {"command": ["true"]},
    "args": {"args": None},
    "env": {"env": [{"name": "A", "value": "1"}]},
    "envFrom": {"envFrom": [{"secretRef": {"name": "settings"}}]},
    "ports": {"ports": [{"port": 80}, {"port": 80, "protocol": "SCTP", "name": "voice"}]},
    "resources.acceleratorShared": {"resources": {"acceleratorShared": True}},
    "resources.acceleratorSlicedMemoryPercentage": {
        "resources": {"acceleratorSlicedMemoryPercentage": 50}
    },
    "resources.acceleratorSlicedMemoryMiB": {"resources": {"acceleratorSlicedMemoryMiB": 1024}},
    "resources.acceleratorSlicedCoresPercentage": {
        "resources": {"acceleratorSlicedMemoryMiB": 1, "acceleratorSlicedCoresPercentage": 50}
    },
    "resources.acceleratorPartitionedProfile": {
        "resources": {"acceleratorPartitionedProfile": "1g.10gb"}
    },
    "volume.persistent": {"volume": {"ephemeral": None, "persistent": {"name": "disk"}}},
    "volume.ephemeral": {"volume": None},
    "volume.ephemeral.capacity": {"volume": {"ephemeral": {"capacity": None}}},
    "volumeMount": {"volumeMount": "/work"},
    "additionalVolumes": {
        "additionalVolumes": [{"mountPath": "/data", "persistent": {"name": "disk"}}]
    },
    "sshPublicKey": {"sshPublicKey": {"name": "me"}},
    "securityContext": {"securityContext": {"runAsUser": 0}},
    "privileged": {"privileged": True},
    "nodeName": {"nodeName": None},
    "resources.cpu": {"resources": {"cpu": "1001m"}},
    "resources.ram": {"resources": {"ram": "1G"}},
    "resources.localStorage": {"resources": {"localStorage": None}},
    "resources.accelerator": {"resources": {"accelerator": "0"}},
    "sharedMemory": {"sharedMemory": "2Gi"},
}
"""One edit for each field that is frozen while an Instance runs."""

FREE: Mapping[str, Patch] = {
    "nothing": {},
    "displayName": {"displayName": "Mine"},
    "description": {"description": "For the course."},
    "restartedAt": {"restartedAt": "2026-11-30T12:00:00Z"},
    "stop": {"stop": True},
    "cpu by value": {"resources": {"cpu": "1000m"}},
    "ram by value": {"resources": {"ram": "1024Mi"}},
    "accelerator by value": {"resources": {"accelerator": "1000m"}},
    "sharedMemory by value": {"sharedMemory": 1073741824},
    "capacity by value": {"volume": {"ephemeral": {"capacity": "10240Mi"}}},
    "order of ports": {"ports": [{"port": 80, "protocol": "UDP", "name": "voice"}, {"port": 80}]},
}
"""Edits that a running Instance allows."""

_SLICED = {"acceleratorSlicedMemoryPercentage": 50}
_KEY = {"name": "settings", "key": "a"}

REFUSED: Mapping[str, Refused] = {
    "shared and sliced": Refused(
        {"resources": {"acceleratorShared": True, **_SLICED}}, TWO_FAMILIES
    ),
    "sliced and partitioned": Refused(
        {"resources": {**_SLICED, "acceleratorPartitionedProfile": "1g"}}, TWO_FAMILIES
    ),
    "a slice by percent and MiB": Refused(
        {"resources": {**_SLICED, "acceleratorSlicedMemoryMiB": 1}},
        "spec.resources: Invalid value: give the memory of a slice once: as a percentage or in MiB",
    ),
    "cores without memory": Refused(
        {"resources": {"acceleratorSlicedCoresPercentage": 10}}, NO_SLICE
    ),
    "a slice of two cards": Refused({"resources": {**_SLICED, "accelerator": 2}}, ONE_CARD),
    "a partition of no card": Refused(
        {"resources": {"acceleratorPartitionedProfile": "1g", "accelerator": 0}}, ONE_CARD
    ),
    "a share of no card": Refused(
        {"resources": {"acceleratorShared": True, "accelerator": 0}},
        "spec.resources.accelerator: Invalid value: a shared accelerator needs at least one card: "
        "leave accelerator out or raise it",
    ),
    "half a card": Refused(
        {"resources": {"accelerator": "500m"}},
        "spec.resources.accelerator: Invalid value: accelerator must be a whole number of cards",
    ),
    "a negative number": Refused(
        {"resources": {"cpu": -1}},
        "spec.resources.cpu: Invalid value: -1: spec.resources.cpu in body should be greater than "
        "or equal to 0",
    ),
    "a negative text": Refused(
        {"resources": {"cpu": "-1"}}, "spec.resources.cpu in body should match"
    ),
    "no quantity": Refused({"sharedMemory": "much"}, "spec.sharedMemory in body should match"),
    "no volume in volume": Refused({"volume": {"ephemeral": None}}, ONE_VOLUME),
    "two volumes in volume": Refused({"volume": {"persistent": {"name": "disk"}}}, ONE_VOLUME),
    "a variable with two values": Refused(
        {"env": [{"name": "A", "value": "1", "valueFrom": {"secretKeyRef": _KEY}}]},
        "spec.env[0]: Invalid value: a variable has either value or valueFrom: remove one of them",
    ),
    "a variable with no source": Refused({"env": [{"name": "A", "valueFrom": {}}]}, ENV_SOURCES),
    "a variable with two sources": Refused(
        {"env": [{"name": "A", "valueFrom": {"secretKeyRef": _KEY, "configMapKeyRef": _KEY}}]},
        ENV_SOURCES,
    ),
    "a variable that opens devices": Refused(
        {"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}, RESERVED
    ),
    "a variable that lets logins in": Refused(
        {"env": [{"name": "GPUSTACK_INSTANCE_CONTAINER", "value": "sshd"}]}, RESERVED
    ),
    "a variable twice": Refused(
        {"env": [{"name": "A"}, {"name": "A"}]}, 'spec.env[1]: Duplicate value: {"name":"A"}'
    ),
    "envFrom nothing": Refused({"envFrom": [{}]}, ENV_FROM),
    "envFrom both": Refused(
        {"envFrom": [{"secretRef": {"name": "a"}, "configMapRef": {"name": "a"}}]}, ENV_FROM
    ),
    "a port twice": Refused(
        {"ports": [{"port": 80}, {"port": 80, "protocol": "TCP"}]},
        'spec.ports[1]: Duplicate value: {"port":80,"protocol":"TCP"}',
    ),
    "a port out of range": Refused(
        {"ports": [{"port": 65536}]},
        "spec.ports[0].port: Invalid value: 65536: spec.ports[0].port in body should be less than "
        "or equal to 65535",
    ),
    "a relative mount": Refused({"volumeMount": "work"}, "spec.volumeMount in body should match"),
    "a mount on the root": Refused({"volumeMount": "/"}, "spec.volumeMount in body should match"),
    "an additional volume at the workspace": Refused(
        {"additionalVolumes": [{"mountPath": "/workspace", "secret": {"name": "a"}}]},
        "spec.additionalVolumes: Invalid value: an additional volume is mounted at volumeMount, "
        "where the workspace is: choose another mountPath",
    ),
    "two additional volumes at one path": Refused(
        {
            "additionalVolumes": [
                {"mountPath": "/data", "secret": {"name": "a"}},
                {"mountPath": "/data", "secret": {"name": "b"}},
            ]
        },
        'spec.additionalVolumes[1]: Duplicate value: {"mountPath":"/data"}',
    ),
    "a subPath that climbs": Refused(
        {"additionalVolumes": [{"mountPath": "/d", "subPath": "a/..", "secret": {"name": "a"}}]},
        "spec.additionalVolumes[0].subPath in body should match",
    ),
    "a host path that climbs": Refused(
        {"additionalVolumes": [{"mountPath": "/d", "hostPath": {"path": "/a/../b"}}]},
        "spec.additionalVolumes[0].hostPath.path in body should match",
    ),
    "an additional volume without source": Refused(
        {"additionalVolumes": [{"mountPath": "/data"}]}, ONE_SOURCE
    ),
}
"""Edits that no Instance allows, running or stopped."""

ALLOWED: Mapping[str, Patch] = {
    "shared": {"resources": {"acceleratorShared": True, "accelerator": 2}},
    "sliced by percent": {"resources": {**_SLICED, "acceleratorSlicedCoresPercentage": 20}},
    "sliced by MiB": {"resources": {"acceleratorSlicedMemoryMiB": 4096, "accelerator": "1"}},
    "partitioned": {"resources": {"acceleratorPartitionedProfile": "3g.40gb", "accelerator": 1}},
    "whole": {"resources": {"accelerator": "8"}},
    "no card": {"resources": {"accelerator": "0"}},
    "no resources": {"resources": None},
    "persistent": {"volume": {"ephemeral": None, "persistent": {"name": "disk"}}},
    "ephemeral without capacity": {"volume": {"ephemeral": {"capacity": None}}},
    "a variable from a field": {
        "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]
    },
    "a variable from a limit": {
        "env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory"}}}]
    },
    "all entries of a Secret": {"envFrom": [{"secretRef": {"name": "a"}, "prefix": "X_"}]},
    "no ports": {"ports": None},
    "TCP and UDP on one number": {"ports": [{"port": 1}, {"port": 1, "protocol": "UDP"}]},
    "not privileged": {"privileged": False},
}
"""Edits that a stopped Instance allows."""

BAD_NAMES = ("9lives", "team.work", "a" * 64)
GOOD_NAMES = ("a", "a" * 63, "work-9")
BAD_NAME_SAYS = (
    "the name of an Instance must be a valid Service name: at most 63 lower-case letters, digits "
    "and hyphens, beginning with a letter and ending with a letter or digit"
)
