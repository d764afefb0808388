"""N6: which values of the isolation Setting are taken, and which are refused as a whole."""

import pytest

from gpustack_ctrl.reconcilers.isolation.cidrs import MOST_NETWORKS, OFF, CIDRError, parse_cidrs


def read(text: str) -> list[str]:
    return [str(network) for network in parse_cidrs(text).networks]


@pytest.mark.parametrize("text", ["", " ", "\t\n", "   \n "])
def test_n1_a_blank_value_switches_isolation_off(text: str) -> None:
    assert OFF == parse_cidrs(text)
    assert not parse_cidrs(text)


TAKEN = {
    "10.244.0.0/16": ["10.244.0.0/16"],
    "10.244.0.0/16, FD00::/8": ["10.244.0.0/16", "fd00::/8"],
    "FD00:0:0::/48,10.244.0.0/16": ["10.244.0.0/16", "fd00::/48"],
    " 10.244.0.0/16\n": ["10.244.0.0/16"],
    "10.244.5.7/16": ["10.244.0.0/16"],
    "fd00::1/64": ["fd00::/64"],
    "10.0.0.0/8,10.0.0.0/8": ["10.0.0.0/8"],
    "10.1.0.0/16,10.0.0.0/16,10.0.3.0/24": ["10.0.0.0/15"],
    "192.168.0.0/16,10.0.0.0/8": ["10.0.0.0/8", "192.168.0.0/16"],
    "fd01::/16,fd00::/16": ["fd00::/15"],
    "10.244.0.9/32": ["10.244.0.9/32"],
    "fd00::9/128": ["fd00::9/128"],
    "0.0.0.0/1": ["0.0.0.0/1"],
    "10.0.0.0/08": ["10.0.0.0/8"],
}


@pytest.mark.parametrize(("text", "expected"), TAKEN.items(), ids=repr)
def test_n6_a_good_value_is_read_into_its_minimal_cover(text: str, expected: list[str]) -> None:
    assert expected == read(text)


REFUSED = {
    "a comma alone": ",",
    "a comma at the end": "10.244.0.0/16,",
    "a comma at the start": ",10.244.0.0/16",
    "two commas": "10.244.0.0/16,,fd00::/8",
    "no length": "10.0.0.0",
    "no length after a good one": "10.244.0.0/16,10.0.0.0",
    "an empty length": "10.0.0.0/",
    "a netmask": "10.0.0.0/255.0.0.0",
    "a hostmask": "10.0.0.0/0.255.255.255",
    "too long a prefix": "10.0.0.0/33",
    "too long a prefix of IPv6": "fd00::/129",
    "a negative prefix": "10.0.0.0/-8",
    "a zone": "fe80::1%eth0/64",
    "leading zeros": "010.0.0.0/8",
    "full-width digits": "１０.0.0.0/8",  # noqa: RUF001 - that is the point.
    "Arabic digits": "10.0.0.0/١٦",
    "a semicolon": "10.0.0.0/8;fd00::/8",
    "a space between": "10.0.0.0/8 fd00::/8",
    "a pasted jsonpath": '["10.244.0.0/24"] ["10.244.1.0/24"]',
    "quotes": '"10.244.0.0/16"',
    "a name": "pods",
    "three parts": "10.0.0/8",
    "too large a part": "10.0.0.256/24",
    "all of IPv4": "0.0.0.0/0",
    "all of IPv6": "::/0",
    "all of IPv4, in halves": "0.0.0.0/1,128.0.0.0/1",
    "all of IPv6 beside a good one": "10.0.0.0/8,::/0",
    "an IPv4-mapped address": "::ffff:10.0.0.0/104",
    "an IPv4-mapped address in hex": "::ffff:a00:0/104",
    "a decimal prefix": "10.0.0.0/8.0",
    "a second slash": "10.0.0.0/8/8",
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_n6_any_other_value_is_refused_as_a_whole(text: str) -> None:
    with pytest.raises(CIDRError):
        parse_cidrs(text)


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_n6_one_bad_entry_refuses_the_good_ones_beside_it(text: str) -> None:
    with pytest.raises(CIDRError):
        parse_cidrs(f"172.16.0.0/12,{text}")


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("10.0.0.0", "write address/length, such as 10.244.0.0/16"),
        ("10.0.0.0/33", "'10.0.0.0/33' is not a CIDR"),
        ("0.0.0.0/0", "name the Pod CIDRs only"),
        ("::ffff:10.0.0.0/104", "write it as IPv4"),
    ],
)
def test_n6_a_refusal_names_the_entry_and_the_remedy(text: str, remedy: str) -> None:
    with pytest.raises(CIDRError) as told:
        parse_cidrs(text)

    assert remedy in str(told.value)


def scattered(number: int) -> str:
    """So many networks that no two of them collapse."""
    return ",".join(f"10.{index // 128}.{index % 128 * 2}.0/24" for index in range(number))


def test_n6_as_many_networks_are_taken_as_all_back_ends_cope_with() -> None:
    assert MOST_NETWORKS == 256 == len(read(scattered(256)))

    with pytest.raises(CIDRError, match=r"257 separate networks .* name the pool"):
        parse_cidrs(scattered(257))


def test_n6_networks_count_after_they_are_collapsed() -> None:
    assert ["10.0.0.0/15"] == read(",".join(f"10.{i // 256}.{i % 256}.0/24" for i in range(512)))


def test_an_address_is_covered_by_its_own_family_alone() -> None:
    cidrs = parse_cidrs("10.244.0.0/16,fd00::/8")

    assert cidrs.cover("10.244.255.255")
    assert cidrs.cover("fd12::1")
    assert not cidrs.cover("10.245.0.0")
    assert not cidrs.cover("fe80::1%eth0")
    assert not parse_cidrs("10.244.0.0/16").cover("fd00::1")
    assert not cidrs.cover("no address")
