"""A node in miniature for tests of attribution: Pods, what the kubelet says, samples."""

from collections.abc import Mapping
from typing import Any

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import Pod, PodContainer, PodSpec, PodStatus, ResourceRequirements
from gpustack_ctrl.api.meta import ObjectKey, ObjectMeta
from gpustack_ctrl.metering.accelerators.attribution import Seen
from gpustack_ctrl.metering.accelerators.grants import DeviceGrant
from gpustack_ctrl.metering.accelerators.readings import DeviceSample, Extent, PodClaim
from gpustack_ctrl.metering.accelerators.tenants import PodRef

GPU = "nvidia.com/gpu"
LOOK = "device.gpustack.ai/nvidia.visibility"


def instance_uid(name: str) -> str:
    """The UID of the Instance of this name."""
    return f"instance-{name}"


def pod(name: str, *, asks: Mapping[str, str] | None = None, **meta: Any) -> Pod:
    """The Pod of the Instance *name*, with a login; *asks* is what `main` asks for."""
    held = ResourceRequirements(limits=asks or {}, requests=asks or {})
    labels = {names.PART_OF: instance_uid(name), names.TYPE: names.INSTANCES}
    stored = {"uid": f"pod-{name}", "labels": labels} | meta
    return Pod(
        metadata=ObjectMeta(name=name, namespace="team", **stored),
        spec=PodSpec(
            containers=(
                PodContainer(name=names.MAIN, resources=held),
                PodContainer(name=names.SSHD),
            )
        ),
        status=PodStatus(phase="Running"),
    )


def ref(of: Pod) -> PodRef:
    """The Pod as the kubelet's summary names it."""
    return PodRef(of.metadata.namespace, of.metadata.name, of.metadata.uid)


def grant(name: str, *devices: str, resource: str = GPU, container: str = "main") -> DeviceGrant:
    """What the kubelet says that a container of the Pod *name* has."""
    return DeviceGrant(
        namespace="team", pod=name, container=container, resource=resource, devices=devices
    )


def claim(name: str, uid: str = "", container: str = "main") -> PodClaim:
    """The Pod *name* as a source names it."""
    return PodClaim(namespace="team", name=name, uid=uid, container=container)


def card(device: str, claimed: PodClaim | None = None, **figures: Any) -> DeviceSample:
    """A whole card, all of whose figures are told."""
    told = {
        "memory_total_bytes": 100,
        "memory_used_bytes": 40,
        "cores_utilization": 0.5,
        "temperature_celsius": 41.0,
        "power_watts": 120.0,
        "unhealthy": False,
    } | figures
    return DeviceSample(id=device, index="0", manufacturer="nvidia", pod=claimed, **told)


def slice_of(device: str, claimed: PodClaim | None, used: int = 10) -> DeviceSample:
    """One container's use of a card."""
    return DeviceSample(
        id=device,
        manufacturer="nvidia",
        extent=Extent.SLICE,
        memory_total_bytes=25,
        memory_used_bytes=used,
        cores_utilization=0.25,
        pod=claimed,
    )


def partition(device: str, number: int, claimed: PodClaim | None = None) -> DeviceSample:
    """One hardware partition; its power is the card's, as dcgm-exporter tells it."""
    return DeviceSample(
        id=device,
        index="0",
        manufacturer="nvidia",
        extent=Extent.PARTITION,
        partition=str(number),
        memory_total_bytes=20,
        memory_used_bytes=number,
        cores_utilization=0.9,
        power_watts=120.0,
        pod=claimed,
    )


def seen(*pods: Pod, **rest: Any) -> Seen:
    """The node with *pods*, each of them the Pod of an Instance and running."""
    given: dict[str, Any] = {
        "instances": {
            instance_uid(one.metadata.name): ObjectKey("team", one.metadata.name) for one in pods
        },
        "pods": pods,
        "running": tuple(ref(one) for one in pods),
    }
    return Seen(**(given | rest))
