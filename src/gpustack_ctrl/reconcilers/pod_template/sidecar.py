"""The container `sshd`: a way into the workload, beside it and after it.

It is an ordinary container, not an init container: the kubelet gives out devices in Pod
order, and the device plugin answers the request for visibility from what `main` holds.
"""

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import ResourceRequirements
from gpustack_ctrl.api.pod_template import (
    Container,
    ContainerSecurity,
    Volume,
    VolumeMount,
    started_by,
)
from gpustack_ctrl.reconcilers.pod_template.grants import Resources
from gpustack_ctrl.reconcilers.pod_template.login import (
    HOST_KEY,
    KEYS,
    has_login,
    is_inside,
    key_volumes,
)
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot

OWNER_MAY_READ = 0o400
# A startup probe would tell the same up to a second later, since the kubelet looks once a second.
_READY_WHEN_IT_LISTENS = started_by("/opt/ssh-server/login", "--await")


def has_sidecar(seen: InstanceSnapshot, granted: Resources) -> bool:
    """Whether the SSH server is to run beside `main`."""
    return has_login(seen) and not is_inside(granted.accelerator)


def sidecar(seen: InstanceSnapshot, granted: Resources) -> tuple[Container, ...]:
    """The SSH server, where there is one. It holds no accelerator; it may see main's."""
    if not has_sidecar(seen, granted):
        return ()
    visible = granted.accelerator.sidecar
    return (
        Container(
            name=names.SSHD,
            image=seen.settings.ssh_image,
            imagePullPolicy=seen.instance.spec.imagePullPolicy,
            env=granted.blindfold,
            resources=ResourceRequirements(limits=visible, requests=visible),
            volumeMounts=(
                VolumeMount(name=KEYS, mountPath="/etc/gpustack/authorized-keys", readOnly=True),
                VolumeMount(name=HOST_KEY, mountPath="/etc/gpustack/host-key", readOnly=True),
            ),
            lifecycle=_READY_WHEN_IT_LISTENS,
            securityContext=ContainerSecurity(
                runAsUser=0, runAsGroup=0, privileged=seen.instance.spec.privileged or None
            ),
        ),
    )


def sidecar_volumes(seen: InstanceSnapshot, granted: Resources) -> tuple[Volume, ...]:
    """The keys, for root alone."""
    return key_volumes(seen, mode=OWNER_MAY_READ) if has_sidecar(seen, granted) else ()
