"""What is told of an Instance by its status and its Pod; what is not known has no series."""

from typing import Any

import attrs
import pytest

from gpustack_ctrl.api.core import ContainerStatus, PodContainer, ResourceRequirements
from gpustack_ctrl.api.instance_status import Blocker, InstanceStatus, LastTermination, Phase
from gpustack_ctrl.api.manufacturers import MANUFACTURERS
from gpustack_ctrl.api.resources import Family, InstanceResources
from gpustack_ctrl.api.usage import Charge, Usage, UsageFamily, UsageState
from gpustack_ctrl.metering import families as f
from gpustack_ctrl.metering.state import Known, count_samples, place, state_samples
from gpustack_ctrl.metering.usage import usage_samples
from tests.helpers.builders import NOW, NVIDIA, condition, instance, instance_type, pod_of
from tests.metering.summaries import values

WHO = ("team", "box", "uid-of-box")
IMAGE_ID = "registry.example/work@sha256:" + "a" * 64


def told(known: Known) -> dict[str, tuple[tuple[str, ...], float]]:
    """Labels beyond the identity, and the value, of each series; there is one of each name."""
    samples = list(state_samples(known))
    assert {WHO} == {it.labels[:3] for it in samples}
    assert len(samples) == len({it.family for it in samples})
    return {it.family.name: (it.labels[3:], it.value) for it in samples}


def status(**held: Any) -> Known:
    return Known(instance=instance(status=InstanceStatus(**held)))


def test_of_an_instance_that_nobody_looked_at_it_is_told_that_it_is_pending() -> None:
    assert told(Known(instance=instance())) == {
        f.INFO.name: (("small", "", "registry.example/work:1", ""), 1),
        f.PHASE.name: (("Pending",), 1),
        f.READY.name: ((), 0),
    }


@pytest.mark.parametrize("phase", list(Phase))
def test_the_phase_is_one_series_and_counted_once(phase: Phase) -> None:
    known = status(phase=phase)
    counts = list(count_samples({place(known.instance): 1}))

    assert told(known)[f.PHASE.name] == ((phase,), 1)
    assert {("team", str(each)): float(each is phase) for each in Phase} == {
        it.labels: it.value for it in counts
    }


@pytest.mark.parametrize(("said", "value"), [("True", 1), ("False", 0), ("Unknown", 0)])
@pytest.mark.parametrize(
    ("kind", "family"),
    [("Ready", f.READY), ("SSHReady", f.SSH_READY), ("NetworkIsolated", f.ISOLATED)],
)
def test_a_condition_is_a_series(kind: str, family: f.Family, said: str, value: int) -> None:
    assert told(status(conditions=(condition(kind, said),)))[family.name] == ((), value)


def test_what_is_not_asked_for_is_neither_true_nor_false() -> None:
    asked = [condition(kind, "True", "NotAskedFor") for kind in ("SSHReady", "NetworkIsolated")]
    series = told(status(conditions=tuple(asked)))

    assert f.SSH_READY.name not in series
    assert f.ISOLATED.name not in series


def test_a_blocker_and_the_last_end_are_told_with_their_words() -> None:
    series = told(
        status(
            blocker=Blocker(gate="quota", reason="Exceeded", message="too much", owner="admin"),
            lastTermination=LastTermination(reason="OOMKilled", finishedAt="2026-11-30T11:00:00Z"),
        )
    )

    assert series[f.BLOCKED.name] == (("quota", "Exceeded", "admin"), 1)
    assert series[f.LAST_TERMINATION.name] == (("OOMKilled",), NOW.timestamp() - 3600)
    assert f.LAST_TERMINATION.name not in told(
        status(lastTermination=LastTermination(reason="Evicted"))
    )


