"""The Pod that an Instance should have: rendered from the Instance and its type alone."""

from collections.abc import Iterator, Mapping
from hashlib import sha256

import attrs

from gpustack_ctrl.api import codec, names, quantity
from gpustack_ctrl.api.core import ResourceRequirements
from gpustack_ctrl.api.environment import EnvVar
from gpustack_ctrl.api.instance import InstanceSpec
from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.api.manufacturers import MANUFACTURERS
from gpustack_ctrl.api.meta import ObjectMeta
from gpustack_ctrl.api.pod_template import (
    ClaimSource,
    Container,
    ContainerPort,
    ContainerSecurity,
    EmptyDir,
    PodSecurity,
    PodTemplate,
    PodTemplateSpec,
    Volume,
    VolumeMount,
)
from gpustack_ctrl.api.ports import InstancePort
from gpustack_ctrl.api.volumes import WorkspaceVolume
from gpustack_ctrl.reconcilers.accelerators import AcceleratorRequest, request
from gpustack_ctrl.reconcilers.claims import owner_of
from gpustack_ctrl.reconcilers.refusal import Refusal
from gpustack_ctrl.reconcilers.sizing import size
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot

WORKSPACE = "workspace"
SHARED_MEMORY = "shared-memory"


@attrs.frozen(kw_only=True)
class Resources:
    """What the containers of the Pod ask for."""

    accelerator: AcceleratorRequest
    main: ResourceRequirements


def resources(offered: InstanceTypeSpec, seen: InstanceSnapshot) -> Resources | Refusal:
    """What the Instance gets of a type, or why it gets nothing."""
    asked = seen.instance.spec.resources
    accelerator = request(offered, asked)
    if isinstance(accelerator, Refusal):
        return accelerator
    roomy = _with_room_for(seen.instance.spec.volume, offered)
    main = size(roomy, asked, accelerator, overcommit=seen.settings.overcommit)
    if isinstance(main, Refusal):
        return main
    return Resources(accelerator=accelerator, main=main)


def _with_room_for(volume: WorkspaceVolume | None, offered: InstanceTypeSpec) -> InstanceTypeSpec:
    """*offered* with storage for an ephemeral workspace, which the kubelet counts in."""
    capacity = volume.ephemeral.capacity if volume and volume.ephemeral else None
    if capacity is None or offered.localStorage is None:
        return offered
    room = quantity.parse(offered.localStorage) + quantity.parse(capacity)
    return attrs.evolve(offered, localStorage=quantity.binary(room))


def rendered(seen: InstanceSnapshot) -> PodTemplate | None:
    """The Pod of *seen*, or None where its type is missing or cannot serve it."""
    if seen.type is None:
        return None
    granted = resources(seen.type.spec, seen)
    if isinstance(granted, Refusal):
        return None
    instance, offered = seen.instance, seen.type.spec
    template = PodTemplate(
        metadata=ObjectMeta(
            name=instance.key.name,
            namespace=instance.key.namespace,
            labels=_labels(instance.uid, offered),
            annotations=_annotations(offered),
            ownerReferences=(owner_of(instance),),
        ),
        spec=_spec(seen, offered, granted),
    )
    return _signed(template, instance.spec.restartedAt)


def _intent(template: PodTemplate) -> str:
    """A short fingerprint of what the Pod is meant to be; equal intents, equal Pods."""
    meant = codec.to_wire(template.spec), template.metadata.labels, template.metadata.annotations
    return sha256(codec.encode(meant)).hexdigest()[:32]


def _signed(template: PodTemplate, restarted_at: str) -> PodTemplate:
    signature = {names.INTENT: _intent(template), names.RESTARTED_AT: restarted_at}
    annotations = {**template.metadata.annotations, **signature}
    return attrs.evolve(template, metadata=attrs.evolve(template.metadata, annotations=annotations))


