"""What a scrape is answered with: parts that are rendered when they change, and only joined.

Each part holds, for each family, its lines and the same lines deflated. Deflated pieces that
know nothing of each other make one stream when they are joined, so a scrape compresses
nothing: it only works out the checksum, which gzip wants of the whole.
"""

import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence

import attrs

from gpustack_ctrl.metering.exposition import Lines, Sample, head, lines
from gpustack_ctrl.metering.families import Family, catalogue

_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"
"""Of a gzip file without a name or time, from any system, packed fast."""
_LAST_BLOCK = b"\x03\x00"
_MODULUS = 1 << 32
_FAST = 1
AT_A_TIME = 100
"""Chunks between which others get a turn: some hundred thousand bytes."""
_RAW = -zlib.MAX_WBITS


@attrs.frozen
class Chunk:
    """Some lines of one family, and the same as blocks of a deflated stream."""

    plain: bytes
    deflated: bytes


def chunk(plain: bytes) -> Chunk:
    """*plain*, deflated on its own, ending between two bytes."""
    packer = zlib.compressobj(_FAST, zlib.DEFLATED, _RAW)
    return Chunk(plain, packer.compress(plain) + packer.flush(zlib.Z_FULL_FLUSH))


@attrs.frozen
class Part:
    """What one source tells, until *expires* on the clock that scrapes are told."""

    chunks: dict[Family, Chunk]
    expires: float


class Pages:
    """All parts, by name; a scrape has them in the order of their names."""

    def __init__(self) -> None:
        self._parts: dict[str, Part] = {}
        self._ordered: tuple[str, ...] | None = None

    def put(self, name: str, samples: Iterable[Sample], *, expires: float = float("inf")) -> None:
        """Tell *samples* under *name*, in place of what it told before."""
        self.put_lines(name, lines(samples), expires=expires)

    def put_lines(self, name: str, told: Lines, *, expires: float = float("inf")) -> None:
        """Tell rendered lines under *name*, in place of what it told before."""
        if name not in self._parts:
            self._ordered = None
        self._parts[name] = Part({family: chunk(held) for family, held in told.items()}, expires)

    def drop(self, name: str) -> None:
        """Tell nothing more under *name*."""
        if self._parts.pop(name, None) is not None:
            self._ordered = None

    def __len__(self) -> int:
        return len(self._parts)

    def pieces(self, now: float, *, open_metrics: bool) -> Iterator[list[Chunk]]:
        """What is told *now*, family by family, each under its head; some chunks at a time.

        All of it is as it was when the first was asked for.
        """
        parts = [part for name in self._names() if (part := self._parts[name]).expires > now]
        for family, above in _HEADS[open_metrics].items():
            held = [part.chunks[family] for part in parts if family in part.chunks]
            told = [above, *held] if held else []
            for begin in range(0, len(told), AT_A_TIME):
                yield told[begin : begin + AT_A_TIME]

    def _names(self) -> tuple[str, ...]:
        if self._ordered is None:
            self._ordered = tuple(sorted(self._parts))
        return self._ordered


class Gzip:
    """One gzip stream out of deflated chunks."""

    def __init__(self) -> None:
        self._checksum = 0
        self._length = 0

    def begin(self) -> bytes:
        """What stands before the first chunk."""
        return _HEADER

    def add(self, chunks: Sequence[Chunk]) -> bytes:
        """The bytes of *chunks*."""
        for held in chunks:
            self._checksum = zlib.crc32(held.plain, self._checksum)
            self._length += len(held.plain)
        return b"".join([held.deflated for held in chunks])

    def end(self) -> bytes:
        """What stands behind the last chunk."""
        return _LAST_BLOCK + struct.pack("<II", self._checksum, self._length % _MODULUS)


_HEADS = {
    kind: {family: chunk(head(family, open_metrics=kind)) for family in catalogue()}
    for kind in (False, True)
}
