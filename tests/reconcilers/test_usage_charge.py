"""What a Pod is charged for: what it was made with."""

import attrs
import pytest

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import Pod, PodContainer, PodSpec, ResourceRequirements
from gpustack_ctrl.api.instance_type import InstanceTypeSpec
from gpustack_ctrl.api.resources import InstanceResources
from gpustack_ctrl.api.usage import Charge, UsageFamily
from gpustack_ctrl.reconcilers.pod_template import rendered
from gpustack_ctrl.reconcilers.usage.charge import charge_of
from tests.helpers.builders import GENERAL, NVIDIA, instance, instance_type, pod_of, remade, seen
from tests.reconcilers.accelerator_types import A100

WAYS = {
    "nothing said": (NVIDIA, InstanceResources(), UsageFamily.WHOLE, 1),
    "cards": (NVIDIA, InstanceResources(accelerator="4"), UsageFamily.WHOLE, 4),
    "none of them": (NVIDIA, InstanceResources(accelerator="0"), UsageFamily.NONE, 0),
    "a share": (NVIDIA, InstanceResources(acceleratorShared=True), UsageFamily.SHARED, 1),
    "a slice": (
        NVIDIA, InstanceResources(acceleratorSlicedMemoryPercentage=25), UsageFamily.SLICED, 1,
    ),
    "a partition": (
        A100,
        InstanceResources(acceleratorPartitionedProfile="3g.40gb"),
        UsageFamily.PARTITIONED, 1,
    ),
    "no accelerators": (GENERAL, InstanceResources(), UsageFamily.NONE, 0),
}  # fmt: skip


def made(offered: InstanceTypeSpec, resources: InstanceResources) -> Pod:
    """The Pod as the API server holds it."""
    box = instance(resources=resources)
    template = rendered(seen(box, type=instance_type(offered)))
    assert template is not None
    main = template.spec.containers[0]
    spec = PodSpec(containers=(PodContainer(name=main.name, resources=main.resources),))
    held = remade(pod_of(box), annotations=template.metadata.annotations)
    return attrs.evolve(held, spec=spec)  # type: ignore[no-any-return]


@pytest.mark.parametrize(("offered", "resources", "family", "count"), WAYS.values(), ids=WAYS)
def test_a_pod_is_charged_as_it_was_made_whatever_the_instance_says_now(
    offered: InstanceTypeSpec, resources: InstanceResources, family: UsageFamily, count: int
) -> None:
    other = instance(type="other", resources=InstanceResources(accelerator="8"))

    assert Charge(type="small", family=family, accelerators=count) == charge_of(
        other, made(offered, resources)
    )


@pytest.mark.parametrize(("offered", "resources", "family", "count"), WAYS.values(), ids=WAYS)
@pytest.mark.parametrize(
    "note",
    [
        None,
        "",
        "small",
        "small/Whole",
        "small/Half/1",
        "small/Whole/x",
        "/Whole/1",
        f"{'x' * 254}/Whole/1",
        f"small/Whole/{'1' * 20}",
    ],
)
def test_a_pod_without_a_good_note_is_charged_as_the_instance_asks(
    offered: InstanceTypeSpec,
    resources: InstanceResources,
    family: UsageFamily,
    count: int,
    note: str | None,
) -> None:
    noted = {} if note is None else {names.CHARGE: note}
    held = remade(made(offered, resources), annotations=noted)

    assert Charge(type="small", family=family, accelerators=count) == charge_of(
        instance(resources=resources), held
    )


def test_a_pod_that_an_older_spec_would_not_give_is_charged_nothing_for_accelerators() -> None:
    both = InstanceResources(acceleratorShared=True, acceleratorPartitionedProfile="3g.40gb")
    asked = ResourceRequirements(requests={"cpu": "1"})
    held = remade(pod_of(instance()), annotations={})
    held = attrs.evolve(
        held, spec=PodSpec(containers=(PodContainer(name="main", resources=asked),))
    )

    assert Charge(type="small", family=UsageFamily.NONE) == charge_of(
        instance(resources=both), held
    )
