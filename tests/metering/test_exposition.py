"""What is written is what was meant, in both formats and for whoever reads it."""

import math
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as open_metrics_families,
)

from gpustack_ctrl.metering import families as f
from gpustack_ctrl.metering.exposition import END, Lines, Sample, head, lines, number
from gpustack_ctrl.metering.families import Family, Group, Kind, catalogue
from tests.cli.command import families

PROMTOOL = shutil.which("promtool")
HOLDS = {"_created", "_bucket", "_count", "_sum"}
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
numbers = st.one_of(
    st.floats(), st.integers(-(1 << 80), 1 << 80), st.booleans(), st.sampled_from([1e15, -0.0])
)
Told = tuple[str, dict[str, str], float]


@st.composite
def samples(draw: st.DrawFn) -> list[Sample]:
    """Some series of one family, no two of the same labels; counters as counters are."""
    family = draw(st.sampled_from(list(catalogue())))
    labels = st.tuples(*[texts for _ in family.labels])
    values = st.floats(min_value=0, allow_nan=False) if family.kind is Kind.COUNTER else numbers
    held = draw(st.lists(labels, unique=True, max_size=4))
    return [Sample(family, labels, draw(values)) for labels in held]


@given(samples())
@example([Sample(f.READY, ("a\\", 'b"}', "c\n# TYPE x gauge\r\n"), 1)])
@example([Sample(f.READY, ("\\n", "\\\\n", ",=\x85\u2028{}"), -0.0)])
def test_whatever_is_told_prometheus_reads_just_that(told: list[Sample]) -> None:
    page = text(lines(told), open_metrics=False)
    read = (sample for family in families(page) for sample in family.samples)
    assert expected(told) == [(it.name, it.labels, shown(it.value)) for it in read]


@given(samples())
@example([Sample(f.READY, ("a\\", 'b"}', "c\n# EOF\n"), math.inf)])
def test_whatever_is_told_open_metrics_reads_just_that(told: list[Sample]) -> None:
    page = text(lines(told), open_metrics=True) + END.decode()
    read = (sample for family in strict_families(page) for sample in family.samples)
    assert expected(told) == [(it.name, it.labels, shown(it.value)) for it in read]


def strict_families(page: str) -> list[Any]:
    """The families of a page of OpenMetrics."""
    return list(open_metrics_families(page))  # type: ignore[no-untyped-call]


def text(told: Lines, *, open_metrics: bool) -> str:
    """The page of *told*."""
    return b"".join(
        head(family, open_metrics=open_metrics) + held for family, held in told.items()
    ).decode()


def expected(told: list[Sample]) -> list[tuple[str, dict[str, str], str]]:
    return [
        (of.name, dict(zip(of.labels, labels, strict=True)), shown(value))
        for of, labels, value in told
    ]


def shown(value: float) -> str:
    """*value* so that it can be compared, what is no number included; -0 is 0."""
    return repr(float(value) + 0.0)


@given(numbers)
def test_a_number_is_read_as_it_was(value: float) -> None:
    assert shown(value) == shown(float(number(value)))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1, "1"), (True, "1"), (False, "0"), (2.0, "2"), (0.25, "0.25"), (-3.0, "-3"),
        (1e15, "1000000000000000.0"), (1e-9, "1e-09"), (math.inf, "+Inf"), (-math.inf, "-Inf"),
        (math.nan, "NaN"),
    ],
)  # fmt: skip
def test_a_number_is_written_as_prometheus_writes_it(value: float, written: str) -> None:
    assert written == number(value)


def test_a_quote_in_a_meaning_is_escaped_by_open_metrics_alone() -> None:
    odd = Family("odd", Kind.GAUGE, 'a "b" \\ c\nd', (), Group.STATE)

    assert head(odd, open_metrics=False).startswith(b'# HELP odd a "b" \\\\ c\\nd\n')
    assert head(odd, open_metrics=True).startswith(b'# HELP odd a \\"b\\" \\\\ c\\nd\n')


def test_no_family_has_the_name_of_another() -> None:
    """Nor one that a reader would take for a part of another's."""
    names = [held.name for held in catalogue()]

    assert len(names) == len(set(names))
    assert not {f"{name}{end}" for name in names for end in HOLDS} & set(names)


def test_labels_of_a_family_are_as_many_as_its_values() -> None:
    with pytest.raises(ValueError, match="zip"):
        lines([Sample(f.READY, ("only", "two"), 1)])


@pytest.mark.skipif(PROMTOOL is None, reason="needs promtool: see e2e/packages.txt")
def test_promtool_has_nothing_against_a_page_of_all_families_but_names_of_the_reference() -> None:
    done = subprocess.run(
        ["promtool", "check", "metrics"],
        input=text(lines(one_of_each()), open_metrics=False),
        capture_output=True,
        text=True,
        check=False,
    )
    complaints = [line for line in done.stderr.splitlines() if line.strip()]
    of_the_reference = {held.name for held in catalogue() if held.group is Group.REFERENCE}

    assert [] == [line for line in complaints if line.split(" ")[0] not in of_the_reference]


def one_of_each() -> Iterator[Sample]:
    """A series of each family, with labels that are hard to write."""
    for family in catalogue():
        yield Sample(family, tuple(f'{name}\\"\n' for name in family.labels), 1.5)
