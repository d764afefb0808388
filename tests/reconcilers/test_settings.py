"""N6 N7: the catalogue of Settings, and which value of each is in force."""

from typing import Any

import pytest

from gpustack_ctrl.api import names
from gpustack_ctrl.api.manufacturers import MANUFACTURERS
from gpustack_ctrl.api.meta import Condition, ObjectKey, condition_of
from gpustack_ctrl.api.setting import Setting, SettingStatus
from gpustack_ctrl.plan.actions import Create
from gpustack_ctrl.reconcilers.isolation.cidrs import OFF, parse_cidrs
from gpustack_ctrl.reconcilers.settings import in_force as settings
from gpustack_ctrl.reconcilers.settings.catalogue import CATALOGUE, ISOLATION, OVERCOMMIT
from gpustack_ctrl.reconcilers.settings.in_force import settings_in_force
from tests.helpers.builders import NOW, SINCE, condition, remade, setting

GOOD, BAD, OTHER = "10.244.0.0/16", "10.244.0.0", "172.16.0.0/12"


def stated(held: Setting, kind: str, **rest: Any) -> Condition | None:
    """The condition *kind* that the Setting should have."""
    return condition_of(settings.status(held, now=NOW, **rest).conditions, kind)


def telling(held: Setting, status: SettingStatus) -> Setting:
    """*held* with *status* written."""
    return Setting(metadata=held.metadata, spec=held.spec, status=status)


def brief(held: Setting, kind: str) -> tuple[str, str]:
    found = stated(held, kind)
    assert found is not None
    return found.status, found.reason


@pytest.mark.parametrize("name", CATALOGUE)
def test_n7_every_setting_is_seeded_by_its_own_variable(name: str) -> None:
    entry = CATALOGUE[name]

    assert f"GPUSTACK_{name.upper().replace('-', '_')}" == entry.variable
    assert name == entry.name


def test_n7_the_isolation_setting_is_seeded_by_the_variable_of_the_chart() -> None:
    assert "GPUSTACK_INSTANCE_ISOLATION_POD_CIDRS" == ISOLATION.variable


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_default_is_a_good_value_and_has_a_meaning(name: str) -> None:
    entry = CATALOGUE[name]

    entry.parse(entry.default)

    assert entry.meaning


def test_n1_by_default_isolation_is_off_and_nothing_of_the_host_is_open() -> None:
    defaults = [setting(entry.name, entry.default) for entry in CATALOGUE.values()]

    held = settings_in_force(defaults)

    assert (OFF, True, False, False) == (
        held.isolation, held.overcommit, held.privileged, held.host_paths,
    )  # fmt: skip
    assert MANUFACTURERS == held.manufacturers


@pytest.mark.parametrize(("seed", "value"), [(None, ""), ("", ""), (GOOD, GOOD), (BAD, BAD)])
def test_n7_a_missing_setting_is_made_from_its_seed_as_it_is(seed: str | None, value: str) -> None:
    key = ObjectKey("gpustack-system", ISOLATION.name)

    [action] = settings.plan(key, None, seed=seed)

    assert isinstance(action, Create)
    assert (names.SETTING, key) == (action.resource, action.key)
    assert value == action.body.get("spec", {}).get("value", "")


def test_n7_without_a_seed_a_setting_has_its_default() -> None:
    [action] = settings.plan(ObjectKey("gpustack-system", OVERCOMMIT.name), None, seed=None)

    assert isinstance(action, Create)
    assert {"value": "true"} == action.body["spec"]


def test_n7_a_setting_that_is_there_is_never_overwritten() -> None:
    held = setting(ISOLATION.name, "")

    assert () == settings.plan(held.metadata.key, held, seed=GOOD)


def test_a_setting_that_the_catalogue_does_not_know_is_not_made() -> None:
    assert () == settings.plan(ObjectKey("gpustack-system", "surprise"), None, seed="x")


IN_FORCE: dict[str, tuple[Setting | None, Any]] = {
    "missing": (None, None),
    "good": (setting(ISOLATION.name, GOOD), parse_cidrs(GOOD)),
    "blank": (setting(ISOLATION.name, ""), OFF),
    "blank after a good one": (setting(ISOLATION.name, "", last_good=GOOD), OFF),
    "bad from the start": (setting(ISOLATION.name, BAD), None),
    "bad after a good one": (setting(ISOLATION.name, BAD, last_good=GOOD), parse_cidrs(GOOD)),
    "bad after off": (setting(ISOLATION.name, BAD, last_good=""), OFF),
    "good after another": (setting(ISOLATION.name, OTHER, last_good=GOOD), parse_cidrs(OTHER)),
    "bad after what is bad by now": (setting(ISOLATION.name, BAD, last_good=BAD), None),
}


@pytest.mark.parametrize(("held", "expected"), IN_FORCE.values(), ids=IN_FORCE)
def test_n6_a_bad_value_changes_nothing(held: Setting | None, expected: Any) -> None:
    found = () if held is None else (held,)

    assert expected == settings_in_force(found).isolation


