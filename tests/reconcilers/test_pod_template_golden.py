"""I2 I3 T5: a few Pods, whole, as the API server gets them.

The fingerprints are part of it: a change of one tells every running workspace of that
sort `RestartPending` at the next upgrade, so it wants a reason.
"""

from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.environment import EnvFromSource, EnvVar, OptionalReference
from gpustack_ctrl.api.instance import SecurityContext
from gpustack_ctrl.api.instance_type import Dialect, InstanceTypeSpec, Toleration, UnitResources
from gpustack_ctrl.api.references import LocalReference
from gpustack_ctrl.api.resources import InstanceResources
from gpustack_ctrl.api.volumes import AdditionalVolume, EphemeralVolume, WorkspaceVolume
from gpustack_ctrl.reconcilers.login.host_key import host_key
from gpustack_ctrl.reconcilers.pod_template import rendered
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot
from tests.helpers.builders import (
    NVIDIA,
    TCP_22,
    UDP_80,
    instance,
    instance_type,
    node,
    ports,
    remade,
    seen,
)

GOLDEN = Path(__file__).parent / "golden"

CPU = seen(instance(ports=ports(TCP_22)))
WHOLE = seen(
    instance(
        command=("jupyter",),
        args=("lab", "--no-browser"),
        env=(EnvVar(name="MODE", value="dev"),),
        envFrom=(EnvFromSource(configMapRef=OptionalReference(name="settings", optional=True)),),
        imagePullSecret=LocalReference(name="registry"),
        ports=ports(TCP_22, UDP_80),
        resources=InstanceResources(accelerator="2", cpu="12"),
        volume=WorkspaceVolume(persistent=LocalReference(name="home")),
        sharedMemory="8Gi",
        securityContext=SecurityContext(runAsUser=1000, runAsGroup=1000, fsGroup=2000),
        nodeName="node-1",
        restartedAt="2026-11-30T12:00:00Z",
    ),
    type=instance_type(
        InstanceTypeSpec(
            manufacturer="nvidia",
            unitResources=UnitResources(cpu="8", ram="64Gi"),
            localStorage="100Gi",
            os="linux",
            arch="amd64",
            nodeSelector={"pool": "gpu"},
            tolerations=(Toleration(key="gpu", operator="Exists", effect="NoSchedule"),),
            queueName="research",
            priorityClassName="interactive",
            podAnnotations={"karpenter.sh/do-not-disrupt": "false", "team": "x"},
        )
    ),
    pinned=remade(node(), labels={names.HOSTNAME: "node-1.example"}),
    runtime_classes=frozenset({"nvidia"}),
)
SLICED = seen(
    instance(
        resources=InstanceResources(acceleratorSlicedMemoryPercentage=25),
        volume=WorkspaceVolume(ephemeral=EphemeralVolume(capacity="20Gi")),
        additionalVolumes=(
            AdditionalVolume(mountPath="/data", persistent=LocalReference(name="data")),
            AdditionalVolume(
                mountPath="/etc/token", readOnly=True, secret=LocalReference(name="token")
            ),
        ),
    ),
    type=instance_type(NVIDIA),
)
ME = LocalReference(name="me")
HELD = host_key(bytes(32), "uid-of-box")
CARD = InstanceResources(accelerator="1")
BESIDE = seen(
    instance(ports=ports(TCP_22), sshPublicKey=ME, resources=CARD),
    type=instance_type(NVIDIA),
    host_key=HELD,
)
INSIDE = attrs.evolve(BESIDE, type=instance_type(attrs.evolve(NVIDIA, dialect=Dialect.NVIDIA)))
PODS = {"cpu": CPU, "whole": WHOLE, "sliced": SLICED, "beside": BESIDE, "inside": INSIDE}


@pytest.mark.parametrize("name", PODS)
def test_i2_a_pod_is_rendered_as_its_golden_file_says(name: str) -> None:
    golden = yaml.safe_load((GOLDEN / f"{name}.yaml").read_text())

    assert golden == wire(PODS[name])


def wire(snapshot: InstanceSnapshot) -> dict[str, Any]:
    """The Pod of *snapshot* as it is sent."""
    template = rendered(snapshot)
    assert template is not None
    return codec.to_wire(template)
