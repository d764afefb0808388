"""What the API server takes and refuses by the generated CRDs, and in which words."""

from collections.abc import Iterator
from typing import Any

import pytest

from gpustack_ctrl.api.instance import InstanceSpec
from gpustack_ctrl.gen.crd import crds
from tests.integration.crds.cases import (
    ALLOWED,
    BAD_NAME_SAYS,
    BAD_NAMES,
    FREE,
    FROZEN,
    GOOD_NAMES,
    REFUSED,
    SPEC,
    frozen,
)
from tests.integration.crds.writer import Writer, merged

NOT_YET = {"additionalVolumes", "sshPublicKey", "privileged"}
EDITABLE = [path for path in FROZEN if path not in NOT_YET]


def test_every_rule_has_a_case() -> None:
    said = "\n".join(
        (*map(frozen, FROZEN), *(case.says for case in REFUSED.values()), BAD_NAME_SAYS)
    )

    assert [] == [message for message in _messages(_root()) if message not in said]


def test_every_case_of_a_frozen_field_has_a_rule() -> None:
    fields = {rule.field.removeprefix(".") for rule in InstanceSpec.rules if "oldSelf" in rule.cel}

    assert fields == set(FROZEN)


def _root() -> dict[str, Any]:
    schema: dict[str, Any] = crds()[0]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return schema


def _messages(schema: dict[str, Any]) -> Iterator[str]:
    yield from (rule["message"] for rule in schema.get("x-kubernetes-validations", ()))
    for inner in schema.get("properties", {}).values():
        yield from _messages(inner.get("items", inner))


@pytest.mark.parametrize("path", FROZEN)
def test_i6_a_running_instance_refuses_an_edit_with_the_remedy(writer: Writer, path: str) -> None:
    assert frozen(path) in writer.patch("running", FROZEN[path])


@pytest.mark.parametrize("path", FROZEN)
def test_i6_an_edit_that_also_stops_is_refused(writer: Writer, path: str) -> None:
    assert frozen(path) in writer.patch("running", {**FROZEN[path], "stop": True})


@pytest.mark.parametrize("path", EDITABLE)
def test_i6_a_stopped_instance_takes_the_edit(writer: Writer, path: str) -> None:
    assert "" == writer.patch("stopped", FROZEN[path])


@pytest.mark.parametrize("path", EDITABLE)
def test_i6_an_edit_that_also_starts_is_taken(writer: Writer, path: str) -> None:
    assert "" == writer.patch("stopped", {**FROZEN[path], "stop": False})


@pytest.mark.parametrize("case", FREE)
def test_i6_a_running_instance_takes_what_changes_nothing(writer: Writer, case: str) -> None:
    assert "" == writer.patch("running", FREE[case])


@pytest.mark.parametrize("case", REFUSED)
def test_i2_no_instance_takes_what_contradicts_itself(writer: Writer, case: str) -> None:
    refused = REFUSED[case]

    assert refused.says in writer.patch("stopped", refused.patch)
    assert refused.says in writer.create("fresh", merged(SPEC, refused.patch))


@pytest.mark.parametrize("case", ALLOWED)
def test_i2_every_way_to_ask_is_taken(writer: Writer, case: str) -> None:
    assert "" == writer.patch("stopped", ALLOWED[case])


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_no_service_can_have_is_refused(writer: Writer, name: str) -> None:
    assert BAD_NAME_SAYS in writer.create(name, SPEC)


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_a_name_that_a_service_can_have_is_taken(writer: Writer, name: str) -> None:
    assert "" == writer.create(name, SPEC)
