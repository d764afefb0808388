"""Figures from any exporter on the node, by a mapping that an administrator writes.

A mapping is YAML: which family tells which figure, by which factor it comes to our unit,
and which labels tell the card and the Pod.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import yaml

from gpustack_ctrl.metering.accelerators import gathering
from gpustack_ctrl.metering.accelerators.gathering import Figures, Subject, Told
from gpustack_ctrl.metering.accelerators.readings import DeviceSample, Extent
from gpustack_ctrl.metering.accelerators.text import Line, read_lines

_FIGURES = tuple(field.name for field in attrs.fields(Figures))
_LABELS = ("id", "index", "partition", "namespace", "pod", "uid", "container")


class MappingError(ValueError):
    """A mapping cannot be used; the message names the file, the field and the remedy."""


@attrs.frozen(kw_only=True)
class Figure:
    """Which family tells a figure: its value times *factor* is in our unit.

    Of health, *healthy* is the value that a healthy card has; None: 0 is.
    """

    family: str
    factor: float = 1
    healthy: float | None = None


@attrs.frozen(kw_only=True)
class SourceMapping:
    """How one exporter tells the figures of one manufacturer's cards."""

    manufacturer: str
    labels: Mapping[str, str]
    figures: Mapping[str, Figure]
    extent: Extent = Extent.DEVICE

    def label(self, name: str) -> str:
        """The label that tells *name*, or "" where none does."""
        return self.labels.get(name, "")


@attrs.frozen
class MappedAdapter:
    """Reads the page of the exporter that *mapping* describes."""

    mapping: SourceMapping

    def read(self, text: str) -> tuple[DeviceSample, ...]:
        """See Adapter."""
        families = {figure.family for figure in self.mapping.figures.values()}
        told = _told(self.mapping, read_lines(text, families))
        return gathering.gather(told, self._figures)

    def _figures(self, _subject: Subject, told: Told) -> Figures:
        found = {
            name: _figure(name, figure, told[figure.family])
            for name, figure in self.mapping.figures.items()
            if figure.family in told
        }
        return Figures(**found)


def parse_mapping(text: str, file: str) -> SourceMapping:
    """The mapping in *text*, which came from *file*. Raises MappingError."""
    return _mapping(_Place(file), _yaml(text, file))


def _told(mapping: SourceMapping, lines: tuple[Line, ...]) -> Iterator[tuple[Subject, str, float]]:
    for line in lines:
        if line.labels.get(mapping.label("id")):
            yield _subject(mapping, line.labels), line.family, line.value


def _subject(mapping: SourceMapping, labels: Mapping[str, str]) -> Subject:
    return Subject(
        id=labels[mapping.label("id")],
        index=labels.get(mapping.label("index"), ""),
        manufacturer=mapping.manufacturer,
        extent=mapping.extent,
        partition=labels.get(mapping.label("partition"), ""),
        pod=gathering.claim(
            labels,
            namespace=mapping.label("namespace"),
            pod=mapping.label("pod"),
            uid=mapping.label("uid"),
            container=mapping.label("container"),
        ),
    )


def _figure(name: str, figure: Figure, value: float) -> Any:
    match name:
        case "unhealthy":
            return value != (figure.healthy or 0)
        case "memory_total_bytes" | "memory_used_bytes":
            return gathering.in_bytes(value, figure.factor)
        case "temperature_celsius":
            return value * figure.factor
        case _:
            return gathering.scaled(value, figure.factor)


def _yaml(text: str, file: str) -> Any:
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise MappingError(f"{file} is not YAML: correct it: {error}") from error


@attrs.frozen
class _Place:
    """Where in a mapping we are, to say so in an error."""

    file: str
    path: str = ""

    def of(self, field: str) -> "_Place":
        return _Place(self.file, f"{self.path}.{field}" if self.path else field)

    def error(self, what: str) -> MappingError:
        return MappingError(f"{self.file}: {self.path or 'the mapping'} {what}")


def _mapping(place: _Place, read: Any) -> SourceMapping:
    fields = _fields(place, read, known=("manufacturer", "extent", "labels", "figures"))
    return SourceMapping(
        manufacturer=_text(place.of("manufacturer"), fields.get("manufacturer")),
        extent=_extent(place.of("extent"), fields.get("extent", Extent.DEVICE)),
        labels=_labels(place.of("labels"), fields.get("labels")),
        figures=_all_figures(place.of("figures"), fields.get("figures")),
    )


def _labels(place: _Place, read: Any) -> Mapping[str, str]:
    fields = _fields(place, read, known=_LABELS)
    if "id" not in fields:
        raise place.of("id").error("is missing: name the label that tells the id of the card")
    if ("namespace" in fields) != ("pod" in fields):
        raise place.error("has one of namespace and pod: name both labels, or neither")
    return {name: _text(place.of(name), label) for name, label in fields.items()}


def _all_figures(place: _Place, read: Any) -> Mapping[str, Figure]:
    fields = _fields(place, read, known=_FIGURES)
    if not fields:
        raise place.error(f"is empty: tell at least one of {', '.join(_FIGURES)}")
    return {name: _one(place.of(name), name, told) for name, told in fields.items()}


def _one(place: _Place, name: str, read: Any) -> Figure:
    unit = "healthy" if name == "unhealthy" else "factor"
    fields = _fields(place, read, known=("family", unit))
    number = {unit: _number(place.of(unit), fields[unit])} if unit in fields else {}
    if number.get("factor", 1) <= 0:
        raise place.of("factor").error("must be more than 0: write what one unit is in ours")
    return Figure(family=_text(place.of("family"), fields.get("family")), **number)


def _fields(place: _Place, read: Any, *, known: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(read, dict):
        raise place.error(f"must be a map: write some of {', '.join(known)} below it")
    unknown = [str(name) for name in read if name not in known]
    if unknown:
        raise place.of(unknown[0]).error(f"is not known: use one of {', '.join(known)}")
    return read


def _text(place: _Place, read: Any) -> str:
    if not isinstance(read, str) or not read.strip():
        raise place.error("must be a text: write its name, in quotes where it looks like a number")
    return read


def _number(place: _Place, read: Any) -> float:
    if isinstance(read, bool) or not isinstance(read, int | float) or not _is_finite(read):
        raise place.error(f"is {read!r}: write a plain number, such as 1 or 1048576")
    return float(read)


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # An integer may be too large for any float.
        return False


def _extent(place: _Place, read: Any) -> Extent:
    try:
        return Extent(read)
    except ValueError as error:
        raise place.error(f"is {read!r}: write one of {', '.join(Extent)}") from error
