"""The parts of a generated page of the reference."""

from collections.abc import Iterable, Sequence

from gpustack_ctrl.gen.text import BANNER

HEAD = f"<!-- {BANNER} -->\n\n"
"""What stands above all else."""


def joined(*parts: str) -> str:
    """Those of *parts* that say something, as paragraphs."""
    return "\n\n".join(part for part in parts if part)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """*rows* of cells below *head*."""
    return "\n".join((_cells(head), _cells(["---"] * len(head)), *map(_cells, rows)))


def _cells(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
