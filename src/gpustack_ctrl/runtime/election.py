"""Leader election as a state machine: what was seen of the lease, and what to write to it.

It speaks the protocol of client-go over `coordination.k8s.io/v1` Leases: a holder renews
the lease, and whoever has not seen it change for as long as the holder said it would be
valid may take it.

Guarantees: two processes never both lead by their own account, as long as the rates of
their clocks differ by less than the ratio of `Timing.lease` to `Timing.renew_deadline`.
Their times of day do not matter: every interval is measured here, on one's own clock.

It does not fence: a write that is under way when leadership is lost still arrives. Writes
have to carry a precondition where that matters. And a process that starts just after a
person deleted the lease cannot know of the leader that has not noticed yet.
"""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import attrs

from gpustack_ctrl.api.meta import ObjectKey

Lease = Mapping[str, Any]
"""A Lease as it is on the wire."""

JITTER_FACTOR = 1.2
"""A candidate waits between one and 1 + this many retry periods between two looks."""


class LeadershipLostError(Exception):
    """Another process may lead from now on: this one must end at once."""


@attrs.frozen(kw_only=True)
class Timing:
    """The periods of an election, in seconds, and the rule they have to obey."""

    lease: float = 15.0
    renew_deadline: float = 10.0
    retry: float = 2.0
    attempt: float = 3.0

    def __attrs_post_init__(self) -> None:
        if not self.lease > self.renew_deadline > self.retry * JITTER_FACTOR > 0:
            raise ValueError(
                f"lease duration {self.lease:g} s must exceed renew deadline"
                f" {self.renew_deadline:g} s, and that {JITTER_FACTOR} retry periods"
                f" of {self.retry:g} s: lengthen the one or shorten the other"
            )
        if self.attempt <= 0 or not self.retry + 2 * self.attempt < self.renew_deadline:
            raise ValueError(
                f"two failing attempts of {self.attempt:g} s must leave time for a third within"
                f" the renew deadline of {self.renew_deadline:g} s: shorten the attempt"
            )


@attrs.frozen(kw_only=True)
class Seen:
    """The *lease* as last seen (None: it is not there), unchanged *since* that moment."""

    lease: Lease | None
    since: float


@attrs.frozen(kw_only=True)
class Wait:
    """Somebody else holds the lease."""


@attrs.frozen(kw_only=True)
class Create:
    """Write *lease*, which is not there."""

    lease: Lease


@attrs.frozen(kw_only=True)
class Update:
    """Write *lease* over the version it names."""

    lease: Lease


@attrs.frozen(kw_only=True)
class Election:
    """One process's view of the election for the lease *key*, as *identity*.

    It may not take over before the term of the last holder *expires*. *renewed_at* is
    when its last write that succeeded was begun: nobody can have seen that write earlier.
    """

    key: ObjectKey
    identity: str
    timing: Timing = Timing()
    seen: Seen | None = None
    expires: float = -math.inf
    renewed_at: float | None = None

    def __attrs_post_init__(self) -> None:
        if not self.identity:
            raise ValueError(f"lease {self.key}: an elector needs an identity; set the pod's name")

    def leading(self, now: float) -> bool:
        """Whether this process may act. Ask at each act: time alone ends it."""
        return now < self.leads_until()

    def leads_until(self) -> float:
        """When leadership ends unless it is renewed; long ago for who does not lead."""
        if self.renewed_at is None:
            return -math.inf
        return self.renewed_at + self.timing.renew_deadline

    def observed(self, lease: Lease | None, now: float) -> "Election":
        """The election after a look at the *lease*; None when it is not there.

        A change of any kind starts the holder's term anew, by our own clock. A lease
        that vanished leaves the term of its last holder running: it may not know yet.
        """
        if self.seen is not None and _record(self.seen.lease) == _record(lease):
            return attrs.evolve(self, seen=Seen(lease=lease, since=self.seen.since))
        expires = self.expires if lease is None else now + self._term(lease)
        return attrs.evolve(self, seen=Seen(lease=lease, since=now), expires=expires)

    def renewed(self, lease: Lease, *, begun: float) -> "Election":
        """The election after a write, *begun* then, was answered with *lease*."""
        return attrs.evolve(self.observed(lease, begun), renewed_at=begun)

    def lost(self) -> "Election":
        """The election once this process leads no more."""
        return attrs.evolve(self, renewed_at=None)

    def held_by_other(self) -> bool:
        """Whether the lease, as last seen, names another holder."""
        return self.holder() not in {"", self.identity}

    def claim(self, now: float, wall: datetime) -> Wait | Create | Update:
        """What to do to win or keep the lease, as it was last seen; *wall* is for people."""
        lease = self.seen.lease if self.seen else None
        leads = self.renewed_at is not None
        if self.held_by_other() if leads else self._term_runs(now):
            return Wait()
        if lease is None:
            return Create(lease=self._new(wall))
        return Update(lease=_with(lease, self._claimed(_spec(lease), wall)))

    def resignation(self, wall: datetime) -> Update | None:
        """The write that lets another process take over at once; None when not holding."""
        lease = self.seen.lease if self.seen else None
        if lease is None or self.holder() != self.identity:
            return None
        spec = {"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": micro_time(wall)}
        return Update(lease=_with(lease, spec))

    def holder(self) -> str:
        """Whom the lease, as last seen, names; empty for nobody."""
        lease = self.seen.lease if self.seen else None
        return str(_spec(lease).get("holderIdentity") or "") if lease else ""

    def _term_runs(self, now: float) -> bool:
        return self.holder() != self.identity and now < self.expires

    def _term(self, lease: Lease) -> float:
        """For how long the holder said it would be valid; nothing once it resigned."""
        if not _spec(lease).get("holderIdentity"):
            return 0.0
        return float(_spec(lease).get("leaseDurationSeconds") or self.timing.lease)

    def _claimed(self, spec: Mapping[str, Any], wall: datetime) -> Mapping[str, Any]:
        """The fields by which a claim differs from *spec*."""
        mine = {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": math.ceil(self.timing.lease),
            "renewTime": micro_time(wall),
        }
        if spec.get("holderIdentity") == self.identity:
            return mine
        transitions = int(spec.get("leaseTransitions") or 0) + 1
        return {**mine, "acquireTime": micro_time(wall), "leaseTransitions": transitions}

    def _new(self, wall: datetime) -> Lease:
        return {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"namespace": self.key.namespace, "name": self.key.name},
            "spec": {**self._claimed({}, wall), "leaseTransitions": 0},
        }


def micro_time(moment: datetime) -> str:
    """*moment*, in UTC, as a Lease carries it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _with(lease: Lease, spec: Mapping[str, Any]) -> Lease:
    """*lease* with the fields of *spec* replaced, and nothing else."""
    return {**lease, "spec": {**_spec(lease), **spec}}


def _spec(lease: Lease) -> Mapping[str, Any]:
    """The spec of *lease*, which a person may have left out."""
    return lease.get("spec") or {}


def _record(lease: Lease | None) -> object:
    """What has to change for a holder to be alive: not a label, say."""
    return None if lease is None else (lease["metadata"].get("uid"), _spec(lease))
