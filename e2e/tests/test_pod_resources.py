"""The exporter's reader of the kubelet's pod-resources socket, beside the kubelet's own client."""

import asyncio
from pathlib import Path
from typing import Any

import attrs

from e2e.cluster import until
from e2e.node import RealNode
from e2e.node.layout import NODE
from e2e.tests.keys import User
from e2e.tests.team import Team
from gpustack_ctrl.api.codec import from_wire
from gpustack_ctrl.api.core import Pod
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.exporter.pod_resources import SOCKET, device_grants_at
from gpustack_ctrl.metering.accelerators.attribution import Seen, attribute
from gpustack_ctrl.metering.accelerators.grants import DeviceGrant, Makers
from gpustack_ctrl.metering.accelerators.mapping import MappedAdapter, parse_mapping
from gpustack_ctrl.metering.accelerators.readings import DeviceSample, Mode
from gpustack_ctrl.metering.accelerators.tenants import PodRef


def read(node: RealNode) -> tuple[DeviceGrant, ...]:
    """What our reader is told, by the socket inside the node."""
    root = Path(f"/proc/{node.box.process('init')}/root")
    return asyncio.run(device_grants_at(root / SOCKET.relative_to("/")))


def told(node: RealNode) -> list[tuple[object, ...]]:
    """What the client of the kubelet's own module is told."""
    return sorted(attrs.astuple(one) for one in node.holdings())


def test_the_reader_is_told_what_the_kubelets_own_client_is(team: Team, user: User) -> None:
    """Whole cards, a share, a slice and a partition, each with the login's look beside it."""
    team.add_keys("me", user.public)
    asked: dict[str, dict[str, Any]] = {
        "whole": {"accelerator": "2"},
        "shared": {"acceleratorShared": True},
        "sliced": {"acceleratorSlicedMemoryPercentage": 25},
        "parted": {"acceleratorPartitionedProfile": "3g.40gb"},
    }
    login = {"sshPublicKey": {"name": "me"}, "ports": [{"port": 22}]}
    for name, resources in asked.items():
        small = {**resources, "cpu": "100m", "ram": "32Mi"}
        team.running(name, type="nvidia", resources=small, **login)

    grants = read(team.node)

    assert told(team.node) == sorted(attrs.astuple(grant) for grant in grants)
    makers = Makers()
    own = [grant for grant in grants if grant.namespace == team.namespace]
    given = {
        (grant.pod, makers.given(grant.resource)) for grant in own if grant.container == "main"
    }
    modes = {(pod, held.mode) for pod, held in given if held}
    assert {
        ("whole", Mode.EXCLUSIVE),
        ("shared", Mode.SHARED),
        ("sliced", Mode.SLICED),
        ("parted", Mode.PARTITIONED),
    } == modes
    looks = [grant for grant in own if grant.container == "sshd"]
    assert looks, "every login has a look"
    assert {None} == {makers.given(grant.resource) for grant in looks}


def test_without_accelerators_nothing_is_told(team: Team) -> None:
    team.running("plain")

    assert told(team.node) == sorted(attrs.astuple(grant) for grant in read(team.node))
    assert not [grant for grant in read(team.node) if grant.pod == "plain"]


def seen(team: Team, samples: tuple[DeviceSample, ...]) -> Seen:
    """All that an exporter on the node knows, from the real API server and kubelet."""
    pods = team.node.api().get(f"/api/v1/namespaces/{team.namespace}/pods")["items"]
    summary = team.node.api().get(f"/api/v1/nodes/{NODE}/proxy/stats/summary")
    refs = [one["podRef"] for one in summary["pods"]]
    boxes = [team.instance(pod["metadata"]["name"])["metadata"] for pod in pods]
    return Seen(
        instances={box["uid"]: ObjectKey(box["namespace"], box["name"]) for box in boxes},
        pods=tuple(from_wire(pod, Pod) for pod in pods),
        running=tuple(PodRef(ref["namespace"], ref["name"], ref["uid"]) for ref in refs),
        samples=samples,
        grants=read(team.node),
    )


def page(manufacturer: str, used: int) -> tuple[DeviceSample, ...]:
    """What a source tells of the simulated cards of *manufacturer*, none of it by Pod."""
    mapping = (
        f"{{manufacturer: {manufacturer}, labels: {{id: id}}, "
        "figures: {memory_used_bytes: {family: card_memory_used}}}"
    )
    lines = "".join(f'card_memory_used{{id="device-{card}"}} {used}\n' for card in range(8))
    return MappedAdapter(parse_mapping(mapping, "simulated.yaml")).read(lines)


def test_each_instance_is_told_its_own_card(team: Team, user: User) -> None:
    """The simulated cards of both manufacturers have the same ids; figures do not cross."""
    team.add_keys("me", user.public)
    login = {"sshPublicKey": {"name": "me"}, "ports": [{"port": 22}]}
    uids = {
        manufacturer: team.running(f"box-{manufacturer}", type=manufacturer, **login)
        for manufacturer in ("nvidia", "amd")
    }
    samples = page("nvidia", 100) + page("amd", 200)

    until(lambda: len(attribute(seen(team, samples)).readings) == len(uids), "not measured yet")
    told = attribute(seen(team, samples)).readings

    for manufacturer, used in (("nvidia", 100), ("amd", 200)):
        (reading,) = told[uids[manufacturer]["metadata"]["uid"]]
        assert (manufacturer, Mode.EXCLUSIVE, used) == (
            reading.manufacturer,
            reading.mode,
            reading.memory_used_bytes,
        )
