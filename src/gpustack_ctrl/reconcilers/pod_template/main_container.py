"""The container `main`: the workload, and the only one that owns the accelerator."""

from gpustack_ctrl.api import names
from gpustack_ctrl.api.environment import EnvVar
from gpustack_ctrl.api.instance import InstanceSpec
from gpustack_ctrl.api.pod_template import Container, ContainerPort, ContainerSecurity
from gpustack_ctrl.api.ports import InstancePort
from gpustack_ctrl.reconcilers.pod_template.grants import Resources
from gpustack_ctrl.reconcilers.pod_template.inside import has_server_inside, hook, inside_mounts
from gpustack_ctrl.reconcilers.pod_template.volumes import mounts
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot


def main_container(seen: InstanceSnapshot, granted: Resources) -> Container:
    """The workload as the user describes it, with what its type grants."""
    spec = seen.instance.spec
    return Container(
        name=names.MAIN,
        image=spec.image,
        imagePullPolicy=spec.imagePullPolicy,
        command=spec.command,
        args=spec.args,
        env=(*spec.env, *granted.blindfold, *_mark(seen, granted)),
        envFrom=spec.envFrom,
        ports=tuple(map(_container_port, spec.ports)),
        resources=granted.main,
        volumeMounts=(*mounts(spec), *inside_mounts(seen, granted)),
        lifecycle=hook(seen, granted),
        securityContext=identity(spec),
    )


def _mark(seen: InstanceSnapshot, granted: Resources) -> tuple[EnvVar, ...]:
    """What tells an SSH server beside it which processes of the Pod are the workload's."""
    if seen.instance.spec.sshPublicKey is None or has_server_inside(seen, granted):
        return ()
    return (EnvVar(name=names.CONTAINER_MARK, value=names.MAIN),)


def _container_port(port: InstancePort) -> ContainerPort:
    name = f"{port.protocol.lower()}-{port.port}"
    return ContainerPort(name=name, containerPort=port.port, protocol=port.protocol)


def identity(spec: InstanceSpec) -> ContainerSecurity | None:
    """Whom the workload runs as; None leaves that to the image."""
    asked = spec.securityContext
    if asked is None and not spec.privileged:
        return None
    return ContainerSecurity(
        runAsUser=asked.runAsUser if asked else None,
        runAsGroup=asked.runAsGroup if asked else None,
        privileged=spec.privileged or None,
    )
