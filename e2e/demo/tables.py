"""What kubectl prints: tables under a line of titles, and ports in one cell."""

import re
from collections.abc import Iterator, Mapping

from e2e.demo.errors import NotSoError

Row = Mapping[str, str]
# A title may hold single spaces; kubectl puts three between columns.
_TITLE = re.compile(r"\S+(?: \S+)*")
_PORT = re.compile(r"(\d+):(\d+)/(\w+)")


def rows(text: str) -> tuple[Row, ...]:
    """Return the rows of all tables in *text*, which stand apart by blank lines."""
    return tuple(row for table in text.strip("\n").split("\n\n") for row in _rows(table))


def row(text: str, name: str) -> Row:
    """Return the row of the object called *name*, or *kind/name* where kubectl says so.

    Raises NotSoError when there is none.
    """
    for found in rows(text):
        if next(iter(found.values())) == name:
            return found
    raise NotSoError(f"there is no {name}")


def cell(text: str, name: str, column: str) -> str:
    """Return what is said of *name* under *column*.

    Raises NotSoError when there is no such row or column.
    """
    found = row(text, name)
    if column not in found:
        raise NotSoError(f"there is no column {column}, only {', '.join(found)}")
    return found[column]


def node_ports(written: str) -> Mapping[str, int]:
    """Return the node port of each `PORT/PROTOCOL` in *written*, as in `8888:31063/TCP`.

    Raises NotSoError for a port that has no node port.
    """
    found = {}
    for one in filter(None, written.split(",")):
        match = _PORT.fullmatch(one)
        if match is None:
            raise NotSoError(f"{one!r} is not a port with its node port")
        number, node_port, protocol = match.groups()
        found[f"{number}/{protocol}"] = int(node_port)
    return found


def _rows(table: str) -> Iterator[Row]:
    head, *body = table.split("\n")
    titles = list(_TITLE.finditer(head))
    ends = [title.start() for title in titles[1:]] + [None]
    for line in body:
        yield {
            title.group(): line[title.start() : end].strip()
            for title, end in zip(titles, ends, strict=True)
        }
