"""N6: a value is taken as a whole or refused as a whole, and the Setting says which."""

import pytest

from gpustack_ctrl.api import names
from tests.integration.isolation.isolation_world import (
    PODS,
    POLICY,
    SETTING,
    Admin,
    isolated,
    isolating,
    no_policy,
    policy_says,
)
from tests.integration.isolation.watched_operator import WatchedOperator
from tests.integration.world import World, condition

MANY = ",".join(f"10.{n // 128}.{n % 128 * 2}.0/24" for n in range(257))
MOST = MANY.rpartition(",")[0]

REFUSED = {
    "comma": (",", "'' is not a CIDR: write address/length, such as 10.244.0.0/16"),
    "trailing comma": ("10.0.0.0/8,", "'' is not a CIDR"),
    "one of two": ("10.0.0.0/8,nonsense", "'nonsense' is not a CIDR"),
    "no length": ("10.0.0.0", "'10.0.0.0' is not a CIDR: write address/length"),
    "netmask": ("10.0.0.0/255.0.0.0", "'10.0.0.0/255.0.0.0' is not a CIDR: write"),
    "length 33": ("10.0.0.0/33", "'10.0.0.0/33' is not a CIDR: '33' is not a valid netmask"),
    "length 129": ("fd00::/129", "'fd00::/129' is not a CIDR"),
    "scope": ("fe80::1%eth0/64", "'fe80::1%eth0/64' is not a CIDR: write"),
    "leading zero": ("010.0.0.0/8", "'010.0.0.0/8' is not a CIDR: Leading zeros are not permitted"),
    "full-width digits": ("\uff11\uff10.0.0.0/8", "is not a CIDR: write"),
    "semicolon": ("10.0.0.0/8;10.1.0.0/16", "'10.0.0.0/8;10.1.0.0/16' is not a CIDR"),
    "pasted jsonpath": ('["10.244.0.0/24"] ["10.244.1.0/24"]', "is not a CIDR: write"),
    "all of IPv4": ("0.0.0.0/0", "0.0.0.0/0 leaves nothing outside: name the Pod CIDRs only"),
    "all of IPv6": ("::/0", "::/0 leaves nothing outside"),
    "all of IPv4 in two": ("0.0.0.0/1,128.0.0.0/1", "0.0.0.0/0 leaves nothing outside"),
    "all of IPv6 in two": ("::/1,8000::/1", "::/0 leaves nothing outside"),
    "IPv4-mapped": ("::ffff:10.0.0.0/104", "is an IPv4-mapped address: write it as IPv4"),
    "too many": (MANY, "257 separate networks are more than 256: name the pool"),
    "long": ("x" * 9000, "(9000 characters) is not a CIDR"),
}

ACCEPTED = {
    "spaces": ("  10.0.0.0/8 ,\tfd00::/8\n", "read as 10.0.0.0/8,fd00::/8"),
    "upper case": ("FD00::/8", "read as fd00::/8"),
    "not compressed": ("fd00:0:0::0/8", "read as fd00::/8"),
    "host bits": ("10.244.5.7/16", "read as 10.244.0.0/16"),
    "duplicates": ("10.0.0.0/8,10.0.0.0/8", "read as 10.0.0.0/8"),
    "overlap and neighbours": (
        "10.1.0.0/16,10.0.0.0/16,10.0.3.0/24",
        "read as 10.0.0.0/15",
    ),
    "order": ("fd00::/8,10.0.0.0/8", "read as 10.0.0.0/8,fd00::/8"),
    "canonical": ("10.0.0.0/8", ""),
    "many": (MOST, ""),
}


@pytest.mark.parametrize("row", REFUSED)
async def test_n6_a_bad_value_is_refused_as_a_whole_and_changes_nothing(
    world: World, operator: WatchedOperator, admin: Admin, row: str
) -> None:
    value, sentence = REFUSED[row]
    policy = await isolated(world, admin)
    refused = await admin.wish(value)
    accepted = condition(refused, "Accepted")

    assert "False" == accepted["status"]
    assert "InvalidValue" == accepted["reason"]
    assert sentence in accepted["message"]
    assert f"still in force: '{PODS}'" in accepted["message"]
    assert PODS == refused["status"]["value"]
    assert "True" == condition(refused, "InForce")["status"]

    await operator.another_pass(world)
    await operator.restart()
    await operator.another_pass(world)

    assert policy == await world.get(names.NETWORK_POLICY, POLICY)
    assert refused == await admin.told()


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize("row", ACCEPTED)
async def test_n6_a_good_value_is_accepted_and_the_setting_tells_how_it_is_read(
    admin: Admin, row: str
) -> None:
    value, note = ACCEPTED[row]
    setting = await admin.wish(value)
    accepted = condition(setting, "Accepted")

    assert ("True", "Accepted") == (accepted["status"], accepted["reason"])
    assert note == accepted.get("message", "")
    assert value == setting["status"]["value"]


async def test_n6_a_bad_value_written_while_the_operator_was_away_changes_nothing_either(
    world: World, operator: WatchedOperator, admin: Admin
) -> None:
    policy = await isolated(world, admin)
    await operator.kill()
    await admin.own.patch(names.SETTING, SETTING, {"spec": {"value": ","}})
    await operator.start()
    refused = await admin.told()
    await operator.another_pass(world)

    assert "False" == condition(refused, "Accepted")["status"]
    assert policy == await world.get(names.NETWORK_POLICY, POLICY)


@pytest.mark.usefixtures("operator")
async def test_n6_a_policy_is_still_looked_after_by_the_last_good_value(
    world: World, neighbour: World, admin: Admin
) -> None:
    await isolated(world, admin)
    await admin.wish("10.0.0.0/8,")
    await world.delete(names.NETWORK_POLICY, POLICY)
    await neighbour.instance(stop=True)

    await policy_says(world, isolating(PODS))
    await policy_says(neighbour, isolating(PODS))


@pytest.mark.usefixtures("operator")
async def test_n6_a_bad_value_after_a_long_good_one_is_told_all_the_same(admin: Admin) -> None:
    await admin.wish(MOST)
    refused = await admin.wish("10.0.0.0/8,")

    assert MOST == refused["status"]["value"]
    assert "'' is not a CIDR" in condition(refused, "Accepted")["message"]


@pytest.mark.usefixtures("operator")
async def test_n6_a_bad_value_while_isolation_is_off_leaves_it_off(
    world: World, admin: Admin
) -> None:
    await admin.wish("")
    refused = await admin.wish("10.0.0.0/8,")
    await world.instance()
    await world.is_in_phase("Ready")

    assert "" == refused["status"].get("value", "")
    assert {} == await admin.policies()


@pytest.mark.usefixtures("operator")
async def test_n6_a_corrected_value_takes_effect(world: World, admin: Admin) -> None:
    await isolated(world, admin)
    await admin.wish("10.0.0.0/8,")
    corrected = await admin.wish("10.0.0.0/8")

    assert "True" == condition(corrected, "Accepted")["status"]
    await policy_says(world, isolating("10.0.0.0/8"))

    await admin.wish("")
    await no_policy(world)
