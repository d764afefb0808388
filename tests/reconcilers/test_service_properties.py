"""S2 S4 S5: node ports follow identity, whatever the sequence of edits."""

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.core import Service
from gpustack_ctrl.api.ports import InstancePort
from gpustack_ctrl.reconcilers import service
from tests.helpers.builders import TCP_22, instance, ports
from tests.helpers.service_life import NodePorts, ServiceLife
from tests.helpers.strategies import Identities, labelled_ports, port_lists
from tests.reconcilers.resource_strategies import unhurried

edits = st.lists(labelled_ports, min_size=1, max_size=4)
MEDDLING: dict[str, Callable[[ServiceLife], None]] = {
    "delete it": ServiceLife.lose_service,
    "drop its ports but one": lambda life: life.meddle(
        {"spec": {"ports": codec.to_wire(life.service)["spec"]["ports"][:1]}}
        if life.service
        else {}
    ),
    "let the server choose again": lambda life: life.meddle(
        {"spec": {"ports": [{"port": port, "protocol": protocol} for port, protocol in life.held]}}
    ),
    "widen the selector": lambda life: life.meddle({"spec": {"selector": {"app": "all"}}}),
    "turn the selector": lambda life: life.meddle({"spec": {"selector": {names.PART_OF: "x"}}}),
    "remove its owner": lambda life: life.meddle({"metadata": {"ownerReferences": None}}),
    "make it a cluster IP": lambda life: life.meddle({"spec": {"type": "ClusterIP"}}),
    "publish ends": lambda life: life.meddle({"spec": {"publishNotReadyAddresses": True}}),
    "drop the note": lambda life: life.meddle({"metadata": {"annotations": None}}),
    "spoil the note": lambda life: life.meddle({"metadata": {"annotations": {names.PORTS: "x"}}}),
}  # fmt: skip


def _owners(life: ServiceLife) -> list[Any]:
    return list(codec.to_wire(life.service)["metadata"]["ownerReferences"]) if life.service else []


def identities(held: tuple[InstancePort, ...]) -> set[object]:
    return {port.identity for port in held}


@given(edits=edits)
@unhurried
def test_s4_node_ports_follow_identity_over_any_sequence_of_edits(
    edits: list[tuple[InstancePort, ...]],
) -> None:
    life = ServiceLife()
    for wanted in edits:
        before, uid = life.told, life.uid

        life.edit(stop=True, ports=wanted)
        life.settle()

        assert (before, uid) == (life.told, life.uid)

        life.edit(stop=False)
        life.settle()

        assert identities(wanted) == set(life.told)
        assert life.told == life.held
        assert None not in life.told.values()
        assert {at: before[at] for at in before if at in life.told} == {
            at: life.told[at] for at in before if at in life.told
        }
        if before and wanted:
            assert uid == life.uid


@given(before=labelled_ports, after=labelled_ports)
@unhurried
def test_s4_one_write_converges(
    before: tuple[InstancePort, ...], after: tuple[InstancePort, ...]
) -> None:
    life = ServiceLife()
    life.edit(stop=False, ports=before)
    life.settle()
    life.edit(stop=False, ports=after)

    assert len(life.one_pass()) <= 1
    assert () == life.one_pass()


@given(wanted=port_lists, wrote=st.booleans())
@unhurried
def test_s2_a_stop_before_the_status_was_told_keeps_the_node_ports(
    *, wanted: Identities, wrote: bool
) -> None:
    life = ServiceLife(instance=instance(ports=ports(*wanted)))
    life.api.perform(service.plan(life.observe()))
    held = life.held
    if wrote:
        life.one_pass()
    life.edit(stop=True, ports=())

    life.settle()

    assert held == life.held == life.told


@given(before=port_lists, after=port_lists.filter(bool))
@unhurried
def test_s4_a_stop_before_a_start_was_told_keeps_what_that_start_made(
    before: Identities, after: Identities
) -> None:
    life = ServiceLife(instance=instance(ports=ports(*before)))
    life.settle()
    life.edit(stop=False, ports=ports(*after))
    life.api.perform(service.plan(life.observe()))
    held = life.held
    life.edit(stop=True, ports=())

    life.settle()

    assert held == life.held == life.told


@given(wanted=port_lists.filter(bool), stop=st.booleans(), deed=st.sampled_from(sorted(MEDDLING)))
@unhurried
def test_s5_whatever_somebody_did_to_the_service_it_comes_back_as_promised(
    *, wanted: Identities, stop: bool, deed: str
) -> None:
    life = ServiceLife(instance=instance(ports=ports(*wanted)))
    life.settle()
    promised: NodePorts = life.told
    before = _shape(life.service)
    life.edit(stop=stop)
    life.settle()

    MEDDLING[deed](life)
    actions = life.settle()

    assert actions <= 1
    assert promised == life.held == life.told
    assert before == _shape(life.service)


def test_s3_an_owner_that_others_add_is_left_alone() -> None:
    life = ServiceLife(instance=instance(ports=ports(TCP_22)))
    life.settle()
    other = {"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": "uid-of-other"}
    life.meddle({"metadata": {"ownerReferences": [*_owners(life), other]}})

    assert 0 == life.settle()
    assert ["Instance", "ConfigMap"] == [held["kind"] for held in _owners(life)]


def _shape(held: Service | None) -> Any:
    """All that we say of a Service, without what tells one write from another."""
    wire = codec.to_wire(held)
    wire["metadata"] = {
        name: value
        for name, value in wire["metadata"].items()
        if name not in ("uid", "resourceVersion")
    }
    return wire


@given(wanted=labelled_ports, order=st.randoms(use_true_random=False))
@unhurried
def test_s4_the_service_does_not_depend_on_the_order_or_the_names_of_ports(
    wanted: tuple[InstancePort, ...], order: Any
) -> None:
    shuffled = list(wanted)
    order.shuffle(shuffled)
    nameless = tuple(InstancePort(port=it.port, protocol=it.protocol) for it in shuffled)

    assert service.desired(instance(ports=wanted), None) == service.desired(
        instance(ports=nameless), None
    )


@given(wanted=port_lists)
@unhurried
def test_s4_ports_of_a_service_have_unique_names_and_numbers(wanted: Identities) -> None:
    life = ServiceLife(instance=instance(ports=ports(*wanted)))
    life.settle()
    held = life.service.spec.ports if life.service else ()

    assert len(wanted) == len({port.name for port in held}) == len(set(life.held.values()))
