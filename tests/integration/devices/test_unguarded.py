"""R21, R26: an API server that lost every rule of ours, and one without a free node port."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from e2e.cluster import ApiStatusError, Cluster, Fleet, running, until
from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import ObjectKey
from tests.integration.devices.fleet import blocked
from tests.integration.world import World

FIRST, LAST = 30000, 32767
AT_ONCE = 900
RULES = "x-kubernetes-validations"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A cluster of its own, since its CRDs are mutilated and its node ports used up."""
    with running(Fleet(nodes=1)) as started:
        yield started


def without_rules(schema: Any) -> Any:
    """*schema* without the rules at any depth."""
    if isinstance(schema, list):
        return [without_rules(entry) for entry in schema]
    if isinstance(schema, dict):
        return {key: without_rules(held) for key, held in schema.items() if key != RULES}
    return schema


@pytest.fixture
def lawless(cluster: Cluster, world: World) -> None:
    """The CRD of Instances, without a single rule."""
    api, path = cluster.api(), names.CRD.path(ObjectKey("", names.INSTANCE.full_name))
    versions = without_rules(api.get(path)["spec"]["versions"])
    api.patch(path, {"spec": {"versions": versions}})
    body = {
        "apiVersion": names.INSTANCE.api_version,
        "kind": names.INSTANCE.kind,
        "metadata": {"name": "probe"},
        "spec": {"type": "any", "image": "x", "resources": {"acceleratorSlicedCoresPercentage": 1}},
    }

    def takes_all() -> bool:
        try:
            api.post(f"{names.INSTANCE.collection(world.namespace)}?dryRun=All", body)
        except ApiStatusError:
            return False
        return True

    until(takes_all, "the API server still has the rules")


UNSAFE: Mapping[str, tuple[Mapping[str, Any], str, str]] = {
    "devices": (
        {"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]},
        "admission",
        "ReservedVariable",
    ),
    "logins": (
        {"env": [{"name": "GPUSTACK_INSTANCE_CONTAINER", "value": "sshd"}]},
        "admission",
        "ReservedVariable",
    ),
    "two families": (
        {
            "resources": {
                "acceleratorShared": True,
                "acceleratorPartitionedProfile": "3g.40gb",
            }
        },
        "type",
        "InvalidAccelerator",
    ),
    "half a card": ({"resources": {"accelerator": "500m"}}, "type", "InvalidAccelerator"),
    "privileged": ({"privileged": True}, "admission", "HostAccessDenied"),
}


@pytest.mark.usefixtures("operator", "lawless")
@pytest.mark.parametrize(("spec", "gate", "reason"), UNSAFE.values(), ids=UNSAFE)
async def test_r21_without_any_rule_in_the_api_server_an_unsafe_spec_still_makes_no_pod(
    world: World, spec: Mapping[str, Any], gate: str, reason: str
) -> None:
    await world.instance(**spec)
    await blocked(world, gate, reason)

    assert await world.find(names.POD, "box") is None


@pytest.fixture
def used_up(cluster: Cluster, namespace: str) -> None:
    """Every node port of the cluster, held by a tenant."""
    api, free = cluster.api(), list(range(FIRST, LAST + 1))
    for number, start in enumerate(range(0, len(free), AT_ONCE)):
        held = free[start : start + AT_ONCE]
        ports = [{"name": f"p{port}", "port": port, "nodePort": port} for port in held]
        spec = {"type": "NodePort", "ports": ports}
        api.post(
            f"/api/v1/namespaces/{namespace}/services",
            {"metadata": {"name": f"greedy-{number}"}, "spec": spec},
        )


@pytest.mark.usefixtures("used_up", "operator")
async def test_r26_that_no_node_port_is_left_is_told_and_ends_when_one_is(world: World) -> None:
    await world.instance(ports=[{"port": 8080}])
    told = await blocked(world, "ports", "NodePortsExhausted")

    assert "failed to allocate a nodePort" in told["message"]
    assert "quota on services.nodeports" in told["message"]

    await world.delete(names.SERVICE, "greedy-0")
    instance = await world.is_in_phase("Ready")

    assert instance["status"]["ports"][0]["nodePort"] in range(FIRST, FIRST + AT_ONCE)
