"""The series of each Instance: what is in the caches, at each scrape, and nothing else."""

from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from gpustack_ctrl.api.core import (
    ContainerStatus,
    Pod,
    PodContainer,
    PodSpec,
    ResourceRequirements,
)
from gpustack_ctrl.api.instance_status import InstanceStatus, Phase
from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.api.resources import InstanceResources
from gpustack_ctrl.controllers.caches import Caches
from gpustack_ctrl.controllers.instance_metrics import InstanceCollector
from gpustack_ctrl.runtime.clock import SystemClock
from gpustack_ctrl.runtime.store import Store
from tests.helpers.builders import (
    NVIDIA,
    condition,
    instance,
    instance_type,
    meta,
    owner,
    pod_of,
    setting,
)
from tests.helpers.memory_world import KINDS

IMAGE = "registry.example/work:1"
STARTED = "2026-11-30T12:00:00Z"
BOX = {"instance_name": "box", "instance_uid": "uid-of-box", "namespace": "team"}
READY = InstanceStatus(phase=Phase.READY, conditions=(condition("Ready", "True"),))


Told = tuple[dict[str, str], float]


def page(**objects: tuple[Any, ...]) -> list[Sample]:
    """All samples for what the caches hold: `page(instances=(…))`."""
    stores: dict[str, Store[Any]] = {kind: Store() for kind in KINDS}
    for kind, held in objects.items():
        stores[kind].replace(held, resource_version="1")
    registry = CollectorRegistry()
    registry.register(InstanceCollector(Caches(**stores), SystemClock()))
    text = generate_latest(registry).decode()
    return [sample for family in text_string_to_metric_families(text) for sample in family.samples]


def of_box(series: str, **objects: tuple[Any, ...]) -> list[Told]:
    """What *series* says of the Instance `box`: the labels that do not name it, and values."""
    return [
        ({name: held for name, held in sample.labels.items() if name not in BOX}, sample.value)
        for sample in page(**objects)
        if sample.name == f"gpustack_instance_{series}" and BOX.items() <= sample.labels.items()
    ]


def pod(**limits: str) -> Pod:
    """The Pod of `box`, with these limits, restarted twice."""
    made = pod_of(
        instance(),
        startTime=STARTED,
        containerStatuses=(ContainerStatus(name="main", restartCount=2),),
    )
    main = PodContainer(name="main", resources=ResourceRequirements(limits=limits))
    return Pod(
        metadata=made.metadata,
        spec=PodSpec(nodeName="node-1", containers=(main,)),
        status=made.status,
    )


def test_without_instances_there_are_no_series() -> None:
    assert [] == page(types=(instance_type(),))


def test_an_instance_that_nobody_has_looked_at_is_pending() -> None:
    told = {"instances": (instance(),)}

    assert [({"phase": "Pending"}, 1)] == of_box("phase", **told)
    assert [({}, 0)] == of_box("ready", **told)
    assert [({"image": IMAGE, "image_digest": "", "node": "", "type": "small"}, 1)] == of_box(
        "info", **told
    )


@pytest.mark.parametrize("series", ["cpu_limit_cores", "memory_limit_bytes", "restarts_total",
                                    "start_time_seconds"])  # fmt: skip
def test_without_a_pod_nothing_is_said_of_it(series: str) -> None:
    assert [] == of_box(series, instances=(instance(status=READY),))


def test_a_running_instance_is_told_with_what_its_pod_has() -> None:
    told = {"instances": (instance(status=READY),), "pods": (pod(cpu="1500m", memory="2Gi"),)}

    assert [({}, 1)] == of_box("ready", **told)
    assert [({"phase": "Ready"}, 1)] == of_box("phase", **told)
    assert [({"image": IMAGE, "image_digest": "", "node": "node-1", "type": "small"}, 1)] == of_box(
        "info", **told
    )
    assert [({}, 1.5)] == of_box("cpu_limit_cores", **told)
    assert [({}, 2 << 30)] == of_box("memory_limit_bytes", **told)
    assert [({}, 2)] == of_box("restarts_total", **told)
    assert [({}, 1796040000)] == of_box("start_time_seconds", **told)


def test_a_pod_without_limits_has_no_series_of_them() -> None:
    told = {"instances": (instance(status=READY),), "pods": (pod(),)}

    assert [] == of_box("cpu_limit_cores", **told)
    assert [] == of_box("memory_limit_bytes", **told)


def test_the_pod_of_somebody_else_does_not_count() -> None:
    metadata = meta("box", ownerReferences=(owner(uid="of an earlier one"),))
    foreign = Pod(metadata=metadata, spec=pod(cpu="1").spec)

    assert [] == of_box("cpu_limit_cores", instances=(instance(),), pods=(foreign,))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({}, ("Whole", 1)),
        ({"accelerator": 2}, ("Whole", 2)),
        ({"accelerator": 3, "acceleratorShared": True}, ("Shared", 3)),
        ({"acceleratorSlicedMemoryPercentage": 20}, ("Sliced", 1)),
        ({"acceleratorPartitionedProfile": "1g.10gb"}, ("Partitioned", 1)),
        ({"accelerator": 0}, None),
    ],
)
def test_accelerators_are_told_by_family(
    asked: dict[str, Any], told: tuple[str, int] | None
) -> None:
    found = of_box(
        "accelerators",
        instances=(instance(resources=InstanceResources(**asked)),),
        types=(instance_type(NVIDIA),),
    )

    assert ([({"family": told[0]}, told[1])] if told else []) == found


def test_what_the_type_cannot_give_or_who_is_unknown_has_no_accelerators() -> None:
    asked = instance(resources=InstanceResources(accelerator=1))

    assert [] == of_box("accelerators", instances=(asked,))
    assert [] == of_box("accelerators", instances=(asked,), types=(instance_type(),))


def test_a_manufacturer_that_a_setting_adds_counts_too() -> None:
    table = setting("accelerator-manufacturers", '{"acme": {"resource": "acme.example/card"}}')
    told = of_box(
        "accelerators",
        instances=(instance(),),
        types=(instance_type(InstanceTypeSpec(manufacturer="acme")),),
        settings=(table,),
    )

    assert [({"family": "Whole"}, 1)] == told


def test_instances_are_counted_by_phase_and_absent_phases_are_zero() -> None:
    held = (
        instance(status=READY),
        instance(name="other", uid="2", status=READY),
        instance(name="new", uid="3"),
    )
    counted = {
        sample.labels["phase"]: sample.value
        for sample in page(instances=held)
        if sample.name == "gpustack_instances" and sample.labels["namespace"] == "team"
    }

    zeros = {str(phase): 0.0 for phase in Phase}

    assert {**zeros, "Ready": 2, "Pending": 1} == counted


def test_no_label_is_the_one_that_belongs_to_prometheus() -> None:
    found = page(instances=(instance(status=READY),), pods=(pod(cpu="1"),))

    assert found
    assert not any("instance" in sample.labels for sample in found)
