"""What only grows, and was told, is not told lower."""

from collections.abc import Iterable, Iterator

from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.metering.exposition import Sample
from gpustack_ctrl.metering.families import Family


class Floors:
    """Keeps what only grows from going back.

    An interval is told until now while it is open; when it is closed, it turns out to have
    ended a moment ago. A counter that falls would be taken for one that began anew.
    """

    def __init__(self) -> None:
        self._told: dict[ObjectKey, dict[tuple[Family, tuple[str, ...]], float]] = {}

    def raised(self, key: ObjectKey, samples: Iterable[Sample]) -> Iterator[Sample]:
        """*samples* of the Instance *key*, none lower than it was told before."""
        told = self._told.setdefault(key, {})
        for family, labels, value in samples:
            floor = max(value, told.get((family, labels), 0.0))
            told[family, labels] = floor
            yield Sample(family, labels, floor)

    def forget(self, key: ObjectKey) -> None:
        """The Instance *key* is gone."""
        self._told.pop(key, None)
