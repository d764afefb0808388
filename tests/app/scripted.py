"""An API server of a few objects, for what the operator asks before it follows anything."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import attrs

from gpustack_ctrl.api.codec import decode, encode
from gpustack_ctrl.api.errors import AlreadyExistsError, NotFoundError
from gpustack_ctrl.client.exchange import Call, Exchange
from gpustack_ctrl.client.rest import Rest

Wire = dict[str, Any]


def nothing(_: Call) -> None:
    """Let nobody else do anything."""


@attrs.define
class Server:
    """Holds *objects* by their path; *before* is what others do before each call is done."""

    objects: dict[str, Wire] = attrs.field(factory=dict)
    before: Callable[[Call], object] = nothing
    calls: list[Call] = attrs.field(factory=list, init=False)

    @property
    def rest(self) -> Rest:
        """The way to it."""
        return Rest(exchange=cast("Exchange", self))

    async def send(self, call: Call) -> bytes:
        """The answer to *call*; in between others have their turn."""
        self.calls.append(call)
        await asyncio.sleep(0)  # noqa: TID251 -- no time passes.
        self.before(call)
        return encode(self._done(call))

    def writes(self) -> list[tuple[str, str]]:
        """The method and path of each call that was to change something."""
        return [(call.method, call.path) for call in self.calls if call.method != "GET"]

    def _done(self, call: Call) -> Wire:
        body = cast("Wire", decode(call.body)) if call.body else {}
        if call.method == "POST":
            return self._made(f"{call.path}/{body['metadata']['name']}", body)
        if call.path not in self.objects:
            raise NotFoundError(f"{call.path} not found", code=404)
        if call.method == "PATCH":
            self.objects[call.path] |= body
        return self.objects[call.path]

    def _made(self, path: str, body: Wire) -> Wire:
        if path in self.objects:
            raise AlreadyExistsError(f"{path} already exists", code=409)
        self.objects[path] = body
        return body
