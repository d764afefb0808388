"""How reading a source of a node went, and the series of it."""

from collections.abc import Iterable, Iterator

import attrs

from gpustack_ctrl.metering import families as f
from gpustack_ctrl.metering.exposition import Sample

KUBELET = "kubelet"
FALL_BACK = "kubelet_resource"
"""The kubelet's end point that is asked where the summary is not to be had."""


@attrs.frozen(kw_only=True)
class Outcome:
    """The last reading of *source*: *failure* is why it failed, in one word, or empty.

    *message* says the same to people. *last_success* is in Unix time, None before the first.
    """

    source: str
    failure: str = ""
    message: str = ""
    seconds: float
    last_success: float | None = None


def collection_samples(node: str, outcomes: Iterable[Outcome]) -> Iterator[Sample]:
    """The series of *outcomes* on *node*."""
    for told in outcomes:
        where = (node, told.source)
        yield Sample(f.COLLECTOR_SUCCESS, where, 0 if told.failure else 1)
        yield Sample(f.COLLECTOR_DURATION, where, told.seconds)
        if told.failure:
            yield Sample(f.COLLECTOR_FAILURE, (*where, told.failure), 1)
        if told.last_success is not None:
            yield Sample(f.COLLECTOR_LAST_SUCCESS, where, told.last_success)
