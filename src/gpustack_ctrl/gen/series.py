"""The reference page of the series about Instances, and of how many there may be."""

from collections.abc import Iterable, Mapping, Sequence

import attrs

from gpustack_ctrl.api.unread import MEANINGS
from gpustack_ctrl.gen.markdown import HEAD, joined, table
from gpustack_ctrl.metering import families as f
from gpustack_ctrl.metering.accelerators.readings import EntryPoint
from gpustack_ctrl.metering.families import Family, Group, catalogue

_HEADINGS = {
    Group.STATE: "State",
    Group.USAGE: "Time, for billing",
    Group.USE: "Use",
    Group.ACCELERATOR: "Accelerators",
    Group.REFERENCE: "By the names of the reference",
    Group.COLLECTION: "How reading goes",
}
_WORDS = {
    Group.STATE: """
What the API server knows. Without a Pod there are no limits, restarts and start time. Told by
the exporter for the whole cluster; where there is none, or one on each node, by the operator
(`--instance-metrics`).""",
    Group.USAGE: """
From the ledger in the status of the Instance, up to now; told where the state is. A restart or
an outage of whoever tells it loses and doubles nothing. Allocated, pending and stopped add up to
the age of the ledger.""",
    Group.USE: """
What the kubelet measures, of the whole Pod: a session of the SSH sidecar counts. What is not
known is absent, never 0; a figure that could not be read again is gone at once, and
`gpustack_instance_metrics_missing` says why.""",
    Group.ACCELERATOR: """
What the [sources](accelerator-sources.md) measure, one series for each card that the Instance
holds all or part of.""",
    Group.REFERENCE: """
The same figures under the names and in the units of gpustack-operator, for dashboards made for
it; `--no-reference-metrics` switches them off.""",
    Group.COLLECTION: """
One for each node that holds Instances and each source, so that an absent figure has a reason.""",
}
_COLUMNS = ("Series", "Type", "Labels", "Meaning")
_BY_CONTENT = {
    f.INSTANCES: "9 for each namespace",
    f.BLOCKED: "at most 1",
    f.SSH_READY: "at most 1",
    f.ISOLATED: "at most 1",
    f.LAST_TERMINATION: "at most 1",
    f.ALLOCATED: "1 for each type and family it ever had, at most 64",
    f.ACCELERATOR_ALLOCATED: "1 for each type and family it ever had, at most 64",
    f.VOLUME_USED: "1 for each volume",
    f.VOLUME_CAPACITY: "1 for each volume",
    f.CAPABILITY: "at most 2 for each accelerator, also for those whose Pod nobody knows",
}


@attrs.frozen
class Fleet:
    """A cluster to count for."""

    instances: int = 10_000
    nodes: int = 500
    accelerators_each: int = 1
    volumes_each: int = 1
    sources: int = 3
    """The kubelet, its shorter page where that is needed, and one of accelerators."""


def series_page() -> str:
    """The page: the families by group, then how many series they make."""
    return (
        HEAD + joined(_opening(), *map(_section, Group), _reasons(), _cardinality(Fleet())) + "\n"
    )


def _opening() -> str:
    return joined(
        "# Series about Instances",
        "`instance` belongs to Prometheus, so an Instance is `instance_name`, and `instance_uid` "
        "tells two of the same name apart. A deleted Instance has no series.",
    )


def _section(group: Group) -> str:
    words = _WORDS[group].strip()
    return joined(f"## {_HEADINGS[group]}", words, table(_COLUMNS, map(_row, _of(group))))


def _reasons() -> str:
    """The table of what the label `reason` says of a reading."""
    rows = [(f"`{reason}`", meaning) for reason, meaning in MEANINGS.items()]
    return joined("### Reasons", table(("Reason", "When"), rows))


def _of(group: Group) -> list[Family]:
    return [family for family in catalogue() if family.group is group]


def _row(family: Family) -> Sequence[str]:
    labels = " ".join(f"`{label}`" for label in sorted(family.labels))
    return (f"`{family.name}`", family.kind, labels, family.meaning)


def _cardinality(fleet: Fleet) -> str:
    counted = {group: each(group, fleet) for group in Group}
    rows = [(_HEADINGS[group], *map(str, _counts(held, fleet))) for group, held in counted.items()]
    total = sum(_in_all(held, fleet) for held in counted.values())
    return joined(
        "## How many series",
        f"At most, with {fleet.accelerators_each} accelerator and {fleet.volumes_each} volume for "
        f"each Instance, {fleet.sources} sources on each node, and one type in its life:",
        table(("Group", "Per Instance", "Per node", f"{fleet.instances} Instances"), rows),
        f"In all {total:,} series for {fleet.instances:,} Instances on {fleet.nodes} nodes. No "
        "label has a value that a tenant makes up, but for names of its own objects and its image; "
        "what an Instance once was leaves nothing behind.",
        table(("Series that vary", "How many for an Instance"), _varying()),
    )


@attrs.frozen
class Each:
    """Series for each Instance, and for each node."""

    instance: int
    node: int


def each(group: Group, fleet: Fleet) -> Each:
    """How many series of *group* there are at most."""
    if group is Group.COLLECTION:
        of_source = sum(family.labels[:2] == f.COLLECTION for family in _of(group))
        gaps = len(EntryPoint) * fleet.accelerators_each
        return Each(instance=1 + gaps, node=of_source * fleet.sources)
    held = [family for family in _of(group) if family is not f.INSTANCES]
    devices = sum(family.labels == f.DEVICE for family in held)
    return Each(instance=len(held) + devices * (fleet.accelerators_each - 1), node=0)


def _counts(held: Each, fleet: Fleet) -> tuple[int, int, int]:
    return (held.instance, held.node, _in_all(held, fleet))


def _in_all(held: Each, fleet: Fleet) -> int:
    return held.instance * fleet.instances + held.node * fleet.nodes


def _varying() -> Iterable[Sequence[str]]:
    told: Mapping[Family, str] = _BY_CONTENT
    return [(f"`{family.name}`", words) for family, words in told.items()]
