"""A write that the API server refuses is told in its words, and tried ever more seldom."""

import secrets
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import Resource
from tests.integration.operations.conftest import Maker
from tests.integration.proxy import Proxy
from tests.integration.test_ssh import KEY
from tests.integration.world import CLOCK, Operator, Wire, World, condition, until

QUOTA = Resource(group="", version="v1", kind="ResourceQuota", plural="resourcequotas")
LIMITS = Resource(group="", version="v1", kind="LimitRange", plural="limitranges")
RETRIES = 9
SHORTEST_WAIT = 0.00425
"""Of the first retry, in seconds; each further wait is twice as long."""


@pytest_asyncio.fixture
async def watched(proxy: Proxy, world: World, operator_namespace: str) -> AsyncIterator[Operator]:
    """The operator, all whose requests are seen."""
    held = Operator(str(proxy.kubeconfig), operator_namespace)
    await held.start()
    yield held
    await held.kill()


@pytest_asyncio.fixture
async def restricted(cluster: Cluster, world: World) -> AsyncIterator[World]:
    """A namespace in which Pods must be restricted."""
    name = f"test-{secrets.token_hex(4)}"
    cluster.add_namespace(name, labels={"pod-security.kubernetes.io/enforce": "restricted"})
    yield World(world.rest, name)
    cluster.api().delete(f"/api/v1/namespaces/{name}")


async def without_quota(world: World) -> None:
    """Let no Pod be made in the namespace."""
    await world.create(QUOTA, {"metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}}})

    async def counted() -> bool:
        return "used" in (await world.get(QUOTA, "none")).get("status", {})

    await until(counted)


async def blocked(world: World, gate: str, name: str = "box") -> Wire:
    """The Instance, once *gate* holds it back."""

    async def read() -> Wire | None:
        held = await world.get(names.INSTANCE, name)
        told = held.get("status", {}).get("blocker", {})
        return held if told.get("gate") == gate else None

    return await until(read)


def sentence(instance: Wire) -> str:
    """What the blocker says; the condition says the same."""
    blocker = instance["status"]["blocker"]
    ready = condition(instance, "Ready")

    assert ("False", blocker["reason"]) == (ready["status"], ready["reason"])
    assert blocker["message"] == ready["message"] == instance["status"]["message"]
    return str(blocker["message"])


@pytest.mark.parametrize("ssh", [False, True], ids=["plain", "with ssh"])
async def test_a_restricted_namespace_is_told_with_all_that_it_forbids(
    restricted: World, operator: Operator, *, ssh: bool
) -> None:
    more: dict[str, Any] = {}
    if ssh:
        key = {"metadata": {"name": "me"}, "spec": {"data": KEY}}
        await restricted.create(names.SSH_PUBLIC_KEY, key)
        more = {"sshPublicKey": {"name": "me"}, "ports": [{"port": 22}]}
    await restricted.instance(**more)
    told = sentence(await blocked(restricted, "podSecurity"))

    assert 'pods "box" is forbidden: violates PodSecurity "restricted:latest"' in told
    assert "allowPrivilegeEscalation != false" in told
    assert ssh == ("sshd" in told)
    assert "relax the Pod Security level of the namespace" in told
    assert [] == await restricted.list(names.POD)


async def test_a_limit_range_is_told_with_what_is_too_much(
    world: World, operator: Operator, offer: Maker
) -> None:
    most = {"limits": [{"type": "Container", "max": {"cpu": "100m"}}]}
    await world.create(LIMITS, {"metadata": {"name": "small"}, "spec": most})
    await world.instance(type=await offer(unitResources={"cpu": 2, "ram": "1Gi"}))
    told = sentence(await blocked(world, "limitRange"))

    assert "maximum cpu usage per Container is 100m, but limit is 2" in told
    assert told.endswith("keep spec.resources within the LimitRange of the namespace")


async def test_a_refusal_that_ends_is_over_by_itself(world: World, operator: Operator) -> None:
    """Nobody tells the operator of a namespace's quota: it is a retry that finds out."""
    await without_quota(world)
    await world.instance()
    await blocked(world, "quota")
    await world.delete(QUOTA, "none")
    held = await world.is_in_phase("Ready")

    assert "blocker" not in held["status"]


async def test_retries_become_rare_and_the_status_is_written_once(
    world: World, watched: Operator, proxy: Proxy
) -> None:
    await without_quota(world)
    begun = CLOCK.monotonic()
    await world.instance(ports=[{"port": 8080}])

    def writes(method: str, path: str) -> int:
        return sum((method, path) == (call.method, call.path) for call in proxy.calls)

    async def retried() -> bool:
        return writes("POST", names.POD.collection(world.namespace)) > RETRIES

    await until(retried)
    took = CLOCK.monotonic() - begun
    status = names.INSTANCE.path(world.key("box", names.INSTANCE), subresource="status")

    # Those after the first one wait; changes of the Instance itself do not: they may add two.
    waits = [SHORTEST_WAIT * 2**failures for failures in range(RETRIES - 2)]

    assert sum(waits) <= took
    assert writes("PATCH", status) <= 2
    assert 1 == writes("POST", names.SERVICE.collection(world.namespace))


async def test_others_get_ready_while_many_are_refused(
    world: World, cluster: Cluster, operator: Operator
) -> None:
    await without_quota(world)
    for number in range(8):
        await world.instance(f"refused-{number}")
    await blocked(world, "quota", "refused-7")
    elsewhere = World(world.rest, f"{world.namespace}-b")
    cluster.add_namespace(elsewhere.namespace)
    await elsewhere.instance()
    await elsewhere.is_in_phase("Ready")
    held = [await world.get(names.INSTANCE, f"refused-{number}") for number in range(8)]

    assert ["QuotaExceeded"] * 8 == [condition(one, "Ready")["reason"] for one in held]

    cluster.api().delete(f"/api/v1/namespaces/{elsewhere.namespace}")
