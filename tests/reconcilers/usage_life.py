"""The life of one Instance, whose truth is known second by second.

The operator decides with the code that it always decides with: it makes and deletes Pods,
writes its status or lets it wait, dies and comes back. The cluster and the user do as they
please meanwhile.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import attrs

from gpustack_ctrl.api import codec
from gpustack_ctrl.api.core import ContainerState, ContainerStatus, ContainerTerminated, Pod
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_status import InstanceStatus
from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.api.meta import Condition
from gpustack_ctrl.api.resources import InstanceResources
from gpustack_ctrl.api.usage import Usage
from gpustack_ctrl.plan.actions import Create, Delete
from gpustack_ctrl.reconcilers import pod as pods
from gpustack_ctrl.reconcilers.accelerators.refusal import Refusal
from gpustack_ctrl.reconcilers.accelerators.request import request
from gpustack_ctrl.reconcilers.conditions import timestamp
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot
from gpustack_ctrl.reconcilers.status.pod_progress import has_ended, is_scheduled
from gpustack_ctrl.reconcilers.status.reporting import only_progress
from gpustack_ctrl.reconcilers.status.summary import status
from gpustack_ctrl.reconcilers.usage.account import usage
from gpustack_ctrl.reconcilers.usage.ledger import Totals
from tests.helpers.builders import GENERAL, NOW, NVIDIA, instance, instance_type, remade, seen

Truth = Mapping[tuple[str, ...], float]
HELD, PENDING, STOPPED = "held", ("pending",), ("stopped",)
ASKING = (
    InstanceResources(),
    InstanceResources(accelerator="4"),
    InstanceResources(acceleratorShared=True),
    InstanceResources(accelerator="0"),
)


def flat(totals: Totals) -> Truth:
    """*totals* in the form in which the truth is kept."""
    told: dict[tuple[str, ...], float] = {
        PENDING: totals.pending_seconds,
        STOPPED: totals.stopped_seconds,
    }
    for (kind, family), held in totals.allocated.items():
        told[HELD, kind, family] = held.seconds
        told["accelerators", kind, family] = held.accelerator_seconds
    return told


@attrs.define
class Life:
    """One Instance from its creation on; *clock* counts whole seconds since then.

    *unsure* is the time for which nobody could know the truth: what the operator slept
    through, or had not written when it died, where a Pod vanished or a wish changed in it.
    """

    instance: Instance = attrs.field(
        factory=lambda: remade(instance(), creationTimestamp=timestamp(NOW), generation=1)
    )
    pod: Pod | None = None
    up: bool = True
    clock: int = 0
    truth: dict[tuple[str, ...], int] = attrs.field(factory=dict)
    unsure: int = 0
    past: list[tuple[int, Instance, Pod | None]] = attrs.field(factory=list)
    _made: int = 0
    _offered: InstanceTypeSpec = NVIDIA
    _charged: tuple[str, str, int] = ("", "", 0)
    _written_until: int = 0
    _blind: bool = False
    _surprised: bool = False

    @property
    def now(self) -> datetime:
        """The time of day, a little after the second began."""
        return NOW + timedelta(seconds=self.clock, milliseconds=400)

    @property
    def ledger(self) -> Usage | None:
        """The ledger as it is written."""
        return self.instance.status.usage

    def pass_time(self, seconds: int) -> None:
        """Let *seconds* go by in which nothing happens."""
        if not self._surprised and self._is_written():
            self._written_until = self.clock + seconds
        for key, each in self._now().items():
            self.truth[key] = self.truth.get(key, 0) + seconds * each
        self.clock += seconds

    def note(self) -> None:
        """Remember what there is to see from now on."""
        self.past.append((self.clock, self.instance, self.pod))

    def possible(self) -> Mapping[str, Callable[[], None]]:
        """What may happen next, by name."""
        acts: dict[str, Callable[[], None]] = {"an administrator edits the type": self.offer}
        if self.instance.spec.stop:
            acts |= {"a start": self.start, "an edit": self.edit}
        else:
            acts |= {"a stop": self.stop, "a restart": self.restart}
        acts |= {"the operator dies": self.die} if self.up else {"it comes back": self.come_back}
        return acts | (self._possible_for(self.pod) if self.pod else {})

    def _possible_for(self, held: Pod) -> dict[str, Callable[[], None]]:
        acts: dict[str, Callable[[], None]] = {"the Pod vanishes": self.vanish}
        if held.metadata.deleting:
            return acts | {"the Pod is gone": self.vanish}
        acts |= {"somebody deletes the Pod": self.delete}
        if has_ended(held):
            return acts
        if is_scheduled(held):
            return acts | {"it is Ready": self.ready, "it fails": self.fail}
        return acts | {"it is scheduled": self.schedule}

    # What the user and the administrator do.

    def stop(self) -> None:
        self._surprised = True
        self._ask(stop=True)

    def start(self) -> None:
        self._surprised = True
        self._ask(stop=False)

    def edit(self) -> None:
        other = "large" if self.instance.spec.type == "small" else "small"
        self._ask(type=other, resources=ASKING[self.clock % len(ASKING)])

    def restart(self) -> None:
        self._ask(restartedAt=str(self.clock))

    def offer(self) -> None:
        self._offered = GENERAL if self._offered is NVIDIA else NVIDIA

    def delete(self) -> None:
        if self.pod is not None:
            self.pod = remade(self.pod, deletionTimestamp=self._time())

    # What the cluster does.

    def schedule(self) -> None:
        bound = Condition(type="PodScheduled", status="True", lastTransitionTime=self._time())
        self._tell(conditions=(bound,))

    def ready(self) -> None:
        held = self.pod.status.conditions if self.pod else ()
        kept = tuple(one for one in held if one.type != "Ready")
        self._tell(phase="Running", conditions=(*kept, Condition(type="Ready", status="True")))

    def fail(self) -> None:
        ended = ContainerTerminated(exitCode=1, finishedAt=self._time())
        main = ContainerStatus(name="main", state=ContainerState(terminated=ended))
        self._tell(phase="Failed", containerStatuses=(main,))

    def vanish(self) -> None:
        self._surprised = True
        if self.pod and not self.pod.metadata.deleting and not self._is_written():
            self._blind = True  # Gone by force, before anybody wrote of it: nobody knows.
        self.pod = None

    # What the operator does.

    def die(self) -> None:
        self.up, self._blind = False, True

    def come_back(self) -> None:
        self.up = True

    def work(self, *, waits: bool) -> None:
        """Passes of the operator until it has nothing to do; what may wait does if *waits*."""
        while self.up and self._one_pass(waits=waits):
            pass

    def _one_pass(self, *, waits: bool) -> bool:
        snapshot = self._snapshot()
        before = (self.pod, self.instance)
        for action in pods.plan(snapshot):
            match action:
                case Create(body=body):
                    self._create(codec.from_wire(body, Pod))
                case Delete():
                    self.delete()
        told = status(snapshot)
        if not (waits and only_progress(self.instance.status, told)):
            self._write(told)
        return before != (self.pod, self.instance)

    def _write(self, told: InstanceStatus) -> None:
        if self._blind and self._surprised:
            self.unsure += self.clock - self._written_until
        self._blind = self._surprised = False
        self._written_until = self.clock
        self.instance = attrs.evolve(self.instance, status=told)

    def _create(self, held: Pod) -> None:
        self._made += 1
        asked = request(self._offered, self.instance.spec.resources)
        assert not isinstance(asked, Refusal)
        self._charged = (self.instance.spec.type, asked.family or "None", asked.count)
        self.pod = remade(held, uid=f"pod-{self._made}", creationTimestamp=self._time())

    def _snapshot(self) -> InstanceSnapshot:
        offered = instance_type(self._offered, self.instance.spec.type)
        return seen(self.instance, pod=self.pod, now=self.now, type=offered)

    def _is_written(self) -> bool:
        return self.ledger == usage(self.instance, self.pod, None, self.now)

    def _ask(self, **spec: Any) -> None:
        asked = attrs.evolve(self.instance.spec, **spec)
        self.instance = attrs.evolve(self.instance, spec=asked)
        generation = (self.instance.metadata.generation or 0) + 1
        self.instance = remade(self.instance, generation=generation)

    def _tell(self, **news: Any) -> None:
        if self.pod is not None:
            self.pod = attrs.evolve(self.pod, status=attrs.evolve(self.pod.status, **news))

    def _time(self) -> str:
        return timestamp(self.now)

    def _now(self) -> Mapping[tuple[str, ...], int]:
        """What each second counts as, at the moment."""
        if self.pod is not None and is_scheduled(self.pod) and not has_ended(self.pod):
            kind, family, count = self._charged
            return {(HELD, kind, family): 1, ("accelerators", kind, family): count}
        return {STOPPED if self.instance.spec.stop else PENDING: 1}
