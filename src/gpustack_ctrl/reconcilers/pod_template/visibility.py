"""Which cards a container can see when it owns none."""

from collections.abc import Iterator, Mapping

from gpustack_ctrl.api.environment import EnvVar
from gpustack_ctrl.api.manufacturers import Manufacturer
from gpustack_ctrl.reconcilers.accelerators.request import AcceleratorRequest


def blindfold(
    accelerator: AcceleratorRequest, manufacturers: Mapping[str, Manufacturer]
) -> Iterator[EnvVar]:
    """Without an accelerator no card is visible, whatever a ConfigMap or the image says.

    An explicit variable beats `envFrom` and the image, and container runtimes open every
    card of the node to a container that says `all`.
    """
    if accelerator.count:
        return
    for row in manufacturers.values():
        for variable, nothing in row.invisible.items():
            yield EnvVar(name=variable, value=nothing)
