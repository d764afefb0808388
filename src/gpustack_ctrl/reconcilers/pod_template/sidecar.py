"""The container `sshd`: a way into the workload, beside it and after it.

It is an ordinary container, not an init container: the kubelet gives out devices in Pod
order, and the device plugin answers the request for visibility from what `main` holds.
"""

from collections.abc import Mapping

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import ResourceRequirements
from gpustack_ctrl.api.pod_template import (
    ConfigMapSource,
    Container,
    ContainerSecurity,
    SecretSource,
    Volume,
    VolumeMount,
)
from gpustack_ctrl.reconcilers.pod_template.grants import Resources
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot

KEYS = "ssh-authorized-keys"
HOST_KEY = "ssh-host-key"
OWNER_MAY_READ = 0o400


def has_sidecar(seen: InstanceSnapshot) -> bool:
    """Whether the user wants to log in, and the server has a key to show."""
    return seen.instance.spec.sshPublicKey is not None and seen.host_key is not None


def sidecar(seen: InstanceSnapshot, granted: Resources) -> tuple[Container, ...]:
    """The SSH server, where there is one. It holds no accelerator; it may see main's."""
    if not has_sidecar(seen):
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
            securityContext=ContainerSecurity(
                runAsUser=0, runAsGroup=0, privileged=seen.instance.spec.privileged or None
            ),
        ),
    )


def sidecar_volumes(seen: InstanceSnapshot) -> tuple[Volume, ...]:
    """The keys that may log in, which may be added later, and the key that the server shows."""
    reference = seen.instance.spec.sshPublicKey
    if reference is None or seen.host_key is None:
        return ()
    keys = ConfigMapSource(name=names.authorized_keys(reference.name), optional=True)
    name = names.host_key_secret(seen.instance.uid, seen.host_key.mark)
    secret = SecretSource(secretName=name, defaultMode=OWNER_MAY_READ)
    return (Volume(name=KEYS, configMap=keys), Volume(name=HOST_KEY, secret=secret))


def host_key_note(seen: InstanceSnapshot) -> Mapping[str, str]:
    """What the Pod remembers of its host key, for the status to tell."""
    if seen.host_key is None or not has_sidecar(seen):
        return {}
    return {names.HOST_KEY: seen.host_key.fingerprint}
