"""The story of the demo, as data: what is typed, by whom, and what must be seen."""

from e2e.demo.script import Chapter
from e2e.demo.story import beginning, capacity, isolation, life

STORY: tuple[Chapter, ...] = (
    beginning.CLUSTER,
    beginning.OPERATOR,
    beginning.TENANTS,
    life.READY,
    capacity.SLICES,
    capacity.BLOCKED,
    life.STOP,
    life.PORTS,
    life.TYPE,
    isolation.SWITCHED_ON,
    isolation.PUT_RIGHT,
    isolation.DELETED,
)
