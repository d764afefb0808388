"""From annotations to schema: what each marker becomes, and bounds on everything."""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

import attrs
import pytest
from annotated_types import Ge, Le, MaxLen, MinLen

from gpustack_ctrl.api.markers import Doc, ListMap, Pattern, Quantity, Rule, Timestamp
from gpustack_ctrl.api.meta import ObjectMeta
from gpustack_ctrl.gen.crd import crds
from gpustack_ctrl.gen.schema import Schema, object_schema, without_defaults


class Colour(StrEnum):
    RED = "Red"
    BLUE = "Blue"


@attrs.frozen(kw_only=True)
class Leaf:
    """A leaf of a tree.

    It falls in *autumn*.
    """

    name: Annotated[str, MinLen(1), MaxLen(8), Pattern("[a-z]+|x"), Doc("Its name.")]
    green: Annotated[bool, Doc("Whether it is green.")] = False


@attrs.frozen(kw_only=True)
class Tree:
    """A tree."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("self.age > 0", "older"),
        Rule("self.leaf == oldSelf.leaf", "leaf stays", field=".leaf", forbidden=True),
    )

    metadata: ObjectMeta
    age: Annotated[int, Ge(0), Le(9000), Doc("Years.")]
    leaf: Annotated[Leaf | None, Doc("The last one.")] = None
    leaves: Annotated[tuple[Leaf, ...], ListMap(("name",)), MaxLen(5)] = ()
    rings: tuple[Annotated[str, MaxLen(3)], ...] = ()
    colour: Annotated[Colour, Doc("Of its leaves.")] = Colour.RED
    shade: Literal["True", "False"] = "True"
    labels: Annotated[Mapping[str, Annotated[str, MaxLen(4)]], MaxLen(2)] = attrs.field(
        factory=dict
    )
    water: Annotated[Quantity | None, Doc("Litres a day.")] = None
    planted: Annotated[Timestamp | None, Doc("When.")] = None
    soil: Annotated[str, MaxLen(9), Doc("Where.")] = ""
    height: Annotated[int, Doc("In metres.")] = 0
    twig: Leaf = Leaf(name="twig")


LEAF = {
    "description": "A leaf of a tree.\n\nIt falls in autumn.",
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {
            "description": "Its name.",
            "type": "string",
            "minLength": 1,
            "maxLength": 8,
            "pattern": "^(?:[a-z]+|x)$",
        },
        "green": {"description": "Whether it is green.", "type": "boolean", "default": False},
    },
}
TREE = object_schema(Tree)


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("metadata", {"type": "object"}),
        ("age", {"description": "Years.", "type": "integer", "minimum": 0, "maximum": 9000}),
        ("leaf", {**LEAF, "description": "The last one.\n\nIt falls in autumn."}),
        (
            "leaves",
            {
                "type": "array",
                "maxItems": 5,
                "items": LEAF,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
            },
        ),
        (
            "rings",
            {
                "type": "array",
                "items": {"type": "string", "maxLength": 3},
                "x-kubernetes-list-type": "atomic",
            },
        ),
        (
            "colour",
            {
                "description": "Of its leaves.",
                "type": "string",
                "enum": ["Red", "Blue"],
                "default": "Red",
            },
        ),
        ("shade", {"type": "string", "enum": ["True", "False"], "default": "True"}),
        (
            "labels",
            {
                "type": "object",
                "maxProperties": 2,
                "additionalProperties": {"type": "string", "maxLength": 4},
            },
        ),
        (
            "planted",
            {"description": "When.", "type": "string", "format": "date-time", "maxLength": 64},
        ),
        ("soil", {"description": "Where.", "type": "string", "maxLength": 9}),
        ("height", {"description": "In metres.", "type": "integer", "default": 0}),
        ("twig", {**LEAF, "default": {}}),
    ],
)
def test_a_field_becomes_what_its_annotation_says(field: str, expected: Schema) -> None:
    assert expected == TREE["properties"][field]


def test_a_quantity_is_a_number_or_a_text_of_0_or_more() -> None:
    schema = TREE["properties"]["water"]

    assert [{"type": "integer"}, {"type": "string"}] == schema["anyOf"]
    assert schema["x-kubernetes-int-or-string"] is True
    assert 0 == schema["minimum"]
    assert 64 == schema["maxLength"]
    assert re.search(schema["pattern"], "1.5Gi")
    assert not re.search(schema["pattern"], "-1")


def test_a_field_without_default_is_required_and_metadata_is_not() -> None:
    assert ["age"] == TREE["required"]


def test_rules_keep_their_sentence_and_the_field_at_fault() -> None:
    assert [
        {"rule": "self.age > 0", "message": "older"},
        {
            "rule": "self.leaf == oldSelf.leaf",
            "message": "leaf stays",
            "fieldPath": ".leaf",
            "reason": "FieldValueForbidden",
        },
    ] == TREE["x-kubernetes-validations"]


def test_a_status_makes_up_nothing() -> None:
    assert "'default'" not in str(without_defaults(TREE))
    assert TREE == object_schema(Tree)  # and leaves the schema it was given alone


def _nodes(schema: Schema, path: str) -> Iterator[tuple[str, Schema]]:
    yield path, schema
    for name, inner in schema.get("properties", {}).items():
        yield from _nodes(inner, f"{path}.{name}")
    for keyword in ("items", "additionalProperties"):
        if keyword in schema:
            yield from _nodes(schema[keyword], f"{path}[]")


def _bounded(schema: Schema) -> bool:
    if "x-kubernetes-int-or-string" in schema:
        return "maxLength" in schema
    match schema["type"]:
        case "string":
            return "maxLength" in schema or "enum" in schema
        case "array":
            return "maxItems" in schema
        case "object":
            return "properties" in schema or "maxProperties" in schema
    return True


@pytest.fixture(params=crds(), ids=lambda crd: crd["metadata"]["name"])
def root(request: pytest.FixtureRequest) -> Any:
    """The root schema of one of our kinds."""
    return request.param["spec"]["versions"][0]["schema"]["openAPIV3Schema"]


def test_every_string_list_and_map_is_bounded(root: Schema) -> None:
    nodes = (node for node in _nodes(root, "") if node[0] != ".metadata")

    assert [] == [path for path, schema in nodes if not _bounded(schema)]


def test_every_field_says_what_it_means(root: Schema) -> None:
    fields = ((path, schema) for path, schema in _nodes(root, "") if not path.endswith("[]"))

    assert [".metadata"] == [path for path, schema in fields if not schema.get("description")]


def test_the_keys_of_a_list_map_are_always_there(root: Schema) -> None:
    for path, schema in _nodes(root, ""):
        for key in schema.get("x-kubernetes-list-map-keys", ()):
            entry = schema["items"]

            assert key in entry["required"] or "default" in entry["properties"][key], path


def test_the_field_at_fault_of_a_rule_exists(root: Schema) -> None:
    for path, schema in _nodes(root, ""):
        for rule in schema.get("x-kubernetes-validations", ()):
            at = schema
            for name in rule.get("fieldPath", "").split(".")[1:]:
                assert name in at["properties"], f"{path}: {rule}"
                at = at["properties"][name]
