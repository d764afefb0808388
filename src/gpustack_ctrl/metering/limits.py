"""What the containers of a Pod may use, and what is set aside for them."""

from gpustack_ctrl.api import quantity
from gpustack_ctrl.api.core import Pod, Quantities
from gpustack_ctrl.metering.figures import added

CPU = "cpu"
MEMORY = "memory"
STORAGE = "ephemeral-storage"


def amount(held: Quantities, name: str) -> float | None:
    """How much of *name* is in *held*: cores or bytes; None where nothing is said."""
    return float(quantity.parse(held[name])) if name in held else None


def total(pod: Pod, name: str) -> float | None:
    """The limits of all containers together; None where no container has one."""
    told = [amount(held.resources.limits, name) for held in pod.spec.containers]
    return added(told)
