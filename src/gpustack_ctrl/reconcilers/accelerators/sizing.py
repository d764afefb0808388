"""CPU, memory and storage of the container `main`, beside its accelerator.

What a user writes holds as written. What is left out comes from the type, whose unit
is what goes with one card, or with one CPU where the type has no cards.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction

from gpustack_ctrl.api import quantity
from gpustack_ctrl.api.core import ResourceRequirements
from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.api.resources import InstanceResources
from gpustack_ctrl.reconcilers.accelerators.refusal import Refusal
from gpustack_ctrl.reconcilers.accelerators.request import AcceleratorRequest

GENERAL_UNIT: Mapping[str, str] = {"cpu": "1", "ram": "2Gi"}
ACCELERATED_UNIT: Mapping[str, str] = {"cpu": "4", "ram": "16Gi"}
LOCAL_STORAGE = "15Gi"

_CPU, _MEMORY, _STORAGE = "cpu", "memory", "ephemeral-storage"
_CPU_RATIO_ACCELERATED = Fraction(1, 10)
_CPU_RATIO_GENERAL = Fraction(4, 5)
_BYTES_RATIO = Fraction(1, 8)
_PRINTED: Mapping[str, Callable[[Fraction], str]] = {
    _CPU: quantity.milli,
    _MEMORY: quantity.binary,
    _STORAGE: quantity.binary,
}

Amounts = Mapping[str, Fraction]


class _BadQuantityError(ValueError):
    """A field holds no amount that a container could live on."""


def size(
    offered: InstanceTypeSpec,
    asked: InstanceResources,
    accelerator: AcceleratorRequest,
    *,
    overcommit: bool,
) -> ResourceRequirements | Refusal:
    """Limits and requests of `main` on the type *offered*; accelerators are equal in both.

    Limits, where the user leaves them to the type:

    - CPU: unit x share, rounded down to whole cores and at least 1; on a type without
      cards one unit.
    - Memory: unit x share; on a type without cards in proportion to the CPU. Only a
      part of a unit is rounded, down to whole MiB and
      at least one, but to no more than the unit.
    - Storage: the type's `localStorage`, 15Gi where it has none.

    Requests are the limits. With *overcommit* they are a part of them:

    - CPU: 10% on a type with cards and 80% on others, in thousandths rounded up.
    - Memory and storage: 1/8, in bytes rounded up.

    Rounding up a part that is no more than the whole keeps a request above 0, at most
    the limit, and never smaller for a larger limit.
    """
    if isinstance(accelerator.share, Refusal) and (asked.cpu is None or asked.ram is None):
        return accelerator.share
    try:
        limits = _limits(offered, asked, accelerator)
    except _BadQuantityError as error:
        return Refusal(reason="InvalidQuantity", message=str(error))
    requests = _overcommitted(offered, limits) if overcommit else limits
    return ResourceRequirements(
        limits={**_printed(limits), **accelerator.main},
        requests={**_printed(requests), **accelerator.main},
    )


def _limits(
    offered: InstanceTypeSpec, asked: InstanceResources, accelerator: AcceleratorRequest
) -> Amounts:
    share = accelerator.share
    units = Fraction(1) if isinstance(share, Refusal) else share  # Then nothing is left to it.
    cpu = _given("cpu", asked.cpu) or _cpu(offered, units)
    return {
        _CPU: cpu,
        _MEMORY: _given("ram", asked.ram) or _memory(offered, units, cpu),
        _STORAGE: _given("localStorage", asked.localStorage) or _storage(offered),
    }


def _cpu(offered: InstanceTypeSpec, units: Fraction) -> Fraction:
    unit = _unit(offered, "cpu")
    return Fraction(max(unit * units // 1, 1)) if offered.manufacturer else unit


def _memory(offered: InstanceTypeSpec, units: Fraction, cpu: Fraction) -> Fraction:
    unit = _unit(offered, "ram")
    part = units if offered.manufacturer else cpu / _unit(offered, "cpu")
    amount = unit * part
    if part.denominator == 1:
        return amount
    if amount < quantity.MI:
        return max(amount, min(unit, Fraction(quantity.MI)))
    return Fraction(amount // quantity.MI * quantity.MI)


def _storage(offered: InstanceTypeSpec) -> Fraction:
    return _offered("localStorage", offered.localStorage) or quantity.parse(LOCAL_STORAGE)


def _unit(offered: InstanceTypeSpec, field: str) -> Fraction:
    default = (ACCELERATED_UNIT if offered.manufacturer else GENERAL_UNIT)[field]
    unit = offered.unitResources
    told = unit.cpu if field == "cpu" else unit.ram
    return _offered(f"unitResources.{field}", told) or quantity.parse(default)


def _given(field: str, held: int | str | None) -> Fraction | None:
    return _amount(f"spec.resources.{field}", held, "leave it out to get what the type offers")


def _offered(field: str, held: int | str | None) -> Fraction | None:
    remedy = "an administrator must correct it or leave it out"
    return _amount(f"spec.{field} of the InstanceType", held, remedy)


def _amount(field: str, held: int | str | None, remedy: str) -> Fraction | None:
    if held is None:
        return None
    try:
        amount = quantity.parse(held)
    except ValueError as error:
        raise _BadQuantityError(f"{field}: {error}, or {remedy}") from error
    if amount <= 0:
        raise _BadQuantityError(f"{field} is {held} but must be more than 0: raise it, or {remedy}")
    return amount


def _overcommitted(offered: InstanceTypeSpec, limits: Amounts) -> Amounts:
    cpu = _CPU_RATIO_ACCELERATED if offered.manufacturer else _CPU_RATIO_GENERAL
    ratios = {_CPU: cpu, _MEMORY: _BYTES_RATIO, _STORAGE: _BYTES_RATIO}
    return {name: limit * ratios[name] for name, limit in limits.items()}


def _printed(amounts: Amounts) -> dict[str, str]:
    return {name: _PRINTED[name](amount) for name, amount in amounts.items()}
