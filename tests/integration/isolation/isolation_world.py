"""What tests of isolation act with: the Setting, the policies, and an operator that is watched."""

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from gpustack_ctrl.api import names
from gpustack_ctrl.api.codec import decode
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.app.operator import operator
from gpustack_ctrl.client.rest import Rest
from gpustack_ctrl.runtime.clock import Clock, SystemClock, TimerHandle
from gpustack_ctrl.runtime.controller import Controller
from gpustack_ctrl.runtime.manager import Manager
from gpustack_ctrl.runtime.reconcile import Reconciler, Request, Result
from tests.integration.world import CLOCK, Operator, Wire, World, client_of, condition, until

SETTING = "instance-isolation-pod-cidrs"
SEED = "GPUSTACK_INSTANCE_ISOLATION_POD_CIDRS"
POLICY = "gpustack-instance-isolation"
MARK = "resource.gpustack.ai/managed-by"
REPLACED = "worker.gpustack.ai/replaced-spec"

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
        labels = (f'code="{code}"', 'resource="networkpolicies"', f'verb="{verb}"')
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


def labels_of(held: Wire) -> Mapping[str, str]:
    """The labels of an object, if any."""
    return dict(held["metadata"].get("labels", {}))


def annotations_of(held: Wire) -> Mapping[str, str]:
    """The annotations of an object, if any."""
    return dict(held["metadata"].get("annotations", {}))


@attrs.frozen(kw_only=True)
class Pass:
    """One pass of a controller that ended; passes are numbered as they begin."""

    number: int
    controller: str
    request: Request
    result: Result | None
    error: Exception | None

    @property
    def complete(self) -> bool:
        """Whether it did all there was to do."""
        return self.error is None and self.result == Result()


@attrs.define
class Passes:
    """All passes since the start."""

    begun: int = 0
    ended: list[Pass] = attrs.field(factory=list)

    def isolation(self, namespace: str, *, after: int = 0) -> list[Pass]:
        """The passes over the policy of *namespace* that began after pass number *after*."""
        return [
            held
            for held in self.ended
            if held.controller == "isolation"
            and held.request == ObjectKey("", namespace)
            and held.number > after
        ]


@attrs.frozen(kw_only=True)
class Watched:
    """A reconciler, each pass of which is noted in *passes*."""

    controller: str
    reconciler: Reconciler
    passes: Passes

    async def reconcile(self, request: Request) -> Result:
        """One pass of the reconciler."""
        self.passes.begun += 1
        number = self.passes.begun
        try:
            result = await self.reconciler.reconcile(request)
        except Exception as error:
            self._note(number, request, None, error)
            raise
        self._note(number, request, result, None)
        return result

    def _note(
        self, number: int, request: Request, result: Result | None, error: Exception | None
    ) -> None:
        noted = Pass(
            number=number, controller=self.controller, request=request, result=result, error=error
        )
        self.passes.ended.append(noted)


@attrs.define
class WatchedOperator(Operator):
    """The operator under test, whose passes are noted and whose clock is the test's."""

    clock: Clock = CLOCK
    passes: Passes = attrs.field(factory=Passes, init=False)

    async def another_pass(self, world: World) -> None:
        """Return after a new pass over the policy of *world*, in which `box` is."""
        begun = self.passes.begun
        await world.edit(displayName=f"after pass {begun}")

        async def is_over() -> bool:
            return any(
                held.complete for held in self.passes.isolation(world.namespace, after=begun)
            )

        await until(is_over)

    async def restart(self) -> None:
        """Kill it, and start it again."""
        await self.kill()
        await self.start()

    def _watched(self, controller: Controller) -> Controller:
        controller.reconciler = Watched(
            controller=controller.name, reconciler=controller.reconciler, passes=self.passes
        )
        return controller

    async def _run(self, ready: Any) -> object:
        async with client_of(self.kubeconfig) as client:
            parts = await operator(
                client, namespace=self.namespace, environ=self.environ, workers=4, clock=self.clock
            )
            self._manager = Manager(
                clock=self.clock,
                informers=attrs.astuple(parts.informers, recurse=False),
                controllers=tuple(map(self._watched, parts.controllers)),
            )
            ready.set()
            return await self._manager.run()


class StoppableClock(SystemClock):
    """The real clock, until its timers are stopped: then none goes off any more."""

    def __init__(self) -> None:
        self.stopped = False

    def call_later(self, seconds: float, callback: Callable[[], None]) -> TimerHandle:
        """As the real clock, but nothing happens while the timers are stopped."""
        return super().call_later(seconds, lambda: None if self.stopped else callback())