@pytest.mark.parametrize(
    ("asks", "family", "count"),
    [
        (InstanceResources(), "Whole", 1),
        (InstanceResources(accelerator="4"), "Whole", 4),
        (InstanceResources(acceleratorShared=True), "Shared", 1),
    ],
)
def test_accelerators_are_told_by_what_is_asked_for_also_without_a_pod(
    asks: InstanceResources, family: str, count: int
) -> None:
    kind = instance_type(attrs.evolve(NVIDIA, families=(Family.WHOLE, Family.SHARED)))
    known = Known(instance=instance(resources=asks), type=kind, manufacturers=MANUFACTURERS)
    assert told(known)[f.ACCELERATORS.name] == ((family,), count)


def test_without_a_card_asked_for_none_is_told() -> None:
    for kind in (None, instance_type(), instance_type(NVIDIA)):
        asked = InstanceResources(accelerator="0")
        known = Known(instance=instance(resources=asked), type=kind, manufacturers=MANUFACTURERS)
        assert f.ACCELERATORS.name not in told(known)


def test_limits_restarts_and_digest_are_those_of_main_in_its_pod() -> None:
    held = instance()
    requirements = ResourceRequirements(
        limits={"cpu": "1500m", "memory": "2Gi", "ephemeral-storage": "10G"},
        requests={"cpu": "0.1", "memory": "1Gi"},
    )
    main = PodContainer(name="main", resources=requirements)
    sshd = PodContainer(name="sshd", resources=ResourceRequirements(limits={"cpu": "9"}))
    pod = pod_of(
        held,
        startTime="2026-11-30T12:00:00Z",
        containerStatuses=(
            ContainerStatus(name="sshd", restartCount=9),
            ContainerStatus(name="main", restartCount=3, imageID=IMAGE_ID),
        ),
    )
    pod = attrs.evolve(pod, spec=attrs.evolve(pod.spec, containers=(main, sshd)))
    series = told(Known(instance=held, pod=pod))

    assert series[f.INFO.name][0][1:] == ("node-1", "registry.example/work:1", "sha256:" + "a" * 64)
    assert {name: value for name, (_, value) in series.items() if "info" not in name} == {
        f.PHASE.name: 1,
        f.READY.name: 0,
        f.CPU_LIMIT.name: 1.5,
        f.CPU_REQUEST.name: 0.1,
        f.MEMORY_LIMIT.name: 2 << 30,
        f.MEMORY_REQUEST.name: 1 << 30,
        f.STORAGE_LIMIT.name: 10_000_000_000,
        f.RESTARTS.name: 3,
        f.STARTED.name: NOW.timestamp(),
    }


@pytest.mark.parametrize(
    ("image_id", "digest"), [("", ""), ("sha256:abc", "sha256:abc"), ("a:1@b@sha256:c", "sha256:c")]
)
def test_the_digest_is_what_the_runtime_names(image_id: str, digest: str) -> None:
    held = instance()
    pod = pod_of(held, containerStatuses=(ContainerStatus(name="main", imageID=image_id),))
    assert told(Known(instance=held, pod=pod))[f.INFO.name][0][3] == digest


def test_a_pod_that_is_not_scheduled_tells_no_node_start_and_restart() -> None:
    held = instance()
    series = told(Known(instance=held, pod=pod_of(held, phase="Pending", node="")))

    assert series[f.INFO.name][0][1] == ""
    assert {f.RESTARTS.name, f.STARTED.name} & set(series) == set()


# How Instances pass their time.
CHARGE = Charge(type="small", family=UsageFamily.WHOLE, accelerators=2)


def test_without_a_ledger_no_time_is_told() -> None:
    assert not list(usage_samples(Known(instance=instance()), NOW))


def test_an_open_interval_is_told_until_shortly_before_now() -> None:
    usage = Usage(
        state=UsageState.ALLOCATED,
        since="2026-11-30T11:59:00Z",
        charge=CHARGE,
        pendingSeconds=5,
        stoppedSeconds=7,
    )
    held = instance(status=InstanceStatus(usage=usage))
    samples = list(usage_samples(Known(instance=held), NOW))

    assert {"team"} == {it.labels[0] for it in samples}
    assert values(samples) == {
        f.PENDING.name: 5,
        f.STOPPED.name: 7,
        f.ALLOCATED.name: 45,
        f.ACCELERATOR_ALLOCATED.name: 90,
    }
