"""Rows of Instances as people read them: a table, with `-` for what nobody knows."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from gpustack_ctrl.api.quantity import MI
from gpustack_ctrl.metering.rows import Device, Row

UNKNOWN = "-"
GAP = "   "
_GIB = 1024
_PERCENT = 100

_COLUMNS: Mapping[str, Callable[[Row], str]] = {
    "NAMESPACE": lambda row: row.namespace,
    "NAME": lambda row: row.name,
    "PHASE": lambda row: row.phase or UNKNOWN,
    "TYPE": lambda row: row.type or UNKNOWN,
    "NODE": lambda row: row.node or UNKNOWN,
    "CPU": lambda row: _of(row.cpu_used, row.cpu_limit, _cores),
    "CPU%": lambda row: _percent(row.cpu_used, row.cpu_limit),
    "MEMORY": lambda row: _of(row.memory_used, row.memory_limit, _size),
    "MEM%": lambda row: _percent(row.memory_used, row.memory_limit),
    "STORAGE": lambda row: _of(row.storage_used, row.storage_limit, _size),
    "ACCELERATORS": lambda row: " ".join([row.asked or UNKNOWN, *map(_device, row.accelerators)]),
}

SORTS: Mapping[str, Callable[[Row], float | None]] = {
    "cpu": lambda row: row.cpu_used,
    "memory": lambda row: row.memory_used,
    "storage": lambda row: row.storage_used,
    "accelerator": lambda row: row.accelerator_memory_used,
}
"""What rows are sorted by, the greatest first; by `name` they are as they come."""


def arranged(rows: Iterable[Row], by: str) -> Sequence[Row]:
    """*rows* in the order of what *by* names: those that nobody knows anything of come last."""
    if by not in SORTS:
        return tuple(rows)
    figure = SORTS[by]
    return sorted(
        rows, key=lambda row: -1.0 if (told := figure(row)) is None else told, reverse=True
    )


def table(rows: Sequence[Row]) -> str:
    """A line for each of *rows*, under a line of titles."""
    cells = [list(_COLUMNS), *([show(row) for show in _COLUMNS.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "".join(f"{_line(line, widths)}\n" for line in cells)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return GAP.join(padded).rstrip()


def _of(used: float | None, limit: float | None, show: Callable[[float], str]) -> str:
    """What is used, of what may be."""
    if used is None and limit is None:
        return UNKNOWN
    return "/".join(UNKNOWN if value is None else show(value) for value in (used, limit))


def _percent(used: float | None, limit: float | None) -> str:
    return UNKNOWN if used is None or not limit else f"{_PERCENT * used / limit:.0f}%"


def _cores(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _size(value: float) -> str:
    mebibytes = value / MI
    if mebibytes < _GIB:
        return f"{mebibytes:.0f}Mi"
    return f"{mebibytes / _GIB:.1f}Gi"


def _device(held: Device) -> str:
    """A card in one word: `GPU-1:Sliced:4.0Gi/8.0Gi:35%`."""
    busy = UNKNOWN if held.utilization is None else f"{_PERCENT * held.utilization:.0f}%"
    return f"{held.id}:{held.mode}:{_of(held.memory_used, held.memory_limit, _size)}:{busy}"
