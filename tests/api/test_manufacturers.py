"""The nine rows, and the rows that an administrator changes or adds."""

from collections.abc import Mapping

import attrs
import pytest

from gpustack_ctrl.api.manufacturer_overrides import is_resource_name, override
from gpustack_ctrl.api.manufacturers import MANUFACTURERS, HamiNames, Manufacturer

NINE = ("amd", "ascend", "cambricon", "hygon", "iluvatar", "metax", "mthreads", "nvidia", "thead")


def test_there_are_nine_rows_under_their_keys() -> None:
    assert NINE == tuple(MANUFACTURERS)
    assert NINE == tuple(row.key for row in MANUFACTURERS.values())


def test_no_two_makers_share_a_resource_or_a_variable() -> None:
    resources = [row.resource for row in MANUFACTURERS.values()]
    variables = [name for row in MANUFACTURERS.values() for name in row.invisible]
    assert len(resources) == len(set(resources))
    assert len(variables) == len(set(variables))


def test_partitions_are_known_of_the_makers_that_have_them() -> None:
    having = [row.key for row in MANUFACTURERS.values() if row.partition_kind]
    assert ["hygon", "nvidia", "thead"] == having


def test_every_row_would_be_accepted_as_an_override() -> None:
    for row in MANUFACTURERS.values():
        assert MANUFACTURERS == override(MANUFACTURERS, f'{{"{row.key}": {{"hami": null}}}}')
        assert is_resource_name(row.resource)
        assert is_resource_name(row.visibility_resource)


@pytest.mark.parametrize("row", [row for row in MANUFACTURERS.values() if row.hami])
def test_every_hami_name_would_be_accepted_as_an_override(row: Manufacturer) -> None:
    assert row.hami is not None
    text = f'{{"{row.key}": {{"hami": {{"coresPerDevice": {row.hami.cores_per_device}}}}}}}'
    assert MANUFACTURERS == override(MANUFACTURERS, text)


@pytest.mark.parametrize("text", ["", " \n", "{}"])
def test_nothing_said_changes_nothing(text: str) -> None:
    assert MANUFACTURERS == override(MANUFACTURERS, text)


def test_a_known_row_keeps_what_is_left_out() -> None:
    changed = override(MANUFACTURERS, '{"nvidia": {"runtimeClass": "nvidia-cdi"}}')
    expected = attrs.evolve(MANUFACTURERS["nvidia"], runtime_class="nvidia-cdi")
    assert {**MANUFACTURERS, "nvidia": expected} == changed


def test_a_field_can_be_emptied() -> None:
    changed = override(MANUFACTURERS, '{"hygon": {"partitionKind": "", "invisible": {}}}')
    assert "" == changed["hygon"].partition_kind
    assert {} == changed["hygon"].invisible


def test_a_new_row_has_what_it_is_given() -> None:
    text = """{"acme": {
        "resource": "acme.example/card",
        "partitionKind": "tile",
        "invisible": {"ACME_VISIBLE_CARDS": "none"},
        "hami": {
            "devices": "acme.example/part", "whole": "acme.example/card",
            "besideWhole": {"acme.example/cores": "100"},
            "memory": "acme.example/memory", "memoryStep": 1024,
            "memoryPercentage": "acme.example/percent",
            "cores": "acme.example/cores", "coresPerDevice": 8
        }
    }}"""
    expected = Manufacturer(
        key="acme",
        resource="acme.example/card",
        partition_kind="tile",
        invisible={"ACME_VISIBLE_CARDS": "none"},
        hami=HamiNames(
            devices="acme.example/part",
            whole="acme.example/card",
            beside_whole={"acme.example/cores": "100"},
            memory="acme.example/memory",
            memory_step=1024,
            memory_percentage="acme.example/percent",
            cores="acme.example/cores",
            cores_per_device=8,
        ),
    )
    changed = override(MANUFACTURERS, text)
    assert {**MANUFACTURERS, "acme": expected} == changed
    assert "device.gpustack.ai/acme.visibility" == changed["acme"].visibility_resource


