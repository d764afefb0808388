"""The volumes of a Pod, and where the workload sees them."""

from collections.abc import Iterator

from gpustack_ctrl.api.instance import InstanceSpec
from gpustack_ctrl.api.pod_template import (
    ClaimSource,
    ConfigMapSource,
    EmptyDir,
    SecretSource,
    Volume,
    VolumeMount,
)
from gpustack_ctrl.api.volumes import AdditionalVolume

WORKSPACE = "workspace"
SHARED_MEMORY = "shared-memory"


def volumes(spec: InstanceSpec) -> Iterator[Volume]:
    """The workspace, and what else the user asks for."""
    yield _workspace(spec)
    if spec.sharedMemory is not None:
        memory = EmptyDir(medium="Memory", sizeLimit=spec.sharedMemory)
        yield Volume(name=SHARED_MEMORY, emptyDir=memory)
    for number, asked in enumerate(spec.additionalVolumes):
        yield _additional(number, asked)


def mounts(spec: InstanceSpec) -> Iterator[VolumeMount]:
    """Where `main` sees each of them."""
    yield VolumeMount(name=WORKSPACE, mountPath=spec.volumeMount)
    if spec.sharedMemory is not None:
        yield VolumeMount(name=SHARED_MEMORY, mountPath="/dev/shm")  # noqa: S108 - where it is.
    for number, asked in enumerate(spec.additionalVolumes):
        yield VolumeMount(
            name=_name(number),
            mountPath=asked.mountPath,
            readOnly=asked.readOnly or None,
            subPath=asked.subPath,
        )


def _workspace(spec: InstanceSpec) -> Volume:
    persistent = spec.volume.persistent if spec.volume else None
    if persistent is not None:
        return Volume(name=WORKSPACE, persistentVolumeClaim=ClaimSource(claimName=persistent.name))
    ephemeral = spec.volume.ephemeral if spec.volume else None
    limit = ephemeral.capacity if ephemeral else None
    return Volume(name=WORKSPACE, emptyDir=EmptyDir(sizeLimit=limit))


def _additional(number: int, asked: AdditionalVolume) -> Volume:
    claim, config, secret = asked.persistent, asked.configMap, asked.secret
    return Volume(
        name=_name(number),
        persistentVolumeClaim=ClaimSource(claimName=claim.name) if claim else None,
        configMap=ConfigMapSource(name=config.name) if config else None,
        secret=SecretSource(secretName=secret.name) if secret else None,
        hostPath=asked.hostPath,
    )


def _name(number: int) -> str:
    return f"additional-{number}"
