"""N2: the exact shape of the policy, and what counts as having it."""

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.api import codec
from gpustack_ctrl.reconcilers.isolation.cidrs import CIDRError, in_place, parse_cidrs, render
from tests.helpers.builders import ON, ending, policy
from tests.reconcilers.resource_strategies import unhurried

Wire = dict[str, Any]

V4 = {"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.244.0.0/16", "192.168.0.0/16"]}}
V6 = {"ipBlock": {"cidr": "::/0", "except": ["fd00:10:244::/48"]}}


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("192.168.0.0/16,10.244.0.0/16", [V4]),
        ("fd00:10:244::/48", [V6]),
        ("fd00:10:244::/48,192.168.0.0/16,10.244.0.0/16", [V4, V6]),
    ],
    ids=["IPv4", "IPv6", "both"],
)
def test_n2_the_policy_has_this_shape_and_no_other(text: str, blocks: list[Wire]) -> None:
    assert {
        "podSelector": {"matchLabels": {"resource.gpustack.ai/type": "instances"}},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": [{"podSelector": {}}, *blocks]}],
        "egress": [
            {"to": [{"podSelector": {}}, *blocks]},
            {"ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]},
        ],
    } == render(parse_cidrs(text))


_bytes = st.integers(0, 255)
_v4 = st.builds("{}.{}.0.0/{}".format, st.integers(1, 223), _bytes, st.integers(9, 24))
_v6 = st.builds("fd{:02x}:{:x}::/{}".format, _bytes, st.integers(0, 9), st.integers(9, 64))
pools = st.lists(_v4 | _v6, min_size=1, max_size=5)


@given(entries=pools, order=st.randoms(use_true_random=False))
@unhurried
def test_n6_the_order_and_repetition_of_entries_change_no_byte(
    entries: list[str], order: Any
) -> None:
    shuffled = entries + entries[:1]
    order.shuffle(shuffled)

    first, second = parse_cidrs(",".join(entries)), parse_cidrs(" , ".join(shuffled).upper())

    assert codec.encode(render(first)) == codec.encode(render(second))


@given(entries=pools)
@unhurried
def test_n6_what_a_value_is_read_as_is_read_as_itself(entries: list[str]) -> None:
    read = parse_cidrs(",".join(entries))

    assert read == parse_cidrs(str(read))


@given(entries=pools)
@unhurried
def test_n2_no_rule_is_ever_open_to_everyone_and_every_exception_is_a_strict_part(
    entries: list[str],
) -> None:
    spec = render(parse_cidrs(",".join(entries)))
    rules = [spec["ingress"][0]["from"], spec["egress"][0]["to"]]

    for peers in rules:
        assert {"podSelector": {}} == peers[0]
        for peer in peers[1:]:
            assert peer["ipBlock"]["except"]
            assert peer["ipBlock"]["cidr"] not in peer["ipBlock"]["except"]


@given(text=st.text(alphabet="0123456789abcdef:./, ", max_size=20))
@unhurried
def test_n6_a_value_is_either_read_or_refused_and_nothing_else(text: str) -> None:
    try:
        read = parse_cidrs(text)
    except CIDRError:
        return

    assert bool(read) == bool(text.strip())


DRIFT: dict[str, Wire] = {
    "a peer more": {"ingress": [{"from": [{"podSelector": {}}, {"namespaceSelector": {}}]}]},
    "open ingress": {"ingress": [{}]},
    "no ingress": {"ingress": []},
    "a rule more": {"egress": [*render(ON)["egress"], {}]},
    "egress left to the default": {"policyTypes": ["Ingress"]},
    "other Pods": {"podSelector": {"matchLabels": {"app": "x"}}},
    "more of a selector": {
        "podSelector": render(ON)["podSelector"]
        | {"matchExpressions": [{"key": "x", "operator": "Exists"}]}
    },
    "another selector of Pods": {"podSelector": {}},
    "a field that is not ours": {"priority": 5},
}


@pytest.mark.parametrize("edit", DRIFT.values(), ids=DRIFT)
def test_n4_an_edited_policy_is_not_in_place(edit: Wire) -> None:
    held = policy(ON)

    assert in_place(held, ON)
    assert not in_place(attrs.evolve(held, spec={**held.spec, **edit}), ON)


def test_n2_a_policy_of_other_cidrs_or_on_its_way_out_is_not_in_place() -> None:
    assert not in_place(policy(parse_cidrs("10.0.0.0/8")), ON)
    assert not in_place(ending(policy(ON)), ON)
    assert not in_place(None, ON)
