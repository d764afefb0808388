"""N3 as a table: who may talk to whom once isolation is on. Without it everybody may."""

from pathlib import Path

import attrs

from e2e.tests.packets import Verdict

REPORT = Path(__file__).parents[1] / "reports" / "isolation.txt"
A, D = Verdict.ALLOW, Verdict.DENY


@attrs.frozen
class Row:
    """One row: its number, who sends to whom, how, and whether an answer comes."""

    number: int
    source: str
    target: str
    way: str
    expected: Verdict
    remark: str = ""

    def __str__(self) -> str:
        return f"{self.number} {self.source} to {self.target} {self.way}"


# Names are those of town.py, and so are addresses. Another node is a network of its own; for
# machines that are simulated the client outside sends and answers, so that the packets are
# real and their senders are not.
ROWS = (
    Row(1, "a1", "a2", "TCP 8080", A),
    Row(1, "a1", "a2", "UDP 8080", A),
    Row(2, "a3", "a1", "TCP 22", A),
    Row(3, "a1", "a3", "TCP 5432", A),
    Row(4, "a1", "b1", "TCP 22", D),
    Row(4, "b1", "a1", "TCP 22", D),
    Row(5, "b1", "a1", "UDP 4000", D),
    Row(5, "a1", "b1", "UDP 4000", D),
    Row(6, "a1", "b2", "TCP 80", D),
    Row(7, "b2", "a1", "TCP 80", D),
    Row(8, "b2", "a3", "TCP 80", A),
    Row(9, "prom", "a1", "TCP 9400", D),
    Row(10, "a1", "dns", "UDP 53", A, "a DNS server answers"),
    Row(11, "a1", "dns", "TCP 53", A, "a DNS server answers"),
    Row(12, "a1", "dns", "TCP 9153", D),
    Row(14, "a1", "b1", "UDP 53", D),
    Row(15, "a1", "b2", "TCP 53", A, "documented"),
    Row(16, "b2", "a1", "UDP 53", D),
    Row(17, "203.0.113.10", "a1", "TCP 22", A),
    Row(18, "a1", "203.0.113.10", "TCP 443", A),
    Row(19, "a1", "203.0.113.10", "UDP 4500", A),
    Row(20, "node", "a1", "TCP 8080", A, "the hosting node"),
    Row(21, "gateway", "a1", "TCP 8080", A, "the hosting node, by its address inside the CIDRs"),
    Row(22, "192.168.50.12", "a1", "TCP 8080", A, "another node"),
    Row(23, "10.244.2.0", "a1", "TCP 8080", D, "the tunnel of another node"),
    Row(24, "a1", "192.168.50.12", "TCP 10250", A, "another node"),
    Row(25, "a1", "169.254.169.254", "TCP 80", A, "simulated"),
    Row(26, "a1", "169.254.20.10", "UDP 53", A, "simulated"),
    Row(27, "a1", "10.244.9.9", "TCP 80", D, "simulated"),
    Row(32, "192.168.50.12", "a1", "TCP 22", A, "on the host of another node"),
    Row(32, "host", "a1", "TCP 22", A, "on the host of this node"),
    Row(33, "a1", "a1", "TCP 8080", A),
    Row(34, "prom", "b2", "TCP 80", A),
    Row(35, "dns", "a1", "TCP 40000", D),
    Row(36, "a1", "door of b1", "TCP 22", D, "of this engine; others may differ"),
    Row(37, "outside", "door of a1", "TCP 22", A),
    Row(37, "outside", "door of b1", "TCP 22", A),
)
# A Pod that lost its label, while nobody heals it.
UNLABELLED = (
    Row(39, "a1", "b1", "TCP 22", D),
    Row(39, "b1", "a1", "TCP 22", D),
    Row(39, "a1", "b2", "TCP 80", A),
    Row(39, "b2", "a1", "TCP 80", A),
)
OPENED = (Row(40, "a1", "b1", "TCP 22", A),)
NOT_SHOWN = {
    13: "the kernel has no SCTP",
    28: "no IPv6 in this engine's version",
    29: "no IPv6 in this engine's version",
    30: "no IPv6 in this engine's version",
    31: "no IPv6 in this engine's version",
    38: "no IPv6 in this engine's version",
}


@attrs.define(kw_only=True)
class Report:
    """What was seen, row by row."""

    lines: dict[int, list[str]] = attrs.field(factory=dict)

    def add(self, row: Row, *, expected: Verdict, seen: Verdict, when: str, text: str) -> None:
        """Note what *row* showed."""
        judged = "ok" if expected is seen else "WRONG"
        told = (
            f"{row.number:3} {row.source:>13} -> {row.target:<15} {row.way:<9} {when:<9} "
            f"{expected:<5} {seen:<5} {judged:<5} {text} {row.remark and f'({row.remark})'}"
        )
        self.lines.setdefault(row.number, []).append(told.rstrip())

    def write(self) -> None:
        """Write the report, with the rows that could not be shown."""
        shown = [line for number in sorted(self.lines) for line in self.lines[number]]
        untold = [f"{number:3} not shown: {why}" for number, why in NOT_SHOWN.items()]
        summary = f"{len(self.lines)} of 40 rows with real packets"
        head = "row        source -> target          way       isolation expected seen  answer"
        REPORT.parent.mkdir(exist_ok=True)
        REPORT.write_text("\n".join([summary, "", head, *shown, "", *untold, ""]))