def _labels(uid: str, offered: InstanceTypeSpec) -> Mapping[str, str]:
    queue = {names.QUEUE_NAME: offered.queueName} if offered.queueName else {}
    return {names.PART_OF: uid, names.TYPE: names.INSTANCES, **queue}


def _annotations(offered: InstanceTypeSpec) -> Mapping[str, str]:
    return {
        names.DEFAULT_CONTAINER: names.MAIN,
        names.SAFE_TO_EVICT: "false",
        names.DO_NOT_DISRUPT: "true",
        **offered.podAnnotations,
    }


def _spec(seen: InstanceSnapshot, offered: InstanceTypeSpec, granted: Resources) -> PodTemplateSpec:
    spec = seen.instance.spec
    identity = spec.securityContext
    return PodTemplateSpec(
        containers=(_main(spec, granted),),
        volumes=tuple(_volumes(spec)),
        nodeSelector=_node_selector(seen, offered),
        tolerations=offered.tolerations,
        runtimeClassName=_runtime_class(seen, offered, granted),
        priorityClassName=offered.priorityClassName,
        imagePullSecrets=(spec.imagePullSecret,) if spec.imagePullSecret else (),
        securityContext=PodSecurity(fsGroup=identity.fsGroup) if identity else None,
    )


def _main(spec: InstanceSpec, granted: Resources) -> Container:
    return Container(
        name=names.MAIN,
        image=spec.image,
        imagePullPolicy=spec.imagePullPolicy,
        command=spec.command,
        args=spec.args,
        env=(*spec.env, *_blindfold(granted.accelerator)),
        envFrom=spec.envFrom,
        ports=tuple(map(_container_port, spec.ports)),
        resources=granted.main,
        volumeMounts=tuple(_mounts(spec)),
        securityContext=_identity(spec),
    )


def _blindfold(accelerator: AcceleratorRequest) -> Iterator[EnvVar]:
    """Without an accelerator no card is visible, whatever a ConfigMap or the image says.

    An explicit variable beats `envFrom` and the image, and container runtimes open every
    card of the node to a container that says `all`.
    """
    if accelerator.count:
        return
    for row in MANUFACTURERS.values():
        for variable, nothing in row.invisible.items():
            yield EnvVar(name=variable, value=nothing)


def _container_port(port: InstancePort) -> ContainerPort:
    name = f"{port.protocol.lower()}-{port.port}"
    return ContainerPort(name=name, containerPort=port.port, protocol=port.protocol)


def _identity(spec: InstanceSpec) -> ContainerSecurity | None:
    identity = spec.securityContext
    if identity is None:
        return None
    return ContainerSecurity(runAsUser=identity.runAsUser, runAsGroup=identity.runAsGroup)


def _volumes(spec: InstanceSpec) -> Iterator[Volume]:
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


def _mounts(spec: InstanceSpec) -> Iterator[VolumeMount]:
    yield VolumeMount(name=WORKSPACE, mountPath=spec.volumeMount)
    if spec.sharedMemory is not None:
        yield VolumeMount(name=SHARED_MEMORY, mountPath="/dev/shm")  # noqa: S108 - where it is.


def _node_selector(seen: InstanceSnapshot, offered: InstanceTypeSpec) -> Mapping[str, str]:
    selector = dict(offered.nodeSelector)
    if offered.os:
        selector["kubernetes.io/os"] = offered.os
    if offered.arch:
        selector["kubernetes.io/arch"] = offered.arch
    name = seen.instance.spec.nodeName
    if name:
        labels = seen.pinned.metadata.labels if seen.pinned else {}
        selector[names.HOSTNAME] = labels.get(names.HOSTNAME, name)
    return selector


def _runtime_class(seen: InstanceSnapshot, offered: InstanceTypeSpec, granted: Resources) -> str:
    maker = MANUFACTURERS.get(offered.manufacturer)
    usual = maker.runtime_class if maker and granted.accelerator.count else ""
    wanted = offered.runtimeClassName or usual
    return wanted if wanted in seen.runtime_classes else ""
