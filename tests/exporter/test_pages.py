"""What was put is what is scraped: whole, in one order, as of one moment."""

import hashlib
import shutil
import subprocess
import zlib
from gzip import decompress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.exporter.pages import AT_A_TIME, Chunk, Gzip, Pages, chunk
from gpustack_ctrl.metering import families as f
from gpustack_ctrl.metering.exposition import Sample
from gpustack_ctrl.metering.families import catalogue
from tests.cli.command import families

NOW = 100.0
GZIP = shutil.which("gzip")


def ready(name: str, value: float = 1) -> Sample:
    return Sample(f.READY, ("team", name, f"uid-of-{name}"), value)


def phase(name: str) -> Sample:
    return Sample(f.PHASE, ("team", name, f"uid-of-{name}", "Ready"), 1)


def plain(pages: Pages, now: float = NOW) -> str:
    pieces = pages.pieces(now, open_metrics=False)
    return b"".join(held.plain for piece in pieces for held in piece).decode()


def packed(pieces: list[list[Chunk]]) -> bytes:
    stream = Gzip()
    body = b"".join(stream.add(piece) for piece in pieces)
    return stream.begin() + body + stream.end()


def names(page: str) -> list[str]:
    """The Instances on a page, in their order."""
    return [it.labels["instance_name"] for family in families(page) for it in family.samples]


@given(st.lists(st.binary(max_size=300), max_size=8), st.integers(1, 4))
def test_joined_chunks_are_one_gzip_stream(held: list[bytes], at_a_time: int) -> None:
    chunks = [chunk(plain) for plain in held]
    pieces = [chunks[begin : begin + at_a_time] for begin in range(0, len(chunks), at_a_time)]
    stream, whole = packed(pieces), b"".join(held)
    reader = zlib.decompressobj(zlib.MAX_WBITS | 16)

    assert whole == decompress(stream)
    assert whole == reader.decompress(stream)
    assert (True, b"") == (reader.eof, reader.unused_data)


@given(st.binary(min_size=1, max_size=2000), st.integers(1, 50))
def test_a_chunk_may_be_told_any_number_of_times(held: bytes, times: int) -> None:
    """No chunk knows what stands before it."""
    assert held * times == decompress(packed([[chunk(held)] * times]))


@pytest.mark.skipif(GZIP is None, reason="needs gzip")
def test_gzip_itself_finds_the_stream_whole() -> None:
    noise = hashlib.shake_128(b"noise").digest(1 << 20)
    chunks = [chunk(b"gpustack_instance_ready 1\n" * 10_000), chunk(b""), chunk(noise)]
    for stream in (packed([]), packed([chunks]), packed([[held] for held in chunks])):
        subprocess.run(["gzip", "-t"], input=stream, check=True, capture_output=True)


def test_a_page_of_nothing_is_empty_in_both_forms() -> None:
    assert "" == plain(Pages())
    assert b"" == decompress(packed(list(Pages().pieces(NOW, open_metrics=False))))


PUTS = [
    ("state/001", [ready("a"), phase("a")]),
    ("state/002", [ready("b"), phase("b")]),
    ("use/node-1", [Sample(f.CPU_USAGE, ("team", "a", "uid", "node-1"), 5)]),
    ("use/node-2", [Sample(f.CPU_USAGE, ("team", "b", "uid", "node-2"), 5)]),
]


@given(st.permutations(PUTS * 2), st.sets(st.sampled_from([name for name, _ in PUTS])))
def test_the_page_is_the_same_whatever_was_put_when(
    puts: list[tuple[str, list[Sample]]], dropped: set[str]
) -> None:
    pages, expected = Pages(), Pages()
    for name, samples in puts:
        pages.put(name, samples)
        if name in dropped:
            pages.drop(name)
            pages.put(name, samples)
    for name, samples in PUTS:
        expected.put(name, samples)

    assert plain(expected) == plain(pages)
    assert len(PUTS) == len(pages)


def test_families_come_in_their_order_each_under_one_head() -> None:
    pages = Pages()
    for number in range(20):
        pages.put(f"part-{number:02}", [phase(f"p{number:02}"), ready(f"r{number:02}")])
    told = [(held.name, len(held.samples)) for held in families(plain(pages))]
    order = [held.name for held in catalogue()]

    assert [("gpustack_instance_phase", 20), ("gpustack_instance_ready", 20)] == told
    assert order.index("gpustack_instance_phase") < order.index("gpustack_instance_ready")
    assert [f"{kind}{number:02}" for kind in "pr" for number in range(20)] == names(plain(pages))


def test_a_part_is_told_until_it_expires() -> None:
    pages = Pages()
    pages.put("part", [ready("a")], expires=NOW)

    assert ["a"] == names(plain(pages, NOW - 0.1))
    assert "" == plain(pages, NOW)
    pages.put("part", [ready("b")], expires=NOW + 1)
    assert ["b"] == names(plain(pages, NOW))


def test_what_is_dropped_is_told_no_more_and_may_be_dropped_again() -> None:
    pages = Pages()
    pages.put("one", [ready("a")])
    pages.put("two", [ready("b")])
    plain(pages)
    pages.drop("one")
    pages.drop("one")

    assert ["b"] == names(plain(pages))
    assert len(pages) == 1


def test_a_put_replaces_all_that_the_part_told() -> None:
    pages = Pages()
    pages.put("part", [ready("a"), phase("a")])
    pages.put("part", [ready("b")])
    assert ["b"] == names(plain(pages))


def test_samples_that_raise_leave_what_was_told() -> None:
    pages = Pages()
    pages.put("part", [ready("a")])
    with pytest.raises(ZeroDivisionError):
        pages.put("part", (ready(str(1 // number)) for number in (1, 0)))
    assert ["a"] == names(plain(pages))


def test_a_scrape_tells_one_moment_whatever_changes_meanwhile() -> None:
    pages = Pages()
    for number in range(3 * AT_A_TIME):
        pages.put(f"part-{number:03}", [phase(f"{number}"), ready(f"{number}")])
    before = plain(pages)
    pieces = pages.pieces(NOW, open_metrics=False)
    seen = list(next(pieces))
    for number in range(3 * AT_A_TIME):
        pages.drop(f"part-{number:03}")
        pages.put(f"part-{number:03}", [ready("another")])
        pages.put(f"more-{number}", [phase("another")])
        seen += next(pieces, [])
    seen += [held for piece in pieces for held in piece]

    assert before == b"".join(held.plain for held in seen).decode()
    assert before.encode() == decompress(packed([seen]))


def test_no_piece_is_longer_than_what_others_can_wait_for() -> None:
    pages = Pages()
    for number in range(1000):
        pages.put(f"part-{number}", [ready("a"), phase("b")])
    lengths = [len(piece) for piece in pages.pieces(NOW, open_metrics=False)]

    assert max(lengths) == AT_A_TIME
    assert sum(lengths) == 2002
