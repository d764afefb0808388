"""The keys of HAMi: a number of devices, and beside it the memory and cores of each."""

from collections.abc import Mapping

from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.api.manufacturers import Manufacturer
from gpustack_ctrl.reconcilers.asking import Asking
from gpustack_ctrl.reconcilers.refusal import Refusal


def limits(
    offered: InstanceTypeSpec, asking: Asking, maker: Manufacturer
) -> Mapping[str, str] | Refusal:
    """The keys for *asking*."""
    resource = offered.resourceName or maker.resource
    return {resource: str(asking.count)}
