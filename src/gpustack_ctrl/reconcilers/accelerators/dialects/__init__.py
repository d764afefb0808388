"""How device plugins call accelerators: one module for each naming dialect."""

from collections.abc import Callable, Mapping

from gpustack_ctrl.api.instance_type import Dialect, InstanceTypeSpec
from gpustack_ctrl.api.manufacturer_overrides import is_resource_name
from gpustack_ctrl.api.manufacturers import Manufacturer
from gpustack_ctrl.reconcilers.accelerators.asking import Asking
from gpustack_ctrl.reconcilers.accelerators.dialects import gpustack, hami, nvidia
from gpustack_ctrl.reconcilers.accelerators.refusal import Refusal

Limits = Mapping[str, str]

_DIALECTS: Mapping[
    Dialect, Callable[[InstanceTypeSpec, Asking, Manufacturer], Limits | Refusal]
] = {
    Dialect.GPUSTACK: gpustack.limits,
    Dialect.NVIDIA: nvidia.limits,
    Dialect.HAMI: hami.limits,
}


def limits(offered: InstanceTypeSpec, asking: Asking, maker: Manufacturer) -> Limits | Refusal:
    """The extended resources that the type's dialect has for *asking*, all of one family."""
    named = _DIALECTS[offered.dialect](offered, asking, maker)
    if isinstance(named, Refusal):
        return named
    bad = next((name for name in named if not is_resource_name(name)), None)
    return named if bad is None else _misnamed(bad)


def _misnamed(name: str) -> Refusal:
    return Refusal(
        reason="InvalidResourceName",
        message=f"{name!r} cannot be the name of a resource: an administrator must write "
        "spec.resourceName of the InstanceType as vendor.example/name, the name being at most "
        "63 characters with all that the dialect appends",
    )
