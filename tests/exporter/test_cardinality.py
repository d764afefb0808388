"""No page has more series than docs/reference/instance-metrics.md says, and it says no more."""

from collections import Counter

import attrs
import pytest

from gpustack_ctrl.api.core import ContainerStatus, PodContainer, ResourceRequirements
from gpustack_ctrl.api.errors import SourceError
from gpustack_ctrl.api.instance_status import Blocker, InstanceStatus, LastTermination, Phase
from gpustack_ctrl.api.unread import Unread
from gpustack_ctrl.api.usage import AllocatedTime, Charge, Usage, UsageFamily, UsageState
from gpustack_ctrl.exporter.accelerators import Source
from gpustack_ctrl.gen import series
from gpustack_ctrl.metering import families as f
from gpustack_ctrl.metering.accelerators.readings import DeviceSample
from gpustack_ctrl.metering.families import Group, catalogue
from tests.cli.command import families
from tests.exporter.fleet import PERIOD, Answer, Fleet, fleet
from tests.helpers.builders import NVIDIA, condition, instance, instance_type
from tests.metering.accelerators.node import GPU, card, claim
from tests.metering.summaries import MIB, pod_stats, scratch, summary, volume

INSTANCES, NODES = 12, 4
TIME = "2025-12-31T23:00:00Z"
HELD = {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi", GPU: "1"}
STATUS = InstanceStatus(
    phase=Phase.READY,
    conditions=tuple(condition(kind, "True") for kind in ("Ready", "SSHReady", "NetworkIsolated")),
    blocker=Blocker(gate="container", reason="CrashLoop", message="it ends"),
    lastTermination=LastTermination(reason="OOMKilled", finishedAt=TIME),
    usage=Usage(
        state=UsageState.ALLOCATED,
        since=TIME,
        charge=Charge(type="small", family=UsageFamily.WHOLE, accelerators=1),
        allocated=(
            AllocatedTime(type="small", family=UsageFamily.WHOLE, seconds=5, acceleratorSeconds=5),
        ),
    ),
)


@attrs.frozen
class Claimed:
    """Reads a card of each Instance that the page names."""

    def read(self, text: str) -> tuple[DeviceSample, ...]:
        return tuple(card(f"GPU-{name}", claim(name)) for name in text.split())


def full() -> Fleet:
    """Instances of which everything is told that can be."""
    source = Source(name="dcgm", url="http://{address}/metrics", adapter=Claimed())
    held = fleet(sources=[source], in_flight=100)
    held.caches.put(held.caches.types, instance_type(NVIDIA))
    for number in range(INSTANCES):
        add(held, f"box-{number}", f"node-{number % NODES}")
    for number in range(NODES):
        here = [f"box-{it}" for it in range(INSTANCES) if it % NODES == number]
        pods = [f"pod-uid-of-{name}" for name in here]
        held.kubelets.answers[f"node-{number}"] = answers(*pods)
        held.endpoints.answers[f"http://10.0.0.{number}/metrics"] = " ".join(here).encode()
    return held


def add(held: Fleet, name: str, on: str) -> None:
    made = instance(name=name, uid=f"uid-of-{name}", status=STATUS)
    held.add_node(on)
    held.caches.put(held.caches.instances, made)
    told = (ContainerStatus(name="main", imageID="work@sha256:a"),)
    pod = held.add_pod(made, on, containerStatuses=told)
    main = PodContainer(name="main", resources=ResourceRequirements(limits=HELD, requests=HELD))
    spec = attrs.evolve(pod.spec, containers=(main,), volumes=(scratch(),))
    held.caches.put(held.caches.pods, attrs.evolve(pod, spec=spec))


def answers(*uids: str) -> Answer:
    filled = [volume("workspace", used=MIB, capacity=2 * MIB)]
    return summary(*(pod_stats(uid, volume=filled) for uid in uids))


def counted(held: Fleet) -> Counter[Group]:
    """The series on the page by group; Instances by phase are counted by namespace."""
    group_of = {it.name: it.group for it in catalogue()}
    told = [it for family in families(held.page()) for it in family.samples]
    return Counter(group_of[it.name] for it in told if it.name != f.INSTANCES.name)


FLEET = series.Fleet(instances=INSTANCES, nodes=NODES)


def most(group: Group) -> int:
    """What the page of documentation says."""
    each = series.each(group, FLEET)
    return each.instance * INSTANCES + each.node * NODES


async def test_a_full_page_has_as_many_series_as_the_documentation_says() -> None:
    held = full()
    async with held.telling_states():
        await held.clock.advance(2 * PERIOD)
        told = counted(held)

    exact = set(Group) - {Group.COLLECTION}
    assert {group: most(group) for group in exact} == {group: told[group] for group in exact}
    assert told[Group.COLLECTION] <= most(Group.COLLECTION)


@pytest.mark.parametrize("sources_too", [True, False])
async def test_a_page_of_failures_has_no_more_series_than_the_documentation_says(
    *, sources_too: bool
) -> None:
    """The kubelet and its shorter page fail, after they told everything."""
    held = full()
    async with held.telling_states():
        await held.clock.advance(2 * PERIOD)
        held.kubelets.answers = {}
        held.kubelets.default = SourceError(Unread.FORBIDDEN, "no")
        if sources_too:
            held.endpoints.answers = {}
            held.endpoints.default = SourceError(Unread.UNREACHABLE, "no")
        await held.clock.advance(2 * PERIOD)
        told = counted(held)

    assert {group: told[group] for group in Group if told[group] > most(group)} == {}
