"""A fleet of every manufacturer's cards, types that offer them, and nodes for one test alone."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import attrs

from e2e.cluster import Cluster
from e2e.cluster.nodes import BASES, accelerators
from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import Resource
from tests.integration.world import PATIENCE_SECONDS, Wire, World, until

MAKERS = tuple(BASES)
CARDS = 2
CARD_MIB = 81920
MAKER = "test/maker"
ONLY = "test/only"

NODE = names.NODE
QUOTA = Resource(group="", version="v1", kind="ResourceQuota", plural="resourcequotas")
CLAIM = Resource(
    group="", version="v1", kind="PersistentVolumeClaim", plural="persistentvolumeclaims"
)


def node_of(maker: str) -> str:
    """The node of the fleet that has the cards of *maker*."""
    return f"fleet-{maker}"


def add_fleet(cluster: Cluster) -> None:
    """One node for each maker."""
    for maker in MAKERS:
        cluster.register_node(
            node_of(maker), capacity=accelerators(CARDS, maker), labels={MAKER: maker}
        )
    for maker in MAKERS:
        cluster.wait_for_node(node_of(maker))


def with_zeros(status: Wire) -> Wire:
    """*status* of a type with what the wire leaves out: what is 0 is absent there."""
    nothing = {"capacity": 0, "allocated": 0, "remaining": 0, "onceMaxRequest": 0}
    views = ("whole", "shared", "sliced", "partitioned")
    return {
        "nodes": 0,
        **status,
        **{name: {**nothing, **status.get(name, {})} for name in views},
    }


@attrs.frozen(kw_only=True)
class Own:
    """A type whose nodes nobody else's Pods go to, all of them named after it."""

    cluster: Cluster
    world: World
    name: str

    def add_node(
        self,
        suffix: str = "a",
        *,
        gpus: int = CARDS,
        labels: Mapping[str, str] | None = None,
    ) -> str:
        """Add a node of the type; its name."""
        name = f"{self.name}-{suffix}"
        told = {ONLY: self.name, **(labels or {})}
        self.cluster.add_node(name, capacity=accelerators(gpus, "nvidia"), labels=told)
        return name

    async def edit(self, **spec: Any) -> None:
        """Change the type."""
        await self.world.patch(names.INSTANCE_TYPE, self.name, {"spec": spec})

    async def told(self, **expected: Any) -> Wire:
        """The status of the type, once it says what is *expected*."""

        async def read() -> Wire | None:
            found = await self.world.find(names.INSTANCE_TYPE, self.name)
            status = with_zeros((found or {}).get("status", {}))
            return status if expected.items() <= status.items() else None

        return await until(read)


@asynccontextmanager
async def own_type(cluster: Cluster, world: World, **spec: Any) -> AsyncIterator[Own]:
    """A type of the test's own, gone with its nodes at the end."""
    name = world.namespace
    offered = {"manufacturer": "nvidia", "acceleratorMemoryMiB": CARD_MIB, **spec}
    offered["nodeSelector"] = {ONLY: name, **spec.get("nodeSelector", {})}
    await world.create(names.INSTANCE_TYPE, {"metadata": {"name": name}, "spec": offered})
    own = Own(cluster=cluster, world=world, name=name)
    try:
        yield own
    finally:
        if await world.find(names.INSTANCE_TYPE, name) is not None:
            await world.delete(names.INSTANCE_TYPE, name)
        for node in cluster.api().get(f"/api/v1/nodes?labelSelector={ONLY}={name}")["items"]:
            cluster.remove_node(node["metadata"]["name"])


async def blocked(
    world: World, gate: str, reason: str, name: str = "box", *, seconds: float = PATIENCE_SECONDS
) -> Wire:
    """The blocker of the Instance, once it is that *gate* for that *reason*."""

    async def read() -> Wire | None:
        told = (await world.get(names.INSTANCE, name)).get("status", {}).get("blocker")
        return told if told and (told["gate"], told["reason"]) == (gate, reason) else None

    return await until(read, seconds=seconds)


async def say(world: World, name: str = "box", **status: Any) -> None:
    """Let the kubelet say *status* of the Pod."""
    key = world.key(name, names.POD)
    await world.rest.merge_patch(names.POD, key, {"status": status}, "status")


def limits_of(pod: Wire, container: int = 0) -> dict[str, str]:
    """The extended resources that a container of *pod* asks for; its requests are the same."""
    held = pod["spec"]["containers"][container]["resources"]
    asked = {name: amount for name, amount in held.get("limits", {}).items() if "/" in name}
    assert asked == {name: held["requests"][name] for name in asked}
    return asked
