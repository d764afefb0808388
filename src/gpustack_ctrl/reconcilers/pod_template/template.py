"""The whole Pod of an Instance, and the fingerprint of what it is meant to be."""

from collections.abc import Mapping
from hashlib import sha256

import attrs

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.api.meta import ObjectMeta
from gpustack_ctrl.api.pod_template import PodSecurity, PodTemplate, PodTemplateSpec
from gpustack_ctrl.reconcilers.accelerators.refusal import Refusal
from gpustack_ctrl.reconcilers.claims import owner_of
from gpustack_ctrl.reconcilers.pod_template.grants import Resources, resources
from gpustack_ctrl.reconcilers.pod_template.inside import carrier, inside_volumes, sysctls
from gpustack_ctrl.reconcilers.pod_template.login import host_key_note
from gpustack_ctrl.reconcilers.pod_template.main_container import main_container
from gpustack_ctrl.reconcilers.pod_template.placement import node_selector, runtime_class
from gpustack_ctrl.reconcilers.pod_template.sidecar import has_sidecar, sidecar, sidecar_volumes
from gpustack_ctrl.reconcilers.pod_template.volumes import volumes
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot
from gpustack_ctrl.reconcilers.usage.charge import note


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
            annotations={**_annotations(offered), **host_key_note(seen)},
            ownerReferences=(owner_of(instance),),
        ),
        spec=_spec(seen, offered, granted),
    )
    notes = {
        names.RESTARTED_AT: instance.spec.restartedAt,
        names.CHARGE: note(instance.spec.type, granted.accelerator),
    }
    return _signed(template, notes)


def _intent(template: PodTemplate) -> str:
    """A short fingerprint of what the Pod is meant to be; equal intents, equal Pods."""
    meant = codec.to_wire(template.spec), template.metadata.labels, template.metadata.annotations
    return sha256(codec.encode(meant)).hexdigest()[:32]


def _signed(template: PodTemplate, notes: Mapping[str, str]) -> PodTemplate:
    """*template* with its fingerprint, and with *notes* that are no part of what it is."""
    signature = {names.INTENT: _intent(template), **notes}
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
    return PodTemplateSpec(
        containers=(main_container(seen, granted), *sidecar(seen, granted)),
        initContainers=carrier(seen, granted),
        volumes=(
            *volumes(spec),
            *sidecar_volumes(seen, granted),
            *inside_volumes(seen, granted),
        ),
        shareProcessNamespace=True if has_sidecar(seen, granted) else None,
        nodeSelector=node_selector(seen, offered),
        tolerations=offered.tolerations,
        runtimeClassName=runtime_class(seen, offered, granted),
        priorityClassName=offered.priorityClassName,
        imagePullSecrets=(spec.imagePullSecret,) if spec.imagePullSecret else (),
        securityContext=_security(seen, granted),
    )


def _security(seen: InstanceSnapshot, granted: Resources) -> PodSecurity | None:
    identity, allowed = seen.instance.spec.securityContext, sysctls(seen, granted)
    if identity is None and not allowed:
        return None
    return PodSecurity(fsGroup=identity.fsGroup if identity else None, sysctls=allowed)
