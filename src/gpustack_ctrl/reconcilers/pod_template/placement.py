"""Where a Pod may run, and by what runtime."""

from collections.abc import Mapping

from gpustack_ctrl.api import names
from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.reconcilers.pod_template.grants import Resources
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot


def node_selector(seen: InstanceSnapshot, offered: InstanceTypeSpec) -> Mapping[str, str]:
    """Labels of the nodes that will do. A pin is a hostname, so that it passes the scheduler."""
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


def runtime_class(seen: InstanceSnapshot, offered: InstanceTypeSpec, granted: Resources) -> str:
    """The RuntimeClass that the cards need, where the cluster has it; else ""."""
    maker = seen.settings.manufacturers.get(offered.manufacturer)
    usual = maker.runtime_class if maker and granted.accelerator.count else ""
    wanted = offered.runtimeClassName or usual
    return wanted if wanted in seen.runtime_classes else ""
