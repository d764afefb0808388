"""Keeps the garbage collector away from the caches.

Cached objects form no cycles and are freed by reference counting alone. Looking at all
of them again and again would stop the process for tens of milliseconds each time.
"""

import asyncio
import gc
from collections.abc import Iterable
from typing import ClassVar

import attrs

from gpustack_ctrl.runtime.layers import Informer

THRESHOLDS = (50_000, 20, 100)


@attrs.frozen
class Compaction:
    """Collects rarely while the caches fill, and exempts what they hold after that."""

    informers: Iterable[Informer]
    name: ClassVar[str] = "compaction"

    async def run(self) -> None:
        """Set the collector up, then have nothing more to do."""
        gc.set_threshold(*THRESHOLDS)
        for informer in self.informers:
            await informer.wait_synced()
        gc.collect()
        gc.freeze()
        await asyncio.Event().wait()
