"""Who is woken by whose change."""

from collections.abc import Callable, Iterable
from typing import Any

import attrs
import pytest

from gpustack_ctrl.api.core import RuntimeClass
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.controllers.caches import Caches
from gpustack_ctrl.controllers.triggers import (
    InstanceTriggers,
    IsolationTriggers,
    instance_changed,
    isolation_setting,
    node_changed,
    pod_changed,
)
from gpustack_ctrl.reconcilers.settings.catalogue import ISOLATION, OVERCOMMIT
from gpustack_ctrl.runtime.informer import Event
from gpustack_ctrl.runtime.store import Store
from tests.helpers.builders import (
    TCP_80,
    condition,
    ending,
    instance,
    instance_type,
    meta,
    node,
    owner,
    pod_of,
    policy,
    ports,
    promised,
    remade,
    service_of,
    setting,
)
from tests.helpers.memory_world import INDEXERS, KINDS

BOX = instance(ports=ports(TCP_80), status=promised(tcp80=30080))
PINNED = instance(name="pinned", uid="uid-of-pinned", nodeName="node-1", type="large")
TEAM = ObjectKey("", "team")
POD = pod_of(BOX)
SERVICE = service_of(BOX, (TCP_80, 30080))
FOREIGN = remade(SERVICE, name="web", namespace="other", ownerReferences=())


def caches(**held: Iterable[Any]) -> Caches:
    """Caches that hold two Instances, and what else is said."""
    stores: dict[str, Store[Any]] = {name: Store(INDEXERS.get(name)) for name in KINDS}
    for name, objects in {"instances": (BOX, PINNED), **held}.items():
        stores[name].replace(objects, resource_version="1")
    return Caches(**stores)


BY = InstanceTriggers(caches(pods=(POD,)))
ISOLATION_BY = IsolationTriggers(caches(policies=(policy(), remade(policy(), namespace="left"))))
WAKES: dict[str, tuple[Callable[[], Iterable[ObjectKey]], set[ObjectKey]]] = {
    "a Pod of ours": (lambda: BY.by_child(POD), {BOX.key}),
    "a Pod of ours under another name": (
        lambda: BY.by_child(remade(POD, name="box-2")), {BOX.key},
    ),
    "a stranger under our name": (
        lambda: BY.by_child(remade(POD, ownerReferences=(owner("ReplicaSet"),))), {BOX.key},
    ),
    "a Pod of nobody we know": (
        lambda: BY.by_child(remade(POD, name="x", ownerReferences=())), set(),
    ),
    "a Pod of another kind of owner": (
        lambda: BY.by_child(remade(POD, name="x", ownerReferences=(owner("Job"),))), set(),
    ),
    "a Service of ours": (lambda: BY.by_service(SERVICE), {BOX.key}),
    "a Service that holds a node port that was promised": (
        lambda: BY.by_service(FOREIGN), {BOX.key},
    ),
    "a Service that holds another node port": (
        lambda: BY.by_service(attrs.evolve(FOREIGN, spec=service_of(BOX, (TCP_80, 31000)).spec)),
        set(),
    ),
    "a type": (lambda: BY.by_type(instance_type(name="large")), {PINNED.key}),
    "a type that nobody has": (lambda: BY.by_type(instance_type(name="huge")), set()),
    "a policy": (lambda: BY.by_policy(policy()), {BOX.key, PINNED.key}),
    "a policy of another namespace": (
        lambda: BY.by_policy(remade(policy(), namespace="other")), set(),
    ),
    "a node that runs or is named": (lambda: BY.by_node(node("node-1")), {BOX.key, PINNED.key}),
    "another node": (lambda: BY.by_node(node("node-2")), set()),
    "a runtime class": (
        lambda: BY.by_anything(RuntimeClass(metadata=meta("kata", ""))), {BOX.key, PINNED.key},
    ),
    "isolation, by an Instance": (lambda: ISOLATION_BY.by_namespaced(BOX), {TEAM}),
    "isolation, by its Setting": (
        lambda: ISOLATION_BY.by_setting(setting(ISOLATION.name, "")), {TEAM, ObjectKey("", "left")},
    ),
    "isolation, by another Setting": (
        lambda: ISOLATION_BY.by_setting(setting(OVERCOMMIT.name, "")), set(),
    ),
    "the isolation Setting, by a node": (
        lambda: isolation_setting("system")(node()), {ObjectKey("system", ISOLATION.name)},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("woken", "expected"), WAKES.values(), ids=WAKES)
def test_a_change_wakes_whom_it_concerns(
    woken: Callable[[], Iterable[ObjectKey]], expected: set[ObjectKey]
) -> None:
    assert expected == set(woken())


def test_the_index_of_pods_knows_only_children_of_instances() -> None:
    stranger = remade(POD, name="x", ownerReferences=(owner("Job"),))
    held = caches(pods=(stranger, pod_of(PINNED, node="")))

    assert [] == list(InstanceTriggers(held).by_node(node("node-2")))
    assert {PINNED.key} == set(InstanceTriggers(held).by_node(node("node-1")))


def test_s5_the_holder_of_a_node_port_is_another_service() -> None:
    held = caches(services=(SERVICE, FOREIGN))

    assert FOREIGN.key == held.holder_of(30080, other_than=SERVICE.key)
    assert caches(services=(SERVICE,)).holder_of(30080, other_than=SERVICE.key) is None


def update(old: Any, new: Any) -> Any:
    return Event(old=old, new=new)


HEARTBEAT = attrs.evolve(condition("Ready", "True"), lastTransitionTime="2026-11-30T11:30:00Z")
QUIET = attrs.evolve(node(), status=attrs.evolve(node().status, conditions=(HEARTBEAT,)))


@pytest.mark.parametrize(
    ("predicate", "old", "new", "expected"),
    [
        (instance_changed, BOX, remade(BOX, labels={"x": "1"}), False),
        (instance_changed, BOX, instance(stop=True), True),
        (instance_changed, BOX, ending(BOX), True),
        (pod_changed, POD, remade(POD, resourceVersion="8"), False),
        (pod_changed, POD, remade(POD, labels={}), True),
        (pod_changed, POD, remade(POD, ownerReferences=()), True),
        (pod_changed, POD, pod_of(BOX, ready=False), True),
        (pod_changed, POD, ending(POD), True),
        (node_changed, node(), QUIET, False),
        (node_changed, node(), node(ready="Unknown"), True),
        (node_changed, node(), node(addresses=["192.0.2.1"]), True),
        (node_changed, node(), remade(node(), labels={"kubernetes.io/hostname": "h"}), True),
        (node_changed, node(), remade(node(), labels={"other": "h"}), False),
    ],
)
def test_only_changes_that_matter_pass(
    predicate: Callable[[Any], bool], old: Any, new: Any, *, expected: bool
) -> None:
    assert expected is predicate(update(old, new))
