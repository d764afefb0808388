"""What a Pod is charged for: noted on it when it is made, since all else may be edited."""

import re

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import Pod
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.usage import Charge, UsageFamily
from gpustack_ctrl.reconcilers.accelerators.asking import Asking, asking_of
from gpustack_ctrl.reconcilers.accelerators.request import AcceleratorRequest


def note(kind: str, granted: AcceleratorRequest) -> str:
    """The note on a Pod that gets *granted* of the InstanceType *kind*."""
    return f"{kind}/{granted.family or UsageFamily.NONE}/{granted.count}"


def charge_of(instance: Instance, pod: Pod) -> Charge:
    """What *pod* is charged for: as noted on it, else as *instance* asks now.

    A Pod without a note is of an older generation, or somebody removed it. The spec
    cannot change while the Pod runs; where it leaves the accelerators to the type, the
    Pod itself tells whether it has one.
    """
    return _noted(pod.metadata.annotations.get(names.CHARGE, "")) or _asked(instance, pod)


def _noted(text: str) -> Charge | None:
    found = _NOTE.fullmatch(text)
    if found is None:
        return None
    kind, family, count = found.groups()
    return Charge(type=kind, family=UsageFamily(family), accelerators=int(count))


# Bounded, so that no note makes a status that the API server would not take.
_NOTE = re.compile(rf"([^/]{{1,253}})/({'|'.join(UsageFamily)})/([0-9]{{1,6}})", re.ASCII)


def _asked(instance: Instance, pod: Pod) -> Charge:
    asking = asking_of(instance.spec.resources, default=1 if _holds_accelerators(pod) else 0)
    if not isinstance(asking, Asking) or not asking.count:
        return Charge(type=instance.spec.type, family=UsageFamily.NONE)
    return Charge(
        type=instance.spec.type,
        family=UsageFamily(asking.family.value),
        accelerators=asking.count,
    )


def _holds_accelerators(pod: Pod) -> bool:
    main = pod.container(names.MAIN)
    return main is not None and any("/" in name for name in main.resources.requests)
