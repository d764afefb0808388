"""What tests of isolation act with: the Setting and the policies."""

from collections.abc import Mapping
from typing import Any

import attrs

from gpustack_ctrl.api import names
from gpustack_ctrl.api.codec import decode
from gpustack_ctrl.api.meta import Resource
from gpustack_ctrl.client.rest import Rest
from tests.integration.world import Wire, World, condition, until

SETTING = "instance-isolation-pod-cidrs"
SEED = "GPUSTACK_INSTANCE_ISOLATION_POD_CIDRS"
POLICY = "gpustack-instance-isolation"
MARK = "resource.gpustack.ai/managed-by"
REPLACED = "worker.gpustack.ai/replaced-spec"

QUOTA = Resource(group="", version="v1", kind="ResourceQuota", plural="resourcequotas")

PODS = "10.244.0.0/16"
"""The addresses that the simulated nodes give to Pods."""

OPEN: Wire = {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{}]}
"""A policy by which everybody may come in."""


def isolating(*cidrs: str) -> Wire:
    """The spec of a policy that keeps the Pods of *cidrs*, all IPv4, out."""
    return _spec({"ipBlock": {"cidr": "0.0.0.0/0", "except": list(cidrs)}})


def isolating_v6(*cidrs: str) -> Wire:
    """The same for IPv6."""
    return _spec({"ipBlock": {"cidr": "::/0", "except": list(cidrs)}})


def isolating_both(v4: str, v6: str) -> Wire:
    """The same for one network of each family."""
    return _spec(
        {"ipBlock": {"cidr": "0.0.0.0/0", "except": [v4]}},
        {"ipBlock": {"cidr": "::/0", "except": [v6]}},
    )


def _spec(*outside: Wire) -> Wire:
    peers = [{"podSelector": {}}, *outside]
    dns = [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]
    return {
        "podSelector": {"matchLabels": {"resource.gpustack.ai/type": "instances"}},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": peers}],
        "egress": [{"to": peers}, {"ports": dns}],
    }


@attrs.define
class Admin:
    """The Setting of the operator in *namespace*, and the policies of the whole cluster."""

    rest: Rest
    namespace: str

    @property
    def own(self) -> World:
        """The operator's namespace."""
        return World(self.rest, self.namespace)

    async def wish(self, value: str) -> Wire:
        """Set the value; return the Setting once its status speaks of that."""
        await until(lambda: self.own.find(names.SETTING, SETTING))
        await self.own.patch(names.SETTING, SETTING, {"spec": {"value": value}})
        return await self.told()

    async def told(self, name: str = SETTING) -> Wire:
        """A Setting, once its status speaks of its latest spec."""

        async def read() -> Wire | None:
            held = await self.own.find(names.SETTING, name) or {"metadata": {}}
            status, generation = held.get("status", {}), held["metadata"].get("generation")
            return held if generation and generation == status.get("observedGeneration") else None

        return await until(read)

    async def warned(self, *, about: str) -> Wire:
        """The warning of the Setting, once it names *about*."""

        async def read() -> Wire | None:
            held = condition(await self.own.get(names.SETTING, SETTING), "Warning")
            return held if about in held["message"] else None

        return await until(read)

    async def policies(self) -> dict[str, Wire]:
        """Every policy of the isolation's name, by namespace."""
        held = decode(await self.rest.get(names.NETWORK_POLICY.collection()))["items"]
        return {
            policy["metadata"]["namespace"]: policy
            for policy in held
            if policy["metadata"]["name"] == POLICY
        }

    async def writes(self, verb: str, *, code: int) -> int:
        """How often the API server answered *code* to *verb* on a NetworkPolicy."""
        lines = (await self.rest.get("/metrics")).decode().splitlines()
        labels = (
            f'code="{code}"',
            'resource="networkpolicies"',
            'scope="resource"',  # Not what the namespace controller deletes as a whole.
            f'verb="{verb}"',
        )
        counted = [line for line in lines if line.startswith("apiserver_request_total{")]
        return sum(
            int(line.rpartition(" ")[2])
            for line in counted
            if all(label in line for label in labels)
        )


async def policy_says(world: World, spec: Wire) -> Wire:
    """The policy of the namespace, once it says *spec* and bears the mark."""

    async def read() -> Wire | None:
        held = await world.find(names.NETWORK_POLICY, POLICY)
        right = held and held["spec"] == spec and labels_of(held).get(MARK) == "gpustack-ctrl"
        return held if right else None

    return await until(read)


async def isolated(world: World, admin: Admin) -> Wire:
    """The policy of a namespace that holds one stopped Instance, `box`."""
    await admin.wish(PODS)
    await world.instance(stop=True)
    return await policy_says(world, isolating(PODS))


async def no_policy(world: World) -> None:
    """Return once the namespace has no policy of that name."""
    await world.gone(names.NETWORK_POLICY, POLICY)


async def write_by_hand(world: World, spec: Wire, **metadata: Any) -> Wire:
    """A policy of the isolation's name that somebody writes in the namespace."""
    body = {"metadata": {"name": POLICY, **metadata}, "spec": spec}
    return await world.create(names.NETWORK_POLICY, body)


@attrs.frozen
class Quota:
    """A quota that lets the API server refuse every NetworkPolicy in the namespace."""

    world: World

    async def lift(self) -> None:
        """Let them pass again."""
        await self.world.delete(QUOTA, "none")


async def forbid_policies(world: World) -> Quota:
    """Let the API server refuse every NetworkPolicy in the namespace."""
    hard = {"count/networkpolicies.networking.k8s.io": "0"}
    await world.create(QUOTA, {"metadata": {"name": "none"}, "spec": {"hard": hard}})

    async def is_counted() -> bool:
        return "hard" in (await world.get(QUOTA, "none")).get("status", {})

    await until(is_counted)
    return Quota(world)


def labels_of(held: Wire) -> Mapping[str, str]:
    """The labels of an object, if any."""
    return dict(held["metadata"].get("labels", {}))


def annotations_of(held: Wire) -> Mapping[str, str]:
    """The annotations of an object, if any."""
    return dict(held["metadata"].get("annotations", {}))
