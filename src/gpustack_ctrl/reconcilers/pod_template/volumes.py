"""The volumes of a Pod, and where the workload sees them."""

from collections.abc import Iterator

from gpustack_ctrl.api.instance import InstanceSpec
from gpustack_ctrl.api.pod_template import ClaimSource, EmptyDir, Volume, VolumeMount

WORKSPACE = "workspace"
SHARED_MEMORY = "shared-memory"


def volumes(spec: InstanceSpec) -> Iterator[Volume]:
    """The workspace, and what else the user asks for."""
    persistent = spec.volume.persistent if spec.volume else None
    if persistent is not None:
        source = ClaimSource(claimName=persistent.name)
        yield Volume(name=WORKSPACE, persistentVolumeClaim=source)
    else:
        ephemeral = spec.volume.ephemeral if spec.volume else None
        limit = ephemeral.capacity if ephemeral else None
        yield Volume(name=WORKSPACE, emptyDir=EmptyDir(sizeLimit=limit))
    if spec.sharedMemory is not None:
        memory = EmptyDir(medium="Memory", sizeLimit=spec.sharedMemory)
        yield Volume(name=SHARED_MEMORY, emptyDir=memory)


def mounts(spec: InstanceSpec) -> Iterator[VolumeMount]:
    """Where `main` sees each of them."""
    yield VolumeMount(name=WORKSPACE, mountPath=spec.volumeMount)
    if spec.sharedMemory is not None:
        yield VolumeMount(name=SHARED_MEMORY, mountPath="/dev/shm")  # noqa: S108 - where it is.
