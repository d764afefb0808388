"""What people wrote, made fit for an Event."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.runtime.event_wire import LONGEST_NOTE, LONGEST_WORD, note, word


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("two\nlines\tand\r\nmore", "two lines and more"),
        ("\x1b[31mred\x07", "[31mred"),
        ("\u202edesrever", "desrever"),
        ("\ud800", ""),
        ("größe 大", "größe 大"),
        ("", ""),
    ],
)
def test_a_note_is_one_line_without_what_a_terminal_obeys(text: str, expected: str) -> None:
    assert expected == note(text)


@given(st.text(min_size=1) | st.text(alphabet="ü大\n a", min_size=900, max_size=1500))
def test_a_note_never_exceeds_what_the_api_server_takes(text: str) -> None:
    made = note(text)

    assert len(made.encode()) <= LONGEST_NOTE
    assert made.isprintable()
    assert made == note(made)


def test_a_long_note_says_that_it_was_cut() -> None:
    assert "ü" * 510 + "..." == note("ü" * 513)
    assert "ü" * 512 == note("ü" * 512)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("OOMKilled", "OOMKilled"),
        ("OutOfnvidia.com/gpu", "OutOfnvidiacomgpu"),
        ("", "Unknown"),
        ("größe", "gre"),
        ("R" * 200, "R" * LONGEST_WORD),
    ],
)
def test_a_reason_is_letters_and_digits(text: str, expected: str) -> None:
    assert expected == word(text)
