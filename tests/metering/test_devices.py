"""What an Instance is told of its cards, in base units and as the reference rounds."""

from collections.abc import Mapping

import pytest

from gpustack_ctrl.metering import families as f
from gpustack_ctrl.metering.accelerators.readings import (
    AcceleratorReading,
    Attribution,
    EntryPoint,
    Gap,
    Mode,
    Reason,
)
from gpustack_ctrl.metering.devices import device_samples
from tests.metering.summaries import MIB, member, values

BOX = member()


def told(reading: AcceleratorReading, *, reference: bool = True) -> Mapping[str, float]:
    """The series of one card that one Instance holds, by their names."""
    of = Attribution(readings={BOX.instance.uid: (reading,), "uid-of-nobody": (reading,)})
    samples = list(device_samples("node-1", [BOX], of, reference=reference))
    labels = ("team", "box", "uid-of-box", "node-1", "GPU-1", "0", "nvidia", "Sliced")
    assert {labels} >= {it.labels for it in samples}
    return values(samples)


def reading(**figures: float | None) -> AcceleratorReading:
    return AcceleratorReading(
        id="GPU-1",
        index="0",
        manufacturer="nvidia",
        mode=Mode.SLICED,
        **figures,  # type: ignore[arg-type]
    )


def test_what_was_not_measured_has_no_series() -> None:
    assert {} == told(reading())


def test_bytes_are_rounded_up_and_percent_down() -> None:
    series = told(reading(memory_total_bytes=3 * MIB - 1, memory_used_bytes=MIB + 1))

    assert series == {
        f.DEVICE_MEMORY_LIMIT.name: 3 * MIB - 1,
        f.DEVICE_MEMORY_USED.name: MIB + 1,
        f.REFERENCE_DEVICE_MEMORY_TOTAL.name: 3,
        f.REFERENCE_DEVICE_MEMORY_USED.name: 2,
        f.REFERENCE_DEVICE_MEMORY_PERCENT.name: 33,
    }


@pytest.mark.parametrize("percent", range(0, 131, 1))
def test_a_whole_number_of_percent_stays_whole(percent: int) -> None:
    series = told(reading(cores_utilization=percent / 100))
    assert series[f.REFERENCE_DEVICE_CORES_PERCENT.name] == percent


@pytest.mark.parametrize(("used", "total"), [(None, MIB), (MIB, None), (MIB, 0), (None, None)])
def test_there_is_no_percentage_of_what_is_not_known(used: int | None, total: int | None) -> None:
    series = told(reading(memory_used_bytes=used, memory_total_bytes=total))
    assert f.REFERENCE_DEVICE_MEMORY_PERCENT.name not in series


def test_more_than_all_is_told_as_it_is() -> None:
    series = told(reading(memory_used_bytes=3, memory_total_bytes=2, cores_utilization=1.5))

    assert series[f.REFERENCE_DEVICE_MEMORY_PERCENT.name] == 150
    assert series[f.DEVICE_UTILIZATION.name] == 1.5


def test_the_names_of_the_reference_can_be_switched_off() -> None:
    series = told(reading(memory_used_bytes=1, cores_utilization=0.5), reference=False)
    assert {f.DEVICE_MEMORY_USED.name, f.DEVICE_UTILIZATION.name} == set(series)


def test_what_cannot_be_told_is_a_series_with_the_reason() -> None:
    gap = Gap(
        id="GPU-1",
        manufacturer="nvidia",
        entry_point=EntryPoint.CORES,
        reason=Reason.MEDIATED,
    )
    [sample] = device_samples("node-1", [], Attribution(gaps=(gap,)), reference=True)

    assert sample.family is f.CAPABILITY
    assert sample.labels == ("node-1", "nvidia", "GPU-1", "cores", "mediated")
