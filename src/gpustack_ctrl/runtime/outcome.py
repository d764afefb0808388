"""How a pass ended, and what follows from it: a pure judgement."""

from collections.abc import Iterator
from typing import Literal

import attrs

from gpustack_ctrl.api.errors import ApiError, ConflictError
from gpustack_ctrl.runtime.reconcile import Result, TerminalError

Label = Literal["success", "requeue_after", "requeue", "error"]
"""The values of `result` in `controller_runtime_reconcile_total`."""

LABELS: tuple[Label, ...] = ("error", "requeue_after", "requeue", "success")


@attrs.frozen(kw_only=True)
class Forget:
    """Nothing to do until an event comes."""


@attrs.frozen(kw_only=True)
class Again:
    """Forget the failures and come back *after* so many seconds."""

    after: float


@attrs.frozen(kw_only=True)
class BackOff:
    """Count a failure and come back as the limiter says, but not before *at_least* seconds."""

    at_least: float = 0.0


@attrs.frozen(kw_only=True)
class Outcome:
    """What a pass came to: its *label*, what the queue does *then*, and why it failed."""

    label: Label
    then: Forget | Again | BackOff
    terminal: bool = False
    error: Exception | None = None

    @property
    def foreseen(self) -> bool:
        """Whether the failure is an answer we know, for which nobody needs a traceback."""
        known = (ApiError, TerminalError, TimeoutError)
        return self.error is None or all(isinstance(leaf, known) for leaf in leaves(self.error))


def of_result(result: Result) -> Outcome:
    """The outcome of a pass that returned *result*."""
    if result.after is None:
        return Outcome(label="success", then=Forget())
    return Outcome(label="requeue_after", then=Again(after=result.after))


def of_error(error: Exception) -> Outcome:
    """The outcome of a pass that raised *error*."""
    causes = tuple(leaves(error))
    if all(isinstance(cause, TerminalError) for cause in causes):
        return Outcome(label="error", then=Forget(), terminal=True, error=error)
    label: Label = "requeue" if all(isinstance(c, ConflictError) for c in causes) else "error"
    return Outcome(label=label, then=BackOff(at_least=wait_asked(error)), error=error)


def wait_asked(error: BaseException) -> float:
    """The seconds the API server asked us to wait: the longest wish among the leaves."""
    asked = (leaf.retry_after or 0.0 for leaf in leaves(error) if isinstance(leaf, ApiError))
    return max(asked, default=0.0)


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The single errors within *error*, which may be a group of groups."""
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for inner in error.exceptions:
        yield from leaves(inner)


def one_line(error: BaseException) -> str:
    """All leaves of *error* as one sentence a person can read."""
    return "; ".join(str(leaf) or type(leaf).__name__ for leaf in leaves(error))
