"""Series of how Instances passed their time, for billing: the ledger, up to now."""

from collections.abc import Iterator
from datetime import datetime

from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.metering import families as f
from gpustack_ctrl.metering.exposition import Sample
from gpustack_ctrl.metering.members import identity
from gpustack_ctrl.reconcilers.usage.ledger import metered


def usage_samples(instance: Instance, now: datetime) -> Iterator[Sample]:
    """The time of *instance* until *now*; nothing where the operator keeps no ledger yet."""
    if instance.status.usage is None:
        return
    who, totals = identity(instance), metered(instance.status.usage, now)
    yield Sample(f.PENDING, who, totals.pending_seconds)
    yield Sample(f.STOPPED, who, totals.stopped_seconds)
    for key, held in totals.allocated.items():
        what = (*who, *key)
        yield Sample(f.ALLOCATED, what, held.seconds)
        yield Sample(f.ACCELERATOR_ALLOCATED, what, held.accelerator_seconds)