def test_the_table_that_is_overridden_stays_as_it_was() -> None:
    before = dict(MANUFACTURERS)
    override(MANUFACTURERS, '{"amd": {"resource": "amd.com/other"}}')
    assert before == MANUFACTURERS


REFUSED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "no JSON": ("nvidia", ("not a JSON object", '{"nvidia"')),
    "no object": ("[]", ("not a JSON object", "Expected `object`")),
    "a row that is no object": ('{"amd": "amd.com/gpu"}', ("not a JSON object",)),
    "a key in capitals": ('{"AMD": {}}', ("manufacturer 'AMD'", "lower-case")),
    "an unknown field": ('{"amd": {"name": "x"}}', ("amd.name is not known", "use resource")),
    "a row without a resource": ('{"acme": {}}', ("acme.resource is missing", "vendor.example")),
    "a resource without a domain": ('{"amd": {"resource": "gpu"}}', ("amd.resource is 'gpu'",)),
    "a resource that is a number": (
        '{"amd": {"resource": 5}}',
        ("amd.resource is 5", "Expected `str`"),
    ),
    "a runtime class with a space": ('{"amd": {"runtimeClass": "a b"}}', ("amd.runtimeClass",)),
    "a partition kind with a slash": ('{"amd": {"partitionKind": "a/b"}}', ("amd.partitionKind",)),
    "a variable with a dash": ('{"amd": {"invisible": {"A-B": ""}}}', ("amd.invisible", "'A-B'")),
    "a value that is no text": ('{"amd": {"invisible": {"A": 1}}}', ("amd.invisible",)),
    "hami without devices": (
        '{"thead": {"hami": {"memory": "a.example/m"}}}',
        ("thead.hami.devices is missing", "vendor.example/name"),
    ),
    "hami that is no object": ('{"amd": {"hami": 1}}', ("amd.hami is 1", "Expected `object`")),
    "hami's unknown field": ('{"amd": {"hami": {"gpu": "x"}}}', ("amd.hami.gpu is not known",)),
    "hami's bad name": ('{"amd": {"hami": {"memory": "mem"}}}', ("amd.hami.memory is 'mem'",)),
    "hami's bad name beside": (
        '{"amd": {"hami": {"besideWhole": {"mem": "1"}}}}',
        ("amd.hami.besideWhole is 'mem'",),
    ),
    "hami's bad amount beside": (
        '{"amd": {"hami": {"besideWhole": {"a.example/m": "all"}}}}',
        ("amd.hami.besideWhole is 'all'", "whole number"),
    ),
    "hami's step of nothing": (
        '{"amd": {"hami": {"memoryStep": 0}}}',
        ("amd.hami.memoryStep is out of range", "from 1 to"),
    ),
}


@pytest.mark.parametrize(("text", "told"), REFUSED.values(), ids=REFUSED)
def test_a_bad_row_is_refused_with_row_field_and_remedy(text: str, told: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        override(MANUFACTURERS, text)
    assert [] == [words for words in told if words not in str(caught.value)]
    assert "\n" not in str(caught.value)


NAMES: Mapping[str, bool] = {
    "nvidia.com/gpu": True,
    "nvidia.com/gpu.partitioned.mig-3g.40gb": True,
    "a/b": True,
    f"a.example/{'n' * 63}": True,
    f"a.example/{'n' * 64}": False,
    f"{'d' * 250}.io/gpu": True,
    f"{'d' * 252}.io/gpu": False,
    "gpu": False,
    "NVIDIA.com/gpu": False,
    "nvidia.com/gpu/": False,
    "nvidia.com/": False,
    "/gpu": False,
    "nvidia.com/gpu.": False,
    "nvidia..com/gpu": False,
}


@pytest.mark.parametrize(("name", "valid"), NAMES.items())
def test_a_resource_name_is_a_domain_a_slash_and_a_name(name: str, *, valid: bool) -> None:
    assert valid == is_resource_name(name)
