"""An operator whose passes are noted, and whose clock is the test's."""

from collections.abc import Callable

import attrs

from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.runtime.clock import SystemClock, TimerHandle
from gpustack_ctrl.runtime.controller import Controller
from gpustack_ctrl.runtime.reconcile import Reconciler, Request, Result
from tests.integration.world import CLOCK, Operator, World, until

QUIET_SECONDS = 0.5


@attrs.frozen(kw_only=True)
class Pass:
    """One pass of a controller that ended; passes are numbered as they begin."""

    number: int
    controller: str
    request: Request
    result: Result | None
    error: Exception | None

    @property
    def complete(self) -> bool:
        """Whether it did all there was to do."""
        return self.error is None and self.result == Result()


@attrs.define
class Passes:
    """All passes since the start."""

    begun: int = 0
    ended: list[Pass] = attrs.field(factory=list)

    def about(self, namespace: str) -> list[Pass]:
        """The passes over *namespace* and over what is in it."""
        return [
            held for held in self.ended if namespace in (held.request.namespace, held.request.name)
        ]

    def isolation(self, namespace: str, *, after: int = 0) -> list[Pass]:
        """The passes over the policy of *namespace* that began after pass number *after*."""
        return [
            held
            for held in self.ended
            if held.controller == "isolation"
            and held.request == ObjectKey("", namespace)
            and held.number > after
        ]


@attrs.frozen(kw_only=True)
class Watched:
    """A reconciler, each pass of which is noted in *passes*."""

    controller: str
    reconciler: Reconciler
    passes: Passes

    async def reconcile(self, request: Request) -> Result:
        """One pass of the reconciler."""
        self.passes.begun += 1
        number = self.passes.begun
        try:
            result = await self.reconciler.reconcile(request)
        except Exception as error:
            self._note(number, request, None, error)
            raise
        self._note(number, request, result, None)
        return result

    def _note(
        self, number: int, request: Request, result: Result | None, error: Exception | None
    ) -> None:
        noted = Pass(
            number=number, controller=self.controller, request=request, result=result, error=error
        )
        self.passes.ended.append(noted)


@attrs.define
class WatchedOperator(Operator):
    """The operator under test, whose passes are noted and whose clock is the test's."""

    passes: Passes = attrs.field(factory=Passes, init=False)

    async def another_pass(self, world: World) -> None:
        """Return after a new pass over the policy of *world*, in which `box` is."""
        begun = self.passes.begun
        await world.edit(displayName=f"after pass {begun}")

        async def is_over() -> bool:
            return any(
                held.complete for held in self.passes.isolation(world.namespace, after=begun)
            )

        await until(is_over)

    async def settled(self) -> None:
        """Return once no pass has begun for a while: what comes next has a cause of its own."""
        begun = -1
        while begun != self.passes.begun:
            begun = self.passes.begun
            await CLOCK.sleep(QUIET_SECONDS)

    async def restart(self) -> None:
        """Kill it, and start it again."""
        await self.kill()
        await self.start()

    def watched(self, controller: Controller) -> Controller:
        """The controller, whose passes are noted."""
        controller.reconciler = Watched(
            controller=controller.name, reconciler=controller.reconciler, passes=self.passes
        )
        return controller


class StoppableClock(SystemClock):
    """The real clock, until its timers are stopped: then none goes off any more."""

    def __init__(self) -> None:
        self.stopped = False

    def call_later(self, seconds: float, callback: Callable[[], None]) -> TimerHandle:
        """As the real clock, but nothing happens while the timers are stopped."""
        return super().call_later(seconds, lambda: None if self.stopped else callback())
