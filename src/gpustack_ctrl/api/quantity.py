"""Kubernetes quantities: exact arithmetic on `500m`, `1.5`, `16Gi` and `1e3`."""

import re
from fractions import Fraction
from functools import lru_cache

UNSIGNED_PATTERN = r"([0-9]+|[0-9]+\.[0-9]*|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?"
PATTERN = rf"[+-]?{UNSIGNED_PATTERN}"
_PARTS = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(.*)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}

MI = 1 << 20


def parse(quantity: int | str) -> Fraction:
    """The exact value of *quantity* in base units.

    Raises ValueError, with the remedy, where it is not a quantity.
    """
    return _parsed(str(quantity).strip())


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Fraction:
    """Every card of every node is counted at each pass over a type, and few texts occur."""
    if not re.fullmatch(PATTERN, text):
        raise ValueError(f"{text!r} is not a quantity: write a number such as 2, 500m or 16Gi")
    number, suffix = _split(text)
    return Fraction(number) * _scale(suffix)


def milli(value: Fraction) -> str:
    """*value* as canonical cores: `2` or `1500m`, rounded up to a thousandth."""
    thousandths = -(-value.numerator * 1000 // value.denominator)
    return str(thousandths // 1000) if thousandths % 1000 == 0 else f"{thousandths}m"


def binary(value: Fraction) -> str:
    """*value* bytes in the largest binary unit that loses nothing, rounded up to a byte."""
    number = -(-value.numerator // value.denominator)
    for suffix, power in reversed(_BINARY.items()):
        if number and number % (1 << power) == 0:
            return f"{number >> power}{suffix}"
    return str(number)


def _split(text: str) -> tuple[str, str]:
    match = _PARTS.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a quantity")
    return match[1], match[2]


def _scale(suffix: str) -> Fraction:
    if suffix in _BINARY:
        return Fraction(1 << _BINARY[suffix])
    if suffix[:1] in ("e", "E") and len(suffix) > 1:
        return Fraction(10) ** int(suffix[1:])
    return Fraction(10) ** _DECIMAL[suffix]
