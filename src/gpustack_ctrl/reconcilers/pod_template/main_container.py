"""The container `main`: the workload, and the only one that owns the accelerator."""

from gpustack_ctrl.api import names
from gpustack_ctrl.api.environment import EnvVar
from gpustack_ctrl.api.instance import InstanceSpec
from gpustack_ctrl.api.pod_template import Container, ContainerPort, ContainerSecurity
from gpustack_ctrl.api.ports import InstancePort
from gpustack_ctrl.reconcilers.pod_template.grants import Resources
from gpustack_ctrl.reconcilers.pod_template.volumes import mounts


def main_container(spec: InstanceSpec, granted: Resources) -> Container:
    """The workload as the user describes it, with what its type grants."""
    return Container(
        name=names.MAIN,
        image=spec.image,
        imagePullPolicy=spec.imagePullPolicy,
        command=spec.command,
        args=spec.args,
        env=(*spec.env, *granted.blindfold, *_mark(spec)),
        envFrom=spec.envFrom,
        ports=tuple(map(_container_port, spec.ports)),
        resources=granted.main,
        volumeMounts=tuple(mounts(spec)),
        securityContext=identity(spec),
    )


def _mark(spec: InstanceSpec) -> tuple[EnvVar, ...]:
    """What tells the SSH server which processes of the Pod are the workload's."""
    return (EnvVar(name=names.CONTAINER_MARK, value=names.MAIN),) if spec.sshPublicKey else ()


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
