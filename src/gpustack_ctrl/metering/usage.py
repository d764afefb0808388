"""Series of how Instances passed their time, for billing: the ledger, and the time since."""

from collections.abc import Iterator
from datetime import datetime

from gpustack_ctrl.metering import families as f
from gpustack_ctrl.metering.exposition import Sample
from gpustack_ctrl.metering.members import identity
from gpustack_ctrl.metering.state import Known
from gpustack_ctrl.reconcilers.usage.account import served


def usage_samples(known: Known, now: datetime) -> Iterator[Sample]:
    """The time of an Instance until shortly before *now*, none of which is ever taken back.

    Nothing where the operator keeps no ledger yet.
    """
    totals = served(known.instance, known.pod, None, now)
    if totals is None:
        return
    who = identity(known.instance)
    yield Sample(f.PENDING, who, totals.pending_seconds)
    yield Sample(f.STOPPED, who, totals.stopped_seconds)
    for key, held in totals.allocated.items():
        what = (*who, *key)
        yield Sample(f.ALLOCATED, what, held.seconds)
        yield Sample(f.ACCELERATOR_ALLOCATED, what, held.accelerator_seconds)
