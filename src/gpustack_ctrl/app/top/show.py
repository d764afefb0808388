"""Shows the table, once or again and again."""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import TextIO

import attrs

from gpustack_ctrl.app.top.cluster import Told
from gpustack_ctrl.metering.columns import arranged, table
from gpustack_ctrl.metering.rows import Row, rows
from gpustack_ctrl.runtime.clock import Clock

TABLE = "table"
JSON = "json"
CLEAR = "\x1b[H\x1b[2J"


@attrs.frozen(kw_only=True)
class Wish:
    """What the user wants to see: of which *namespace*, in what order, how, and how often."""

    namespace: str = ""
    sort: str = "name"
    output: str = TABLE
    watch: bool = False
    seconds: float = 15.0


@attrs.frozen(kw_only=True)
class Show:
    """Writes what *read* tells to *out*, and what is missing to *complain*."""

    read: Callable[[], Awaitable[Told]]
    wish: Wish
    clock: Clock
    out: TextIO
    complain: TextIO

    async def run(self) -> None:
        """Once, or until cancelled."""
        await self._once()
        while self.wish.watch:
            await self.clock.sleep(self.wish.seconds)
            await self._once()

    async def _once(self) -> None:
        told = await self.read()
        found = (row for row in rows(told.series) if self.wish.namespace in ("", row.namespace))
        self.out.write(self._shown(arranged(found, self.wish.sort)))
        self.out.flush()
        for complaint in told.complaints:
            self.complain.write(f"{complaint}\n")

    def _shown(self, found: Sequence[Row]) -> str:
        if self.wish.output == JSON:
            return f"{json.dumps([attrs.asdict(row) for row in found])}\n"
        shown = table(found) if found else "No Instances.\n"
        if not self.wish.watch:
            return shown
        return f"{CLEAR}{shown}" if self.out.isatty() else f"{shown}\n"
