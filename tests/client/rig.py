"""A scripted server, an exchange with it, and what was measured and warned of."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import attrs

from gpustack_ctrl.client.exchange import Call, Exchange
from tests.client.scripted import Answer, Script, ScriptedServer

GET = Call(method="GET", path="/api/v1/pods")
POST = Call(method="POST", path="/api/v1/namespaces/team/pods", body=b"{}")


@attrs.define
class Recorded:
    """Remembers what was measured and warned of."""

    requests: list[tuple[str, str, str]] = attrs.field(factory=list)
    warnings: list[str] = attrs.field(factory=list)

    def requested(self, *, method: str, host: str, code: str, seconds: float) -> None:
        assert seconds >= 0
        self.requests.append((method, host, code))


@attrs.frozen
class Rig:
    """A scripted server and an exchange with it."""

    server: ScriptedServer
    exchange: Exchange
    recorded: Recorded
    token: Path


Rigged = Callable[[Script], AbstractAsyncContextManager[Rig]]


def status(code: int, reason: str, message: str, **details: object) -> Answer:
    body = {"kind": "Status", "code": code, "reason": reason, "message": message}
    return Answer.of(code, {**body, "details": details})
