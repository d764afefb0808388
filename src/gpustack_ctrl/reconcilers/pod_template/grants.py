"""What the containers of an Instance's Pod ask for."""

import attrs

from gpustack_ctrl.api import quantity
from gpustack_ctrl.api.core import ResourceRequirements
from gpustack_ctrl.api.environment import EnvVar
from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.api.volumes import WorkspaceVolume
from gpustack_ctrl.reconcilers.accelerators.refusal import Refusal
from gpustack_ctrl.reconcilers.accelerators.request import AcceleratorRequest, request
from gpustack_ctrl.reconcilers.accelerators.sizing import LOCAL_STORAGE, size
from gpustack_ctrl.reconcilers.pod_template.visibility import blindfold
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot


@attrs.frozen(kw_only=True)
class Resources:
    """What the containers of the Pod ask for, and the variables that keep other cards hidden."""

    accelerator: AcceleratorRequest
    main: ResourceRequirements
    blindfold: tuple[EnvVar, ...] = ()


def resources(offered: InstanceTypeSpec, seen: InstanceSnapshot) -> Resources | Refusal:
    """What the Instance gets of a type, or why it gets nothing."""
    asked = seen.instance.spec.resources
    accelerator = request(offered, asked, seen.settings.manufacturers)
    if isinstance(accelerator, Refusal):
        return accelerator
    roomy = _with_room_for(seen.instance.spec.volume, offered)
    main = size(roomy, asked, accelerator, overcommit=seen.settings.overcommit)
    if isinstance(main, Refusal):
        return main
    hidden = tuple(blindfold(accelerator, seen.settings.manufacturers))
    return Resources(accelerator=accelerator, main=main, blindfold=hidden)


def _with_room_for(volume: WorkspaceVolume | None, offered: InstanceTypeSpec) -> InstanceTypeSpec:
    """*offered* with storage for an ephemeral workspace, which the kubelet counts in."""
    capacity = volume.ephemeral.capacity if volume and volume.ephemeral else None
    if capacity is None:
        return offered
    own = LOCAL_STORAGE if offered.localStorage is None else offered.localStorage
    try:
        room = quantity.parse(own) + quantity.parse(capacity)
    except ValueError:
        return offered  # Whose quantity is bad, says its own check.
    return attrs.evolve(offered, localStorage=quantity.binary(room))
