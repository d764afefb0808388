"""Whether the process lives and is ready: named checks, asked whenever somebody probes.

A check must not wait, and must not depend on the API server: a process that is restarted
because the API server is away does not bring it back.
"""

from collections.abc import Callable, Collection, Mapping

import attrs

from gpustack_ctrl.runtime.clock import Clock

Check = Callable[[], str | None]
"""None when all is well, else why it is not, in one line."""


@attrs.frozen(kw_only=True)
class Verdict:
    """What a check said: *why* it failed, or nothing."""

    name: str
    why: str | None

    @property
    def passed(self) -> bool:
        """Whether all is well."""
        return self.why is None

    def __str__(self) -> str:
        """The line that the probes of Kubernetes itself print."""
        return f"[+]{self.name} ok" if self.passed else f"[-]{self.name} failed: {self.why}"


@attrs.frozen
class Report:
    """The verdicts of all checks that were asked."""

    verdicts: tuple[Verdict, ...]

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return all(verdict.passed for verdict in self.verdicts)

    def text(self, title: str, *, verbose: bool) -> str:
        """What a probe of *title* is answered: `ok`, or a line for each check."""
        if self.passed and not verbose:
            return "ok"
        outcome = "passed" if self.passed else "failed"
        return "\n".join([*map(str, self.verdicts), f"{title} check {outcome}", ""])


def ask(checks: Mapping[str, Check], *, exclude: Collection[str] = ()) -> Report:
    """Ask each of *checks* that is not excluded. A check that raises has failed."""
    return Report(
        tuple(_verdict(name, check) for name, check in checks.items() if name not in exclude)
    )


def _verdict(name: str, check: Check) -> Verdict:
    try:
        return Verdict(name=name, why=check())
    except Exception as error:  # noqa: BLE001 -- a defect in one check must not hide the others.
        return Verdict(name=name, why=f"the check itself failed: {error!r}")


@attrs.define(kw_only=True, eq=False)
class LoopLag:
    """How late the event loop is: it sleeps for *interval* seconds and looks how long it took."""

    clock: Clock
    interval: float = 1.0
    limit: float = 10.0
    name: str = "loop-lag"
    seconds: float = attrs.field(default=0.0, init=False)

    async def run(self) -> None:
        """Measure for ever."""
        while True:
            begun = self.clock.monotonic()
            await self.clock.sleep(self.interval)
            self.seconds = max(0.0, self.clock.monotonic() - begun - self.interval)

    def check(self) -> str | None:
        """Why the process does not live: its loop is stuck in some computation."""
        if self.seconds <= self.limit:
            return None
        return f"the event loop was {self.seconds:.1f} s late; at most {self.limit:g} s is healthy"
