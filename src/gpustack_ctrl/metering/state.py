"""Series of what the API server knows of an Instance. What is not known has no series."""

from collections.abc import Iterator, Mapping
from datetime import datetime

import attrs

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import Pod
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_status import Phase
from gpustack_ctrl.api.instance_type import InstanceType
from gpustack_ctrl.api.manufacturers import Manufacturer
from gpustack_ctrl.api.meta import condition_of
from gpustack_ctrl.metering import families as f
from gpustack_ctrl.metering.exposition import Sample
from gpustack_ctrl.metering.families import Family
from gpustack_ctrl.metering.limits import CPU, MEMORY, STORAGE, amount
from gpustack_ctrl.metering.members import Identity, identity
from gpustack_ctrl.reconcilers.accelerators.request import AcceleratorRequest, request

_STATED = {
    "Ready": f.READY,
    "SSHReady": f.SSH_READY,
    "NetworkIsolated": f.ISOLATED,
}
_NOT_ASKED_FOR = "NotAskedFor"
_LIMITS = {f.CPU_LIMIT: CPU, f.MEMORY_LIMIT: MEMORY, f.STORAGE_LIMIT: STORAGE}
_REQUESTS = {f.CPU_REQUEST: CPU, f.MEMORY_REQUEST: MEMORY}


@attrs.frozen(kw_only=True)
class Known:
    """An Instance and what the API server knows of it: its own Pod, and its type."""

    instance: Instance
    pod: Pod | None = None
    type: InstanceType | None = None
    manufacturers: Mapping[str, Manufacturer] = attrs.field(factory=dict)


def state_samples(known: Known) -> Iterator[Sample]:
    """All series of what is *known* of one Instance."""
    who = identity(known.instance)
    yield _info(who, known)
    yield Sample(f.PHASE, (*who, phase(known.instance)), 1)
    yield from _conditions(who, known.instance)
    yield from _told(who, known.instance)
    yield from _accelerators(who, known)
    if known.pod is not None:
        yield from _of_pod(who, known.pod)


def count_samples(counts: Mapping[tuple[str, Phase], int]) -> Iterator[Sample]:
    """How many Instances there are, by namespace and phase; absent phases are 0."""
    for namespace in sorted({namespace for namespace, _ in counts}):
        for told in Phase:
            yield Sample(f.INSTANCES, (namespace, told), counts.get((namespace, told), 0))


def place(instance: Instance) -> tuple[str, Phase]:
    """Where *instance* is counted."""
    return (instance.metadata.namespace, phase(instance))


def phase(instance: Instance) -> Phase:
    """An Instance that nobody has looked at yet is Pending."""
    return instance.status.phase or Phase.PENDING


def _info(who: Identity, known: Known) -> Sample:
    spec, pod = known.instance.spec, known.pod
    node = pod.spec.nodeName if pod else ""
    return Sample(f.INFO, (*who, spec.type, node, spec.image, _digest(pod)), 1)


def _digest(pod: Pod | None) -> str:
    """The digest of the image that `main` runs; empty where the runtime names none."""
    told = pod.container_status(names.MAIN) if pod else None
    return told.imageID.rpartition("@")[2] if told else ""


def _conditions(who: Identity, instance: Instance) -> Iterator[Sample]:
    """What the status states of what is asked for; of `Ready`, silence is a no."""
    for kind, family in _STATED.items():
        said = condition_of(instance.status.conditions, kind)
        if family is f.READY or (said is not None and said.reason != _NOT_ASKED_FOR):
            yield Sample(family, who, said is not None and said.status == "True")


def _told(who: Identity, instance: Instance) -> Iterator[Sample]:
    blocker, ended = instance.status.blocker, instance.status.lastTermination
    if blocker is not None:
        yield Sample(f.BLOCKED, (*who, blocker.gate, blocker.reason, blocker.owner), 1)
    if ended is not None and ended.finishedAt:
        yield Sample(f.LAST_TERMINATION, (*who, ended.reason), seconds(ended.finishedAt))


def _accelerators(who: Identity, known: Known) -> Iterator[Sample]:
    """How many accelerators the Instance asks for, if its type tells."""
    if known.type is None:
        return
    asked = request(known.type.spec, known.instance.spec.resources, known.manufacturers)
    if isinstance(asked, AcceleratorRequest) and asked.family is not None:
        yield Sample(f.ACCELERATORS, (*who, asked.family), asked.count)


def _of_pod(who: Identity, pod: Pod) -> Iterator[Sample]:
    yield from _resources(who, pod)
    told = pod.container_status(names.MAIN)
    if told is not None:
        yield Sample(f.RESTARTS, who, told.restartCount)
    if pod.status.startTime is not None:
        yield Sample(f.STARTED, who, seconds(pod.status.startTime))


def _resources(who: Identity, pod: Pod) -> Iterator[Sample]:
    main = pod.container(names.MAIN)
    if main is None:
        return
    told: tuple[tuple[Mapping[Family, str], Mapping[str, str]], ...] = (
        (_LIMITS, main.resources.limits),
        (_REQUESTS, main.resources.requests),
    )
    for families, held in told:
        for family, name in families.items():
            value = amount(held, name)
            if value is not None:
                yield Sample(family, who, value)


def seconds(timestamp: str) -> float:
    """*timestamp*, as Kubernetes writes it, in Unix time."""
    return datetime.fromisoformat(timestamp).timestamp()
