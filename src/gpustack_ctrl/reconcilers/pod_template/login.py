"""What both ways to log in need: whether there is one, the keys, and the host key."""

from collections.abc import Mapping

from gpustack_ctrl.api import names
from gpustack_ctrl.api.pod_template import ConfigMapSource, SecretSource, Volume
from gpustack_ctrl.reconcilers.accelerators.request import AcceleratorRequest
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot

KEYS = "ssh-authorized-keys"
HOST_KEY = "ssh-host-key"


def has_login(seen: InstanceSnapshot) -> bool:
    """Whether the user wants to log in, and the server has a key to show."""
    return seen.instance.spec.sshPublicKey is not None and seen.host_key is not None


def is_inside(accelerator: AcceleratorRequest) -> bool:
    """Whether only a server inside `main` can see the accelerator.

    Beside it, the device plugin would have to show main's cards to a second container, for
    which the makers' own dialects have no resource.
    """
    return accelerator.count > 0 and not accelerator.sidecar


def key_volumes(seen: InstanceSnapshot, *, mode: int) -> tuple[Volume, ...]:
    """The keys that may log in, which may be added later, and the key that the server shows."""
    reference = seen.instance.spec.sshPublicKey
    if reference is None or seen.host_key is None:
        return ()
    keys = ConfigMapSource(name=names.authorized_keys(reference.name), optional=True)
    name = names.host_key_secret(seen.instance.uid, seen.host_key.mark)
    secret = SecretSource(secretName=name, defaultMode=mode)
    return (Volume(name=KEYS, configMap=keys), Volume(name=HOST_KEY, secret=secret))


def host_key_note(seen: InstanceSnapshot) -> Mapping[str, str]:
    """What the Pod remembers of its host key, for the status to tell."""
    if seen.host_key is None or not has_login(seen):
        return {}
    return {names.HOST_KEY: seen.host_key.fingerprint}
