"""What fills the caches is exempt from garbage collection, once they are filled."""

import asyncio
import gc
from collections.abc import Iterator

import attrs
import pytest

from gpustack_ctrl.app.compaction import THRESHOLDS, Compaction


@attrs.define(eq=False)
class Cache:
    """An informer that is synced when a test says so."""

    name: str = "pods"
    trouble: str = ""
    filled: asyncio.Event = attrs.field(factory=asyncio.Event)

    @property
    def synced(self) -> bool:
        return self.filled.is_set()

    async def wait_synced(self) -> None:
        await self.filled.wait()

    async def run(self) -> None:
        """Never asked to."""


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Leave the collector as it was."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


async def test_nothing_is_frozen_before_every_cache_is_filled() -> None:
    caches = (Cache(), Cache())
    running = asyncio.create_task(Compaction(caches).run())
    caches[0].filled.set()
    for _ in range(10):
        await asyncio.sleep(0)  # noqa: TID251 -- no time passes.

    assert THRESHOLDS == gc.get_threshold()
    assert 0 == gc.get_freeze_count()

    caches[1].filled.set()
    for _ in range(10):
        await asyncio.sleep(0)  # noqa: TID251 -- no time passes.

    assert gc.get_freeze_count() > 0
    assert not running.done()

    running.cancel()
    await asyncio.wait({running})
