"""All alerts, by what they are about."""

from collections.abc import Iterator

from monitoring.alerts import accelerators, exporter, instances, limits, operator
from monitoring.rules import Alert, Group

GROUPS: tuple[Group, ...] = (
    operator.GROUP,
    instances.GROUP,
    limits.GROUP,
    accelerators.GROUP,
    exporter.GROUP,
)


def alerts() -> Iterator[Alert]:
    """Each alert, in the order of the file."""
    return (rule for group in GROUPS for rule in group.rules if isinstance(rule, Alert))
