"""The SSH server inside `main`: a way into the workload where one beside it sees no accelerator.

An init container, which asks for no device, leaves static programs in a volume. A hook of
`main` starts the server from there, so that it needs nothing of the image, and a session has
main's devices, limits, user and root because it is nowhere else.
"""

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import ResourceRequirements
from gpustack_ctrl.api.pod_template import (
    Container,
    ContainerSecurity,
    EmptyDir,
    Lifecycle,
    Sysctl,
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

# The programs know these paths: see ssh-server/src/inside.h and install.sh.
ROOM = "/.gpustack"
PROGRAMS = f"{ROOM}/ssh"
_COPIED_FROM = "/opt/ssh-server/inside/."
# The server runs as main's user, whom nobody knows here.
ANYBODY_MAY_READ = 0o444
# Lets a server that is not root listen on port 22. One of the few that Pod Security's level
# `baseline` and the kubelet allow everywhere: it belongs to the Pod's own network.
_PORTS_FOR_ALL = Sysctl(name="net.ipv4.ip_unprivileged_port_start", value="22")


def has_server_inside(seen: InstanceSnapshot, granted: Resources) -> bool:
    """Whether the SSH server is to run inside `main`."""
    return has_login(seen) and is_inside(granted.accelerator)


def carrier(seen: InstanceSnapshot, granted: Resources) -> tuple[Container, ...]:
    """The init container that brings the programs, where the server runs inside."""
    if not has_server_inside(seen, granted):
        return ()
    return (
        Container(
            name=names.SSH_PROGRAMS,
            image=seen.settings.ssh_image,
            imagePullPolicy=seen.instance.spec.imagePullPolicy,
            command=("cp", "-RL", _COPIED_FROM, PROGRAMS),
            resources=_as_much_as_main(granted),
            volumeMounts=(VolumeMount(name=names.SSH_PROGRAMS, mountPath=PROGRAMS),),
            securityContext=ContainerSecurity(runAsUser=0, runAsGroup=0),
        ),
    )


def _as_much_as_main(granted: Resources) -> ResourceRequirements:
    """All that main has but its accelerator: the Pod asks for no more by it, and a namespace
    that wants limits of every container has them.
    """
    cards, main = granted.accelerator.main, granted.main
    return ResourceRequirements(
        limits={name: held for name, held in main.limits.items() if name not in cards},
        requests={name: held for name, held in main.requests.items() if name not in cards},
    )


def inside_mounts(seen: InstanceSnapshot, granted: Resources) -> tuple[VolumeMount, ...]:
    """What `main` sees of them. Nothing in there may be changed by the workload."""
    if not has_server_inside(seen, granted):
        return ()
    return (
        VolumeMount(name=names.SSH_PROGRAMS, mountPath=PROGRAMS, readOnly=True),
        VolumeMount(name=KEYS, mountPath=f"{ROOM}/authorized-keys", readOnly=True),
        VolumeMount(name=HOST_KEY, mountPath=f"{ROOM}/host-key", readOnly=True),
    )


def hook(seen: InstanceSnapshot, granted: Resources) -> Lifecycle | None:
    """What starts the server whenever `main` starts. It always succeeds: see start.c."""
    if not has_server_inside(seen, granted):
        return None
    return started_by(f"{PROGRAMS}/start")


def inside_volumes(seen: InstanceSnapshot, granted: Resources) -> tuple[Volume, ...]:
    """The programs, and the keys."""
    if not has_server_inside(seen, granted):
        return ()
    programs = Volume(name=names.SSH_PROGRAMS, emptyDir=EmptyDir())
    return (programs, *key_volumes(seen, mode=ANYBODY_MAY_READ))


def sysctls(seen: InstanceSnapshot, granted: Resources) -> tuple[Sysctl, ...]:
    """What the Pod's network must allow."""
    return (_PORTS_FOR_ALL,) if has_server_inside(seen, granted) else ()
