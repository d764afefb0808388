"""The list-watch machine in any exchange that an API server may have with it."""

from random import Random

import attrs
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.api.errors import (
    ApiError,
    GoneError,
    ServerError,
    ThrottledError,
    UnreachableError,
)
from gpustack_ctrl.runtime.watch import (
    Listed,
    ListRequest,
    Page,
    Unlisted,
    Watcher,
    Watching,
    WatchRequest,
)
from tests.helpers.list_watch import too_large

GONE = GoneError("too old", code=410, reason="Expired")


@attrs.define
class Server:
    """Answers a machine at random, within what an API server may do."""

    random: Random
    revision: int = 7
    handed_out: set[str] = attrs.field(factory=set)

    def version(self) -> str:
        self.revision += self.random.randrange(3)
        self.handed_out.add(str(self.revision))
        return str(self.revision)

    def page(self) -> Page[str]:
        more = self.random.choice(["", "more"])
        return Page(objects=(), resource_version=self.version(), continue_=more)

    def error(self) -> ApiError:
        return self.random.choice(
            [
                GONE,
                too_large(),
                ThrottledError("later"),
                UnreachableError("reset"),
                ServerError("oops"),
            ]
        )

    def answer(self, machine: Watcher[str], now: float) -> None:
        match machine.state:
            case Watching() if self.random.random() < 0.6:
                machine.advanced(self.version())
            case Watching() if self.random.random() < 0.5:
                machine.ended(now)
            case Listed() if self.random.random() < 0.6:
                machine.opened(now)
            case Listed() | Watching():
                machine.failed(self.error(), now)
            case _ if self.random.random() < 0.7:
                machine.listed(self.page())
            case _:
                machine.failed(self.error(), now)


@attrs.define
class Observer:
    """Watches over the requests of a machine: which watch was refused, what is newest."""

    refused: str | None = None
    newest: bool = False

    def saw(self, request: ListRequest | WatchRequest, state: object) -> None:
        if isinstance(request, ListRequest) and not request.continue_:
            self.newest = not request.resource_version
        match state:
            case Unlisted(refused=str(version)):
                self.refused = version
            case Watching():
                self.refused = None
            case Listed() if self.newest:
                self.refused = None  # The newest state has it: it may be watched again.


@given(random=st.randoms(use_true_random=False))
def test_r3_and_r5_hold_in_any_exchange_with_a_server(random: Random) -> None:
    server, observer, now = Server(random), Observer(), 0.0
    machine: Watcher[str] = Watcher(random=random.random)
    for _ in range(60):
        request = machine.request()
        if isinstance(request, WatchRequest) and isinstance(machine.state, Listed):
            assert request.resource_version in server.handed_out
            assert observer.refused != request.resource_version
        now += machine.wait + random.random() * 400
        server.answer(machine, now)
        observer.saw(request, machine.state)
