"""The contract between a controller and the code that brings one object into shape.

A reconciler gets a key and nothing else: not the event, not the object. It looks at
the world as it is now, so that lost, doubled and reordered events make no difference.

What becomes of a pass:

| The pass                              | The queue                                      |
| ------------------------------------- | ---------------------------------------------- |
| returns `DONE`                        | forgets the key's failures                     |
| returns `Result(after=seconds)`       | forgets its failures, hands it out again then  |
| raises `ConflictError`                | hands it out again, backed off; not an error   |
| raises `TerminalError`                | forgets its failures; only an event helps      |
| raises another exception              | hands it out again, backed off                 |
| raises an error with `retry_after`    | the same, but not before that many seconds     |
| outlives the controller's time limit  | is cancelled and handed out again, backed off  |

An `ExceptionGroup` is terminal when all its leaves are, and a conflict when all its
leaves are conflicts. A change of the object during the pass is never lost: the key is
handed out once more when the pass ends.
"""

from typing import Protocol

import attrs

from gpustack_ctrl.api.meta import ObjectKey

Request = ObjectKey
"""What a reconciler is asked to look at."""


@attrs.frozen(kw_only=True)
class Result:
    """A pass went well; look again *after* so many seconds, or when something changes."""

    after: float | None = None


DONE = Result()
"""A pass went well and waits for nothing but the next event."""


class TerminalError(Exception):
    """Trying again cannot help until somebody changes the object."""


class Reconciler(Protocol):
    """Whoever brings the object that a request names into its desired shape."""

    async def reconcile(self, request: Request) -> Result:
        """Run one pass. An object that is gone is a normal case, not an error."""
        ...
