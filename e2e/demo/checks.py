"""Checks on what kubectl printed: each returns one, for a Fact."""

from e2e.demo.errors import NotSoError
from e2e.demo.script import Check, Seen
from e2e.demo.tables import cell, node_ports, rows


def contains(*texts: str) -> Check:
    """Every one of *texts* was printed."""

    def check(seen: Seen) -> None:
        for text in texts:
            if text not in seen.output:
                raise NotSoError(f"{text!r} is missing")

    return check


def lacks(text: str) -> Check:
    """Nothing that was printed holds *text*."""

    def check(seen: Seen) -> None:
        if text in seen.output:
            raise NotSoError(f"{text!r} is there")

    return check


def tells(name: str, **columns: str) -> Check:
    """The row of *name* says so under each of *columns*."""

    def check(seen: Seen) -> None:
        for column, wanted in columns.items():
            _compare(f"{column} of {name}", wanted, cell(seen.output, name, column))

    return check


def lists(*names: str) -> Check:
    """The objects called *names* are listed, in this order, and no others."""

    def check(seen: Seen) -> None:
        listed = [next(iter(found.values())) for found in rows(seen.output)]
        _compare("the list", ", ".join(names), ", ".join(listed))

    return check


def exposes(name: str, column: str, *ports: str) -> Check:
    """The row of *name* gives a node port under *column* to each of *ports* and to no other."""

    def check(seen: Seen) -> None:
        held = node_ports(cell(seen.output, name, column))
        _compare(f"{column} of {name}", ", ".join(sorted(ports)), ", ".join(sorted(held)))

    return check


def keeps_node_port(name: str, column: str, *ports: str, since: str) -> Check:
    """Each of *ports* has the node port it had in the output remembered as *since*."""

    def check(seen: Seen) -> None:
        before = node_ports(cell(seen.earlier[since], name, column))
        now = node_ports(cell(seen.output, name, column))
        for port in ports:
            _compare(f"the node port of {port}", before.get(port), now.get(port))

    return check


def keeps(name: str, column: str, *, since: str) -> Check:
    """The row of *name* says under *column* what it said in the output remembered as *since*."""

    def check(seen: Seen) -> None:
        before = cell(seen.earlier[since], name, column)
        _compare(f"{column} of {name}", before, cell(seen.output, name, column))

    return check


def differs(name: str, column: str, *, since: str) -> Check:
    """The row of *name* says something else under *column* than the output called *since*."""

    def check(seen: Seen) -> None:
        before = cell(seen.earlier[since], name, column)
        if before == cell(seen.output, name, column):
            raise NotSoError(f"{column} of {name} is still {before}")

    return check


def same(*, since: str) -> Check:
    """The output is the one remembered as *since*, to the letter."""

    def check(seen: Seen) -> None:
        _compare("the output", seen.earlier[since].strip(), seen.output.strip())

    return check


def _compare(what: str, wanted: object, found: object) -> None:
    if wanted != found:
        raise NotSoError(f"{what} should be {wanted or 'empty'}, but is {found or 'empty'}")
