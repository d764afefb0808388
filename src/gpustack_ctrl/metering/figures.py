"""A series for each figure that is known of something."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from gpustack_ctrl.metering.exposition import Sample
from gpustack_ctrl.metering.families import Family

T = TypeVar("T")
N = TypeVar("N", int, float)


def figure_samples(
    labels: tuple[str, ...], of: T, figures: Mapping[Family, Callable[[T], float | None]]
) -> Iterator[Sample]:
    """What *figures* give *of* something; what is not known has no series."""
    for family, figure in figures.items():
        value = figure(of)
        if value is not None:
            yield Sample(family, labels, value)


def added(values: Iterable[N | None]) -> N | None:
    """The sum of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
