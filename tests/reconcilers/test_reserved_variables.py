"""Variables that open devices or logins: refused by the operator too, by the table in force."""

import pytest

from gpustack_ctrl.api.environment import RESERVED, EnvFromSource, EnvVar, OptionalReference
from gpustack_ctrl.api.manufacturer_overrides import override
from gpustack_ctrl.api.manufacturers import MANUFACTURERS
from gpustack_ctrl.reconcilers.gates import shut_gate
from gpustack_ctrl.reconcilers.isolation.cidrs import OFF
from gpustack_ctrl.reconcilers.settings.in_force import SettingsInForce
from tests.helpers.builders import instance, seen

ACME = '{"acme": {"resource": "acme.example/card", "invisible": {"ACME_CARDS": "none"}}}'


def test_what_is_reserved_is_every_variable_of_the_table_and_the_mark_of_the_workload() -> None:
    of_makers = {name for row in MANUFACTURERS.values() for name in row.invisible}

    assert {*of_makers, "GPUSTACK_INSTANCE_CONTAINER"} == set(RESERVED)


@pytest.mark.parametrize("name", RESERVED)
def test_a_variable_that_opens_devices_or_logins_is_refused_by_name(name: str) -> None:
    box = instance(env=(EnvVar(name="PLAIN", value="1"), EnvVar(name=name, value="all")))
    told = shut_gate(seen(box))

    assert told is not None
    assert ("admission", "ReservedVariable", "user") == (told.gate, told.reason, told.owner)
    assert f"spec.env sets {name}, by which" in told.message
    assert "remove it while stopped" in told.message


def test_a_maker_that_an_administrator_adds_brings_its_own() -> None:
    box = instance(env=(EnvVar(name="ACME_CARDS", value="all"),))
    settings = SettingsInForce(isolation=OFF, manufacturers=override(MANUFACTURERS, ACME))

    assert shut_gate(seen(box)) is None
    assert shut_gate(seen(box, settings=settings)) is not None


def test_variables_that_narrow_inside_the_container_are_the_users() -> None:
    box = instance(env=(EnvVar(name="CUDA_VISIBLE_DEVICES", value="0"),))

    assert shut_gate(seen(box)) is None


@pytest.mark.parametrize(
    ("prefix", "held"), [("NVIDIA_", True), ("N", True), ("APP_", False), ("", False)]
)
def test_a_prefix_that_could_make_a_reserved_name_is_told(prefix: str, *, held: bool) -> None:
    source = EnvFromSource(prefix=prefix, configMapRef=OptionalReference(name="settings"))
    told = shut_gate(seen(instance(envFrom=(source,))))

    assert held == (told is not None and told.reason == "ReservedVariable")
