"""What an Instance held, and for how long: a ledger that outlives whoever reads it."""

from enum import StrEnum
from typing import Annotated

import attrs
from annotated_types import MaxLen

from gpustack_ctrl.api.markers import Doc, ListMap, Timestamp


class UsageState(StrEnum):
    """The three ways in which an Instance passes its time."""

    ALLOCATED = "Allocated"
    PENDING = "Pending"
    STOPPED = "Stopped"


class UsageFamily(StrEnum):
    """The ways to hold an accelerator, and one for holding none."""

    WHOLE = "Whole"
    SHARED = "Shared"
    SLICED = "Sliced"
    PARTITIONED = "Partitioned"
    NONE = "None"


@attrs.frozen(kw_only=True)
class Charge:
    """What a Pod holds, as it was made."""

    type: Annotated[str, MaxLen(253), Doc("The InstanceType.")]
    family: Annotated[UsageFamily, Doc("How the accelerators are held; None: there are none.")]
    accelerators: Annotated[
        int, Doc("Cards, or shares of cards; 1 for a slice or partition, 0 for none.")
    ] = 0


@attrs.frozen(kw_only=True)
class AllocatedTime:
    """Time for which accelerators of one type were held in one way."""

    type: Annotated[
        str, MaxLen(253), Doc("The InstanceType; `*`: others, where there were very many.")
    ]
    family: Annotated[UsageFamily, Doc("How the accelerators were held.")]
    seconds: Annotated[int, Doc("Seconds, whatever the number of accelerators.")] = 0
    acceleratorSeconds: Annotated[int, Doc("Seconds times the number of accelerators.")] = 0


@attrs.frozen(kw_only=True)
class Usage:
    """How an Instance passed its time, for billing.

    It is `Allocated` while its Pod holds what it asked for: from being scheduled until it
    has ended or is gone. It is `Pending` while it wants to run and holds nothing, and
    `Stopped` while it does not want to. Each interval ends when the next begins: the
    totals, and the time since *since*, add up to the age of the ledger.
    """

    state: Annotated[UsageState, Doc("How the Instance passes its time now.")]
    since: Annotated[Timestamp, Doc("Since when; time from then on is in no total yet.")]
    charge: Annotated[Charge | None, Doc("What is held now, while Allocated.")] = None
    podUID: Annotated[str, MaxLen(64), Doc("The last Pod that held anything.")] = ""
    allocated: Annotated[
        tuple[AllocatedTime, ...],
        ListMap(("type", "family")),
        MaxLen(64),
        Doc("Time allocated so far, by type and family."),
    ] = ()
    pendingSeconds: Annotated[int, Doc("Time pending so far.")] = 0
    stoppedSeconds: Annotated[int, Doc("Time stopped so far.")] = 0
