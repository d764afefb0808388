"""Quantities: exact values, and canonical texts that round up and never down."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.api.quantity import MI, binary, milli, parse
from tests.api.strategies import quantities, unhurried

AMOUNTS = st.fractions(min_value=0, max_value=1 << 62, max_denominator=10**6)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (0, 0),
        (8, 8),
        ("8", 8),
        (" 8 ", 8),
        ("+8", 8),
        ("-8", -8),
        ("8.", 8),
        (".5", Fraction(1, 2)),
        ("1.5", Fraction(3, 2)),
        ("100n", Fraction(1, 10**7)),
        ("3u", Fraction(3, 10**6)),
        ("500m", Fraction(1, 2)),
        ("1000m", 1),
        ("2k", 2000),
        ("1M", 10**6),
        ("1G", 10**9),
        ("1T", 10**12),
        ("1P", 10**15),
        ("1E", 10**18),
        ("1Ki", 1024),
        ("1.5Ki", 1536),
        ("512Mi", 512 * MI),
        ("16Gi", 16 << 30),
        ("1Ti", 1 << 40),
        ("1Pi", 1 << 50),
        ("1Ei", 1 << 60),
        ("1e3", 1000),
        ("1E3", 1000),
        ("1e-3", Fraction(1, 1000)),
        ("1.5e+2", 150),
        ("0.1", Fraction(1, 10)),
    ],
)
def test_a_quantity_has_its_exact_value(text: int | str, value: Fraction) -> None:
    assert value == parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "x",
        "1x",
        "1 Gi",
        "1gi",
        "1KI",
        "Gi",
        ".",
        "1.2.3",
        "--1",
        "1e",
        "1e100",
        "\N{ARABIC-INDIC DIGIT ONE}",
    ],
)
def test_what_is_no_quantity_is_refused_with_the_remedy(text: str) -> None:
    with pytest.raises(
        ValueError, match="is not a quantity: write a number such as 2, 500m or 16Gi"
    ):
        parse(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(2), "2"),
        (Fraction(3, 2), "1500m"),
        (Fraction(1, 3), "334m"),
        (Fraction(1, 10**9), "1m"),
    ],
)
def test_cores_are_written_in_thousandths_at_most(value: Fraction, text: str) -> None:
    assert text == milli(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(1), "1"),
        (Fraction(1023), "1023"),
        (Fraction(1024), "1Ki"),
        (Fraction(1536), "1536"),
        (Fraction(3 << 29), "1536Mi"),
        (Fraction(1 << 70), "1024Ei"),
        (Fraction(10**9), "1000000000"),
        (Fraction(1, 2), "1"),
    ],
)
def test_bytes_are_written_in_the_largest_unit_that_loses_nothing(
    value: Fraction, text: str
) -> None:
    assert text == binary(value)


@unhurried
@given(AMOUNTS)
def test_cores_round_up_by_less_than_a_thousandth(value: Fraction) -> None:
    assert 0 <= parse(milli(value)) - value < Fraction(1, 1000)


@unhurried
@given(AMOUNTS)
def test_bytes_round_up_by_less_than_one(value: Fraction) -> None:
    assert 0 <= parse(binary(value)) - value < 1


@unhurried
@given(quantities())
def test_every_quantity_that_the_schema_allows_is_read(text: int | str) -> None:
    assert parse(text) >= 0


@unhurried
@given(st.integers(0, 1 << 62))
def test_a_whole_number_survives_both_texts(value: int) -> None:
    assert value == parse(milli(Fraction(value))) == parse(binary(Fraction(value)))


@unhurried
@given(st.text(max_size=8))
def test_a_text_is_a_quantity_or_an_error_and_nothing_else(text: str) -> None:
    try:
        parse(text)
    except ValueError as error:
        assert "is not a quantity" in str(error)  # noqa: PT017 - both outcomes are right.
