"""N4 N5: over any life of a policy, one write converges and a tenant's own comes back exactly."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.core import NetworkPolicy
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.plan.actions import Plan
from gpustack_ctrl.reconcilers.isolation import network_policy
from gpustack_ctrl.reconcilers.isolation.cidrs import OFF, PodCIDRs, in_place, parse_cidrs
from gpustack_ctrl.reconcilers.snapshot import NamespaceSnapshot
from tests.helpers.memory_api import MemoryApi, Wire
from tests.reconcilers.resource_strategies import unhurried

KEY = ObjectKey("team", names.ISOLATION_POLICY)
ON = st.sampled_from(("10.244.0.0/16", "172.16.0.0/12,fd00::/48", "fd00::/8")).map(parse_cidrs)
cidrs = st.none() | st.just(OFF) | ON

peers = st.sampled_from(
    ({"podSelector": {}}, {"namespaceSelector": {}}, {"ipBlock": {"cidr": "0.0.0.0/0"}})
)
rules = st.lists(
    st.fixed_dictionaries({}, optional={"from": st.lists(peers, min_size=1, max_size=2)}),
    min_size=1,
    max_size=2,
)
specs: st.SearchStrategy[Wire] = st.fixed_dictionaries(
    {
        "podSelector": st.sampled_from(({}, {"matchLabels": {"app": "x"}})),
        "policyTypes": st.sampled_from((["Ingress"], ["Ingress", "Egress"])),
    },
    optional={"ingress": rules},
)
labels = st.sampled_from(({}, {"team": "x"}, {names.MANAGED_BY: "somebody"}))
edits: st.SearchStrategy[Wire] = st.sampled_from(
    (
        {"spec": {"ingress": [{}]}},
        {"spec": {"egress": None, "policyTypes": ["Ingress"]}},
        {"spec": {"podSelector": {"matchLabels": {"app": "x"}}}},
        {"metadata": {"labels": {"color": "blue"}}},
    )
)
stripping: st.SearchStrategy[Wire] = st.sampled_from(
    ({"metadata": {"labels": None}}, {"metadata": {"labels": {names.MANAGED_BY: None}}})
)


def held(api: MemoryApi) -> NetworkPolicy | None:
    return api.get(names.NETWORK_POLICY, KEY, NetworkPolicy)


def one_pass(api: MemoryApi, wanted: PodCIDRs | None, *, occupied: bool = True) -> Plan:
    """A pass over the namespace."""
    seen = NamespaceSnapshot(namespace="team", cidrs=wanted, occupied=occupied, policy=held(api))
    plan = network_policy.plan(seen)
    api.perform(plan)
    return plan


def edit(api: MemoryApi, patch: Wire) -> None:
    """Somebody edits the policy, if it is there."""
    if held(api) is not None:
        api.patch(names.NETWORK_POLICY, KEY, patch)


def written(api: MemoryApi, spec: Wire, marks: dict[str, str]) -> dict[str, Any]:
    """A tenant writes a policy of the name; what it says."""
    metadata = {"name": KEY.name, "namespace": KEY.namespace, "labels": marks}
    api.create(names.NETWORK_POLICY, {"metadata": metadata, "spec": spec})
    return said(api)


def said(api: MemoryApi) -> dict[str, Any]:
    """All that the policy says, without what tells one write from another."""
    wire = codec.to_wire(held(api))
    for name in ("resourceVersion", "generation"):
        wire["metadata"].pop(name)
    return wire


steps = st.lists(st.tuples(cidrs, st.none() | edits | stripping), max_size=4)


@given(steps=steps, spec=st.none() | specs, occupied=st.booleans())
@unhurried
def test_n4_one_write_converges_whatever_came_before(
    steps: list[tuple[PodCIDRs | None, Wire | None]], spec: Wire | None, *, occupied: bool
) -> None:
    api = MemoryApi()
    if spec is not None:
        written(api, spec, {})
    for wanted, change in steps:
        edit(api, change or {})

        assert len(one_pass(api, wanted, occupied=occupied)) <= 1
        assert () == one_pass(api, wanted, occupied=occupied)
        if wanted and occupied:
            assert in_place(held(api), wanted)


kept_edits = st.lists(st.tuples(ON, st.none() | edits), min_size=1, max_size=4)


@given(spec=specs, marks=labels, steps=kept_edits)
@unhurried
def test_n5_a_hand_written_policy_is_given_back_exactly(
    spec: Wire, marks: dict[str, str], steps: list[tuple[PodCIDRs, Wire | None]]
) -> None:
    api = MemoryApi()
    before = written(api, spec, marks)

    for wanted, change in steps:
        one_pass(api, wanted)
        edit(api, change or {})
    edit(api, {"metadata": {"labels": {"color": None}}})
    one_pass(api, OFF)

    assert before == said(api)
    assert () == one_pass(api, OFF)


@given(spec=specs, marks=labels, occupied=st.booleans())
@unhurried
def test_n5_without_a_setting_a_hand_written_policy_is_never_touched(
    spec: Wire, marks: dict[str, str], *, occupied: bool
) -> None:
    api = MemoryApi()
    before = written(api, spec, marks)

    for wanted in (OFF, None):
        assert () == one_pass(api, wanted, occupied=occupied)

    assert before == said(api)


@given(steps=st.lists(st.tuples(ON, st.none() | edits), min_size=1, max_size=4))
@unhurried
def test_n5_what_the_operator_rendered_is_collected_whatever_was_edited_in_it(
    steps: list[tuple[PodCIDRs, Wire | None]],
) -> None:
    api = MemoryApi()
    for wanted, change in steps:
        one_pass(api, wanted)
        edit(api, change or {})

    one_pass(api, OFF, occupied=False)

    assert held(api) is None