def test_n6_a_status_value_that_is_not_told_to_be_in_force_does_not_count() -> None:
    said = SettingStatus(value=GOOD, conditions=(condition("InForce", "False"),))
    held = setting(ISOLATION.name, BAD)

    assert settings_in_force([held]).isolation is None
    assert settings_in_force([telling(held, said)]).isolation is None


@pytest.mark.parametrize(
    ("value", "expected"), [("true", True), ("false", False), ("yes", True), ("False", True)]
)
def test_a_switch_is_true_or_false_and_by_default_on_where_nothing_good_is_known(
    value: str, *, expected: bool
) -> None:
    assert expected is settings_in_force([setting(OVERCOMMIT.name, value)]).overcommit


def test_a_bad_switch_keeps_the_last_good_value() -> None:
    assert not settings_in_force([setting(OVERCOMMIT.name, "no", last_good="false")]).overcommit


STATUS: dict[str, tuple[Setting, str, tuple[str, str], tuple[str, str]]] = {
    "good": (
        setting(ISOLATION.name, GOOD), GOOD, ("True", "Accepted"), ("True", "GoodValue"),
    ),
    "bad from the start": (
        setting(ISOLATION.name, BAD), "", ("False", "InvalidValue"), ("False", "NoGoodValue"),
    ),
    "bad after a good one": (
        setting(ISOLATION.name, BAD, last_good=GOOD),
        GOOD, ("False", "InvalidValue"), ("True", "GoodValue"),
    ),
    "bad after off": (
        setting(ISOLATION.name, BAD, last_good=""),
        "", ("False", "InvalidValue"), ("True", "GoodValue"),
    ),
    "blank": (
        setting(ISOLATION.name, "", last_good=GOOD),
        "", ("True", "Accepted"), ("True", "GoodValue"),
    ),
    "unknown": (
        setting("surprise", "x"), "", ("False", "UnknownSetting"), ("False", "NoGoodValue"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("held", "value", "accepted", "in_force"), STATUS.values(), ids=STATUS)
def test_n6_a_setting_tells_what_is_in_force_and_whether_the_wish_was_taken(
    held: Setting, value: str, accepted: tuple[str, str], in_force: tuple[str, str]
) -> None:
    told = settings.status(held, now=NOW)

    assert (value, 5) == (told.value, told.observedGeneration)
    assert accepted == brief(held, "Accepted")
    assert in_force == brief(held, "InForce")


def test_n6_a_refusal_says_what_is_wrong_and_what_stays_in_force() -> None:
    late = stated(setting(ISOLATION.name, BAD, last_good=GOOD), "Accepted")
    early = stated(setting(ISOLATION.name, BAD), "Accepted")

    assert late is not None
    assert early is not None
    assert "still in force: '10.244.0.0/16': '10.244.0.0' is not a CIDR" in late.message
    assert "nothing is in force yet" in early.message


def test_n6_a_value_that_is_read_another_way_says_how() -> None:
    found = stated(setting(ISOLATION.name, "10.244.5.7/16"), "Accepted")

    assert found is not None
    assert "read as 10.244.0.0/16" == found.message


def test_an_unknown_setting_is_told_which_there_are() -> None:
    found = stated(setting("surprise", "x"), "Accepted")

    assert found is not None
    assert ISOLATION.name in found.message
    assert "delete it" in found.message


def test_n6_a_warning_is_stated_only_where_there_is_one() -> None:
    held = setting(ISOLATION.name, GOOD)

    assert stated(held, "Warning") is None
    assert "covers a node" == getattr(
        stated(held, "Warning", warning="covers a node"), "message", 0
    )


@pytest.mark.parametrize("held", [row[0] for row in STATUS.values()], ids=STATUS)
def test_w6_a_status_that_is_written_is_told_again_unchanged(held: Setting) -> None:
    told = settings.status(held, now=NOW)

    assert told == settings.status(telling(held, told), now=NOW.replace(year=2030))


def test_w6_a_condition_keeps_its_time_while_its_status_stays() -> None:
    held = setting(ISOLATION.name, OTHER, last_good=GOOD)
    found = stated(held, "InForce")

    assert found is not None
    assert SINCE == found.lastTransitionTime


def test_n6_settings_of_other_names_do_not_count() -> None:
    other = remade(setting(ISOLATION.name, GOOD), name="instance-isolation")

    assert settings_in_force([other]).isolation is None


def test_a_last_good_value_that_cannot_be_read_any_more_is_in_force_no_longer() -> None:
    held = setting(ISOLATION.name, "nonsense", last_good="an older syntax")
    told = settings.status(held, now=NOW)

    assert settings.in_force(ISOLATION, held) is None
    assert "False" == next(one.status for one in told.conditions if one.type == "InForce")
