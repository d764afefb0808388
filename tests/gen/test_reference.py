"""The reference pages say of each field what its schema says."""

import re

import pytest

from gpustack_ctrl.gen.bounds import bounds_in_words, type_in_words
from gpustack_ctrl.gen.crd import KINDS, Kind, crd
from gpustack_ctrl.gen.reference import kind_page, permissions_page
from gpustack_ctrl.gen.schema import Schema

PAGE = kind_page(KINDS[0])


@pytest.mark.parametrize(
    "row",
    [
        "| `image` | string | required | 1 to 512 characters | Container image of the workload. |",
        "| `stop` | boolean | `false` |  | Deletes the Pod and keeps everything else. |",
        "| `port` | integer | required | 1 to 65535 | Port that the workload listens on. |",
        "| `protocol` | string | `TCP` | `TCP`, `UDP`, `SCTP` | Transport protocol. |",
        "| `cpu` | quantity |  |  | CPU limit in cores. Absent: by the type. |",
        "| `lastTransitionTime` | time |  |  | When status last changed. |",
    ],
)
def test_a_row_says_type_default_bounds_and_meaning(row: str) -> None:
    assert row in PAGE.splitlines()


def test_fields_that_obey_the_same_rule_are_named_together() -> None:
    [frozen] = [line for line in PAGE.splitlines() if "set spec.stop to true first" in line]

    assert frozen.startswith("- `type`, `image`, ")
    assert frozen.endswith(
        ": may change only while the Instance is stopped: set spec.stop to true first."
    )


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.resource.plural)
def test_every_link_leads_to_a_heading(kind: Kind) -> None:
    page = kind_page(kind)
    headings = {
        re.sub(r"[^a-z0-9_-]", "", line[3:].lower())
        for line in page.splitlines()
        if line.startswith("## ")
    }

    assert set(re.findall(r"\]\(#([^)]*)\)", page)) <= headings


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.resource.plural)
def test_every_field_and_rule_is_on_the_page(kind: Kind) -> None:
    page = kind_page(kind)
    [version] = crd(kind)["spec"]["versions"]

    assert ["metadata"] == [
        word for word in _words(version["schema"]["openAPIV3Schema"]) if word not in page
    ]


def _words(schema: Schema) -> list[str]:
    own = [rule["message"].split(" ", 1)[1] for rule in schema.get("x-kubernetes-validations", ())]
    for name, field in schema.get("properties", {}).items():
        own.append(name)
        own += _words(field.get("items", field))
    return own


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "array", "maxItems": 2, "items": {"type": "string", "maxLength": 3}},
         ("list of strings", "at most 2 entries; each at most 3 characters")),
        ({"type": "object", "maxProperties": 1, "additionalProperties": {"type": "integer"}},
         ("map of integers", "at most 1 entries")),
        ({"type": "integer", "minimum": 1}, ("integer", "at least 1")),
        ({"type": "string", "minLength": 2, "pattern": "^a|b$"},
         ("string", "at least 2 characters; `^a|b$`")),
    ],
)  # fmt: skip
def test_bounds_are_said_in_words(schema: Schema, words: tuple[str, str]) -> None:
    assert words == (type_in_words(schema), bounds_in_words(schema))


def test_no_cell_breaks_its_table() -> None:
    for page in (*map(kind_page, KINDS), permissions_page()):
        rows = [line for line in page.splitlines() if line.startswith("|")]
        widths = {len(re.split(r"(?<!\\)\|", row)) for row in rows}

        assert len(widths) == 1


def test_an_object_of_one_field_is_shown_where_it_is_named() -> None:
    [row] = [line for line in PAGE.splitlines() if "`podIPs[].ip`" in line]

    assert row.endswith("| at most 64 characters | Addresses of the Pod. The address. |")
    assert "## status.podIPs[]" not in PAGE
