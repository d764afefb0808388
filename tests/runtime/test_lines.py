"""A watch is a byte stream: where it is cut must not matter."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.runtime.lines import LineSplitter, LineTooLongError


@st.composite
def cut_streams(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """A stream, and the same stream in chunks."""
    stream = draw(st.binary(max_size=80).map(lambda b: b.replace(b"\x00", b"\n")))
    points = draw(st.lists(st.integers(0, len(stream))).map(sorted))
    ends = [0, *points, len(stream)]
    return stream, [stream[start:end] for start, end in itertools.pairwise(ends)]


@given(cut=cut_streams())
def test_r6_any_chunking_gives_the_lines_of_the_whole_stream(
    cut: tuple[bytes, list[bytes]],
) -> None:
    stream, chunks = cut
    splitter = LineSplitter()

    lines = [line for chunk in chunks for line in splitter.feed(chunk)]

    assert [line for line in stream.split(b"\n")[:-1] if line] == lines


def test_r6_an_unfinished_last_line_is_no_line() -> None:
    splitter = LineSplitter()

    assert [b"one"] == splitter.feed(b"one\ntw")
    assert [] == splitter.feed(b"o")
    assert [b"two"] == splitter.feed(b"\n")


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_r6_a_line_beyond_the_limit_ends_the_stream_however_it_is_cut(size: int) -> None:
    stream = b"short\n" + b"x" * 11 + b"\n"
    chunks = [stream[at : at + size] for at in range(0, len(stream), size)]
    splitter = LineSplitter(limit=10)

    with pytest.raises(LineTooLongError, match="longer than 10 bytes"):
        list(map(splitter.feed, chunks))


def test_r6_a_line_of_exactly_the_limit_passes() -> None:
    splitter = LineSplitter(limit=10)

    assert [b"x" * 10] == [*splitter.feed(b"x" * 4), *splitter.feed(b"x" * 6 + b"\n")]
